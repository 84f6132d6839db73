"""asv's results → what the page shows of them: charts of phases along the line, changes that were confirmed, counts.

Nothing here judges: a change is what a comparison of two releases confirmed, and a fence what runs of one lock differ
by. A chart shows both, and what was measured, whether or not anything follows from it.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from suite.errors import BadFile, Fault
from suite.files import ROOT, content, read
from suite.timings import counts as phase_counts
from suite.timings import release_line
from suite.timings import results as measured
from suite.timings.counts import COUNTS, UNITS, Counts, Turn, Unit
from suite.timings.quantities import duration, quantity
from suite.timings.results import Comparison, Fence, Judged, NoiseFile, Row

BENCHMARKS = ROOT / "benchmarks"
# What the device does; all else is the host's. A first call is both.
DEVICE = frozenset({"execute", "workaround", "device busy"})
# Published figures come first, then what all else is made of.
_FIRST = ("published", "basics", "training", "solves", "imports")
# Where the first sentence of a story ends, or what would do as one.
_SENTENCE = re.compile(r"[.;] ")
# In which order a call goes through them.
PHASES = (
    *("trace", "lower", "trace and lower", "compile", "first call", "new object", "dispatch", "execute"),
    "workaround",
)
_TITLES: Mapping[Unit, str] = {
    "instructions": "What the host does, counted: machine instructions, by callgrind.",
    "calls": "What the host does, counted: calls of functions in Python.",
}
# A product that takes long enough to be waited for: is the call back before it is done?
_DISPATCH, _EXECUTE = "basics.Matmul.time_dispatch(512)", "basics.Matmul.time_execute(512)"


@dataclass(frozen=True)
class Series:
    """One benchmark along the releases, in its chart's unit: None where not measured, `failed` where it raised."""

    name: str
    key: str
    values: tuple[float | None, ...]
    failed: frozenset[int]
    fence: float | None

    @property
    def device(self) -> bool:
        """True if it is the device's time."""
        return parts(self.key).phase in DEVICE


@dataclass(frozen=True)
class Shift:
    """A change that a comparison confirmed, between the releases at two places of the axis."""

    key: str
    name: str
    unit: str
    base: str
    other: str
    judged: Judged


@dataclass(frozen=True)
class Chart:
    """One workload: its phases, or one phase of its variants."""

    id: str
    title: str
    story: str
    series: tuple[Series, ...]
    shifts: tuple[Shift, ...]
    unit: Annotated[str, Field(exclude_if=lambda unit: unit == "seconds")] = "seconds"

    @property
    def workload(self) -> str:
        """The name that asv has for it: `published.Jax31284`."""
        of = parts(self.series[0].key)
        return f"{of.module}.{of.workload}"

    @property
    def rest(self) -> str:
        """The part of its story that is not the title."""
        said = "".join(_SENTENCE.split(self.story, maxsplit=1)[1:])
        return said[:1].upper() + said[1:]


@dataclass(frozen=True)
class Spell:
    """A slow-down that a comparison confirmed: on which releases it was timed, and those on which it is there.

    `until` is the first release from `shift.other` on that is nearer to the time before than to the time after; None
    where none that was timed is.
    """

    chart: Chart
    series: Series
    shift: Shift
    times: Mapping[str, float]
    there: frozenset[str]
    until: str | None

    @property
    def factor(self) -> float:
        """The time after over the time before."""
        return (self.shift.judged.other or 0.0) / (self.shift.judged.base or math.inf)


@dataclass(frozen=True)
class Section:
    """The charts of one module of benchmarks."""

    id: str
    title: str
    charts: tuple[Chart, ...]


@dataclass(frozen=True)
class Count:
    """A count that is not the same on all releases: at which it came to be what."""

    key: str
    unit: str
    turns: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Asynchronous:
    """From `since` on a call returns before its result is there; on `until`, and before it, it does not."""

    until: str
    since: str


@dataclass(frozen=True)
class Machine:
    """All that was measured on one machine."""

    name: str
    hardware: str
    releases: tuple[str, ...]
    sections: tuple[Section, ...]
    counts: tuple[Count, ...]
    counted: int
    tally: Mapping[measured.State, int]
    noise: NoiseFile | None
    shifts: tuple[Shift, ...]
    judged: int
    asynchronous: Asynchronous | None
    # Where what was counted of the host's phases changes along the line, the largest change first.
    turns: Annotated[tuple[Turn, ...], Field(exclude_if=lambda turns: not turns)] = ()


@dataclass(frozen=True)
class Parts:
    """asv's name for a benchmark with its parameters, `basics.Matmul.time_dispatch(512)`, in parts."""

    name: str
    module: str
    workload: str
    phase: str
    variant: str


_FILE = TypeAdapter(tuple[Machine, ...])


def load(path: Path) -> tuple[Machine, ...]:
    """The machines of a timings.json, none where there is no such file. Raises BadFile."""
    try:
        return _FILE.validate_json(content(path)) if path.exists() else ()
    except (OSError, ValidationError) as error:
        raise BadFile([Fault(path, "timings", str(error).splitlines()[0])]) from error


def text(found: tuple[Machine, ...]) -> str:
    """A timings.json: what the page shows of timings, so that it is made of the report's own files alone."""
    return _FILE.dump_json(found).decode() + "\n"


def machines(results: Path, noise: Path, compared: Path, counted: Path = COUNTS) -> tuple[Machine, ...]:
    """Every machine that has results of releases on the line. Raises BadFile."""
    commits = release_line.hashes(release_line.commits())
    found = []
    for folder in sorted(path.parent for path in results.glob("*/machine.json")):
        made = {path.name.partition("-")[0] for path in folder.glob("*-*.json")}
        rows = {
            cell: measured.rows(results, folder.name, commit) for cell, commit in commits.items() if commit[:8] in made
        }
        if rows:
            of_phases = phase_counts.load(folder.name, counted)
            found.append(_machine(folder, rows, commits, noise, compared, of_phases))
    return tuple(found)


def _machine(
    folder: Path,
    rows: Mapping[str, Mapping[str, Row]],
    commits: Mapping[str, str],
    noise: Path,
    compared: Path,
    of_phases: Counts,
) -> Machine:
    kept = noise / f"{folder.name}.json"
    fences = read(NoiseFile, kept) if kept.exists() else None
    comparisons = [read(Comparison, path) for path in sorted((compared / folder.name).glob("*.json"))]
    # What was judged of other locks says nothing of these.
    valid = [each for each in comparisons if each.commits == (commits.get(each.base), commits.get(each.other))]
    listed = measured.load(folder.parent / "benchmarks.json")
    units = {name: each["unit"] for name, each in listed.items() if name != "version"}
    shifts = sorted(_confirmed(valid, units), key=lambda each: -_size(each.judged))
    keys = list(dict.fromkeys(key for of in rows.values() for key in of))
    counted = {key: unit for key in keys if (unit := units[parts(key).name]) != "seconds"}
    return Machine(
        name=folder.name,
        hardware=_hardware(folder / "machine.json"),
        releases=tuple(rows),
        sections=(
            *_sections([key for key in keys if key not in counted], rows, fences, shifts),
            *_counted_sections(of_phases, tuple(rows)),
        ),
        counts=tuple(filter(None, (_count(key, unit, rows) for key, unit in counted.items()))),
        counted=len(counted),
        tally=measured.tally(row for of in rows.values() for row in of.values()),
        noise=fences,
        shifts=tuple(shifts),
        judged=sum(len(each.benchmarks) for each in valid),
        asynchronous=asynchronous(rows),
        turns=tuple(_turns(of_phases, fences)),
    )


def _counted_sections(found: Counts, releases: Sequence[str]) -> Iterator[Section]:
    """For each unit in which two of these releases were counted, a chart of each workload, a line for each phase."""
    known = {each.cell: each.benchmarks for each in found.releases if each.cell in releases}
    keys = sorted(dict.fromkeys(chain(*known.values())), key=_group)
    for unit in UNITS:
        rows = {cell: {key: each.row(unit) for key, each in known.get(cell, {}).items()} for cell in releases}
        of_unit = {key: replace(_series(key, rows, None), key=phase_counts.name(key, unit)) for key in keys}
        shown = {key: each for key, each in of_unit.items() if len([v for v in each.values if v is not None]) > 1}
        if charts := tuple(chart for _, chart in _charts(shown, unit)):
            yield Section(f"timings-{unit}", _TITLES[unit], charts)


def _turns(found: Counts, noise: NoiseFile | None) -> Iterator[Turn]:
    """Yield the changes of instructions and, where they were not counted from the same jax on, of calls."""
    line = release_line.line()
    fences = {key: each.fence for key, each in noise.benchmarks.items()} if noise else {}
    jax = {each.id: each.pins["jax"] for each in line}
    yield from sorted(
        {
            (turn.benchmark, turn.after, jax[turn.before]): turn
            for unit in reversed(UNITS)
            for turn in phase_counts.turns(found, line, unit, fences)
        }.values(),
        key=lambda turn: -abs(math.log(turn.new / turn.old)),
    )


def _sections(
    keys: Iterable[str], rows: Mapping[str, Mapping[str, Row]], noise: NoiseFile | None, shifts: Sequence[Shift]
) -> tuple[Section, ...]:
    """The charts, by module: of a workload its phases, or where it has variants, of each phase the variants."""
    fences = noise.benchmarks if noise else {}
    every = {key: _series(key, rows, fences.get(key)) for key in keys}
    shown = {key: each for key, each in every.items() if any(value is not None for value in each.values)}
    charts: dict[str, list[Chart]] = {}
    for module, chart in _charts(shown, "seconds", shifts):
        charts.setdefault(module, []).append(chart)
    ordered = sorted(charts, key=lambda name: (_place(name, _FIRST), name))
    return tuple(Section(f"timings-{name}", story(name) or name, tuple(charts[name])) for name in ordered)


def _charts(series: Mapping[str, Series], unit: str, shifts: Sequence[Shift] = ()) -> Iterator[tuple[str, Chart]]:
    """A chart of each workload among these benchmarks, or of one phase of its variants, with its module."""
    kind, words = ("timing", ()) if unit == "seconds" else (unit, (unit,))
    for (module, workload, *phase), keys in groupby(series, key=_group):
        of = [series[key] for key in keys]
        names = {each.key for each in of}
        yield (
            module,
            Chart(
                id="-".join((f"{kind}-{module}.{workload}", *phase)).replace(" ", "-"),
                title=", ".join((what(module, workload), *phase, *words)),
                story=story(module, workload),
                series=tuple(sorted(of, key=lambda each: _place(each.name, PHASES))),
                shifts=tuple(shift for shift in shifts if shift.key in names),
                unit=unit,
            ),
        )


def spells(machine: Machine, order: Sequence[str]) -> list[Spell]:
    """The slow-downs that were confirmed on a machine, over the releases of `order` that were timed there."""
    places = {release: place for place, release in enumerate(machine.releases)}
    found = []
    for section in machine.sections:
        for chart in section.charts:
            of_key = {series.key: series for series in chart.series}
            for shift in chart.shifts:
                series, base, other = of_key[shift.key], shift.judged.base, shift.judged.other
                if shift.judged.outcome != "regressed" or not base or not other or shift.other not in order:
                    continue
                known = ((release, series.values[places[release]]) for release in order if release in places)
                times = {release: value for release, value in known if value is not None}
                later = [each for each in order[order.index(shift.other) :] if each in times]
                half = math.sqrt(base * other)
                until = next((each for each in later if times[each] <= half), None)
                there = frozenset(later[: later.index(until)] if until else later)
                found.append(Spell(chart, series, shift, times, there, until))
    return sorted(found, key=lambda each: -each.factor)


def asynchronous(rows: Mapping[str, Mapping[str, Row]]) -> Asynchronous | None:
    """Return where calls began to return before their result is there; None where the releases do not say."""
    returns = []
    for release, of in rows.items():
        if _EXECUTE in of and of[_EXECUTE].state == of[_DISPATCH].state == "measured":
            returns.append((release, of[_DISPATCH].least < of[_EXECUTE].least / 2))
    turns = [(before, after) for (before, was), (after, now) in pairwise(returns) if was != now]
    return Asynchronous(*turns[0]) if len(turns) == 1 and returns[-1][1] else None


def _confirmed(comparisons: Iterable[Comparison], units: Mapping[str, str]) -> list[Shift]:
    """Return what comparisons confirmed; of counts, what differs."""
    return [
        Shift(key, spoken(key), units[parts(key).name], each.base, each.other, judged)
        for each in comparisons
        for key, judged in each.benchmarks.items()
        if judged.outcome in ("regressed", "improved") and parts(key).name in units
    ]


@cache
def parts(key: str) -> Parts:
    """asv's name for a benchmark in parts, without its prefixes and quotes; no variant where it takes no parameter."""
    name, _, params = key.partition("(")
    module, workload, method = name.split(".")
    phase = method.partition("_")[2].replace("_", " ")
    return Parts(name, module, workload, phase, params.removesuffix(")").replace("'", ""))


def what(module: str, workload: str) -> str:
    """Return what a workload is: the first sentence of its own words, or so much of it as says so."""
    said = _SENTENCE.split(story(module, workload), maxsplit=1)[0].removesuffix(".")
    if not said or workload == "Counts":
        return " ".join(filter(None, (module.replace("_", " "), "" if workload == "Counts" else workload)))
    return said


def spoken(key: str) -> str:
    """`basics.Scan.time_trace` as what it is: `A scan of 100 steps of tanh over a carry of 8 float32, trace`."""
    of = parts(key)
    return ", ".join(filter(None, (what(of.module, of.workload), of.variant, of.phase)))


def turned(turn: Turn) -> str:
    """A change of a count, of what it is: `A scan of 100 steps, trace: 12.0% more calls, 3,001 before, 3,361 after`."""
    return f"{spoken(turn.benchmark)}: {turn.told}"


def amount(shift: Shift, value: float | None) -> str:
    """One side of a change, in its unit."""
    if value is None:
        return ""
    return duration(value) if shift.unit == "seconds" else f"{value:,.0f} {shift.unit}"


def told(series: Series, releases: Sequence[str], unit: str = "seconds") -> str:
    """A series in a sentence, for who does not see the chart."""
    known = [(value, release) for value, release in zip(series.values, releases, strict=True) if value is not None]
    (first, since), (last, until) = known[0], known[-1]
    if len(known) == 1:
        return f"{series.name}: {quantity(first, unit)} on {since}"
    least, most = min(known), max(known)
    ends = f"{quantity(first, unit)} on {since}, {quantity(last, unit)} on {until}"
    between = f"least {quantity(least[0], unit)} on {least[1]}, most {quantity(most[0], unit)} on {most[1]}"
    return f"{series.name}: {ends}; {between}"


@cache
def story(module: str, workload: str = "") -> str:
    """The first paragraph of what a module of benchmarks says of itself, or a workload in it."""
    path = BENCHMARKS / f"{module}.py"
    if not path.exists():
        return ""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}
    node = classes.get(workload) if workload else tree
    said = node and ast.get_docstring(node)
    return " ".join((said or "").partition("\n\n")[0].replace("`", "").split())


def _series(key: str, rows: Mapping[str, Mapping[str, Row]], fence: Fence | None) -> Series:
    of = [each.get(key) for each in rows.values()]
    return Series(
        name=parts(key).variant or parts(key).phase,
        key=key,
        values=tuple(row.least if row and row.state == "measured" else None for row in of),
        failed=frozenset(place for place, row in enumerate(of) if row and row.state == "failed"),
        fence=fence.fence if fence and all(row.version == fence.version for row in of if row) else None,
    )


def _count(key: str, unit: str, rows: Mapping[str, Mapping[str, Row]]) -> Count | None:
    known = [(release, of[key].value) for release, of in rows.items() if key in of and of[key].state == "measured"]
    turns = known[:1] + [
        after for before, after in pairwise(known) if abs(after[1] - before[1]) > 0.01 * abs(before[1])
    ]
    return Count(spoken(key), unit, tuple(turns)) if len(turns) > 1 else None


def _size(judged: Judged) -> float:
    """Return the size of a change, whichever way it goes."""
    return abs(math.log1p(judged.change)) if judged.change is not None and judged.change > -1 else math.inf


def _hardware(path: Path) -> str:
    known = measured.load(path)
    memory = int(known.get("ram") or 0) / 2**30
    return f"{known.get('cpu')}, {known.get('num_cpu')} cores, {memory:.0f} GiB, {known.get('os')} {known.get('arch')}"


def _group(key: str) -> tuple[str, ...]:
    """Return what is drawn together: a workload, or one with variants in one phase."""
    of = parts(key)
    return (of.module, of.workload, of.phase) if of.variant else (of.module, of.workload)


def _place(name: str, order: Sequence[str]) -> int:
    return order.index(name) if name in order else len(order)
