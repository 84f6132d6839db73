"""The site's view of asv's results: charts of phases along the line, confirmed changes, counts.

Nothing is judged here: comparisons of two releases confirm a change, and repeated runs of one lock give a fence. A
chart shows both, and every measurement.
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

from pydantic import Field, TypeAdapter

from jax_stack_compat.base.files import ROOT, read
from laboratory.timings import counts as phase_counts
from laboratory.timings import release_line
from laboratory.timings import results as measured
from laboratory.timings.counts import COUNTS, UNITS, Counts, CountTurn, Unit
from laboratory.timings.quantities import duration, quantity
from laboratory.timings.results import Comparison, Fence, JudgedChange, NoiseFile, ResultRow

BENCHMARKS = ROOT / "benchmarks"
# Phases that run on the device; the host runs all others. A first call runs on both.
DEVICE = frozenset({"execute", "workaround", "device busy"})
# Modules whose charts come first.
_FIRST_MODULES = ("published", "basics", "training", "solves", "imports")
# The end of a story's first sentence or main clause.
_SENTENCE = re.compile(r"[.;] ")
# In the order of a call.
PHASES = (
    *("trace", "lower", "trace and lower", "compile", "first call", "new object", "dispatch", "execute"),
    "workaround",
)
_TITLES: Mapping[Unit, str] = {
    "instructions": "Work of the host, counted: machine instructions, by callgrind.",
    "calls": "Work of the host, counted: calls of functions in Python.",
}
# A matrix product that runs long enough to show if the call returns before it ends.
_DISPATCH, _EXECUTE = "basics.Matmul.time_dispatch(512)", "basics.Matmul.time_execute(512)"


@dataclass(frozen=True)
class Series:
    """One benchmark along the releases, in its chart's unit: None if not measured, `failed` if it raised."""

    name: str
    key: str
    values: tuple[float | None, ...]
    failed: frozenset[int]
    fence: float | None

    @property
    def device(self) -> bool:
        """True if it is time of the device."""
        return parts(self.key).phase in DEVICE


@dataclass(frozen=True)
class Shift:
    """A confirmed change between two releases."""

    key: str
    name: str
    unit: str
    base: str
    other: str
    judged: JudgedChange


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
        """The workload's name in asv: `published.Jax31284`."""
        of = parts(self.series[0].key)
        return f"{of.module}.{of.workload}"

    @property
    def rest(self) -> str:
        """The rest of its story, after the title."""
        said = "".join(_SENTENCE.split(self.story, maxsplit=1)[1:])
        return said[:1].upper() + said[1:]


@dataclass(frozen=True)
class Spell:
    """A confirmed slow-down, with its times and the releases on which it lasts.

    `until` is the first later release whose time is nearer to the former time than to the slow one, if any.
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
class ChangingCount:
    """A count that changes along the releases, with the release and value of each change."""

    key: str
    unit: str
    turns: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Asynchronous:
    """The change to asynchronous dispatch: up to `until` a call waits for its result; since `since` it does not."""

    until: str
    since: str


@dataclass(frozen=True)
class TimedMachine:
    """All that was measured on one machine."""

    name: str
    hardware: str
    releases: tuple[str, ...]
    sections: tuple[Section, ...]
    counts: tuple[ChangingCount, ...]
    counted: int
    tally: Mapping[measured.State, int]
    noise: NoiseFile | None
    shifts: tuple[Shift, ...]
    judged: int
    asynchronous: Asynchronous | None
    # The changes of counts of the host's phases along the line, the largest first.
    turns: Annotated[tuple[CountTurn, ...], Field(exclude_if=lambda turns: not turns)] = ()


@dataclass(frozen=True)
class Parts:
    """The parts of a benchmark's name in asv, with parameters: `basics.Matmul.time_dispatch(512)`."""

    name: str
    module: str
    workload: str
    phase: str
    variant: str


_FILE = TypeAdapter(tuple[TimedMachine, ...])


def text(found: tuple[TimedMachine, ...]) -> str:
    """Return the text of timings.json, from which the pages are built without asv's results."""
    return _FILE.dump_json(found).decode() + "\n"


def machines(results: Path, noise: Path, compared: Path, counted: Path = COUNTS) -> tuple[TimedMachine, ...]:
    """Return every machine with results of releases on the line. Raises BadFile."""
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
    rows: Mapping[str, Mapping[str, ResultRow]],
    commits: Mapping[str, str],
    noise: Path,
    compared: Path,
    of_phases: Counts,
) -> TimedMachine:
    kept = noise / f"{folder.name}.json"
    fences = read(NoiseFile, kept) if kept.exists() else None
    comparisons = [read(Comparison, path) for path in sorted((compared / folder.name).glob("*.json"))]
    # Comparisons of other locks do not apply.
    valid = [each for each in comparisons if each.commits == (commits.get(each.base), commits.get(each.other))]
    listed = measured.load(folder.parent / "benchmarks.json")
    units = {name: benchmark["unit"] for name, benchmark in listed.items() if name != "version"}
    shifts = sorted(_confirmed(valid, units), key=lambda shift: -_size(shift.judged))
    keys = list(dict.fromkeys(key for of in rows.values() for key in of))
    counted = {key: unit for key in keys if (unit := units[parts(key).name]) != "seconds"}
    return TimedMachine(
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
        judged=sum(len(comparison.benchmarks) for comparison in valid),
        asynchronous=asynchronous(rows),
        turns=tuple(_turns(of_phases, fences)),
    )


def _counted_sections(found: Counts, releases: Sequence[str]) -> Iterator[Section]:
    """Yield a section for each unit counted on two releases: a chart per workload, a line per phase."""
    known = {release.cell: release.benchmarks for release in found.releases if release.cell in releases}
    keys = sorted(dict.fromkeys(chain(*known.values())), key=_group)
    for unit in UNITS:
        rows = {cell: {key: counted.row(unit) for key, counted in known.get(cell, {}).items()} for cell in releases}
        of_unit = {key: replace(_series(key, rows, None), key=phase_counts.name(key, unit)) for key in keys}
        shown = {key: series for key, series in of_unit.items() if len([v for v in series.values if v is not None]) > 1}
        if charts := tuple(chart for _, chart in _charts(shown, unit)):
            yield Section(f"timings-{unit}", _TITLES[unit], charts)


def _turns(found: Counts, noise: NoiseFile | None) -> Iterator[CountTurn]:
    """Yield the changes of instructions and, where they were not counted from the same jax on, of calls."""
    line = release_line.line()
    fences = {key: fence.fence for key, fence in noise.benchmarks.items()} if noise else {}
    jax = {cell.id: cell.pins["jax"] for cell in line}
    yield from sorted(
        {
            (turn.benchmark, turn.after, jax[turn.before]): turn
            for unit in reversed(UNITS)
            for turn in phase_counts.turns(found, line, unit, fences)
        }.values(),
        key=lambda turn: -abs(math.log(turn.new / turn.old)),
    )


def _sections(
    keys: Iterable[str], rows: Mapping[str, Mapping[str, ResultRow]], noise: NoiseFile | None, shifts: Sequence[Shift]
) -> tuple[Section, ...]:
    """Return the charts by module: a workload's phases or, if it has variants, each phase's variants."""
    fences = noise.benchmarks if noise else {}
    every = {key: _series(key, rows, fences.get(key)) for key in keys}
    shown = {key: line for key, line in every.items() if any(value is not None for value in line.values)}
    charts: dict[str, list[Chart]] = {}
    for module, chart in _charts(shown, "seconds", shifts):
        charts.setdefault(module, []).append(chart)
    ordered = sorted(charts, key=lambda name: (_place(name, _FIRST_MODULES), name))
    return tuple(Section(f"timings-{name}", story(name) or name, tuple(charts[name])) for name in ordered)


def _charts(series: Mapping[str, Series], unit: str, shifts: Sequence[Shift] = ()) -> Iterator[tuple[str, Chart]]:
    """Yield the module and the chart of each workload, or of each phase of a workload with variants."""
    kind, words = ("timing", ()) if unit == "seconds" else (unit, (unit,))
    for (module, workload, *phase), keys in groupby(series, key=_group):
        of = [series[key] for key in keys]
        names = {line.key for line in of}
        yield (
            module,
            Chart(
                id="-".join((f"{kind}-{module}.{workload}", *phase)).replace(" ", "-"),
                title=", ".join((what(module, workload), *phase, *words)),
                story=story(module, workload),
                series=tuple(sorted(of, key=lambda line: _place(line.name, PHASES))),
                shifts=tuple(shift for shift in shifts if shift.key in names),
                unit=unit,
            ),
        )


def spells(machine: TimedMachine, order: Sequence[str]) -> list[Spell]:
    """Return a machine's confirmed slow-downs, over the releases of `order` that were timed there."""
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
                later = [release for release in order[order.index(shift.other) :] if release in times]
                half = math.sqrt(base * other)
                until = next((release for release in later if times[release] <= half), None)
                there = frozenset(later[: later.index(until)] if until else later)
                found.append(Spell(chart, series, shift, times, there, until))
    return sorted(found, key=lambda spell: -spell.factor)


def asynchronous(rows: Mapping[str, Mapping[str, ResultRow]]) -> Asynchronous | None:
    """Return the release since which calls return before their result is ready; None if the timings do not show it."""
    returns = []
    for release, of in rows.items():
        if _EXECUTE in of and of[_EXECUTE].state == of[_DISPATCH].state == "measured":
            returns.append((release, of[_DISPATCH].least < of[_EXECUTE].least / 2))
    turns = [(before, after) for (before, was), (after, now) in pairwise(returns) if was != now]
    return Asynchronous(*turns[0]) if len(turns) == 1 and returns[-1][1] else None


def _confirmed(comparisons: Iterable[Comparison], units: Mapping[str, str]) -> list[Shift]:
    """Return the confirmed changes of times and counts."""
    return [
        Shift(key, spoken(key), units[parts(key).name], comparison.base, comparison.other, judged)
        for comparison in comparisons
        for key, judged in comparison.benchmarks.items()
        if judged.outcome in ("regressed", "improved") and parts(key).name in units
    ]


@cache
def parts(key: str) -> Parts:
    """Split a benchmark's name in asv, without prefixes and quotes; the variant is empty without parameters."""
    name, _, params = key.partition("(")
    module, workload, method = name.split(".")
    phase = method.partition("_")[2].replace("_", " ")
    return Parts(name, module, workload, phase, params.removesuffix(")").replace("'", ""))


def what(module: str, workload: str) -> str:
    """Return a workload's title: the first sentence or main clause of its docstring."""
    said = _SENTENCE.split(story(module, workload), maxsplit=1)[0].removesuffix(".")
    if not said or workload == "Counts":
        return " ".join(filter(None, (module.replace("_", " "), "" if workload == "Counts" else workload)))
    return said


def spoken(key: str) -> str:
    """Return `basics.Scan.time_trace` in words: `A scan of 100 steps of tanh over a carry of 8 float32, trace`."""
    of = parts(key)
    return ", ".join(filter(None, (what(of.module, of.workload), of.variant, of.phase)))


def turned(turn: CountTurn) -> str:
    """Return a change of a count: `A scan of 100 steps, trace: 12.0% more calls, 3,001 before, 3,361 after`."""
    return f"{spoken(turn.benchmark)}: {turn.told}"


def amount(shift: Shift, value: float | None) -> str:
    """Return one side of a change, in its unit."""
    if value is None:
        return ""
    return duration(value) if shift.unit == "seconds" else f"{value:,.0f} {shift.unit}"


def told(series: Series, releases: Sequence[str], unit: str = "seconds") -> str:
    """Return a series as a sentence, for readers who do not see the chart."""
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
    """Return the first paragraph of the docstring of a module of benchmarks, or of a workload in it."""
    path = BENCHMARKS / f"{module}.py"
    if not path.exists():
        return ""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = {statement.name: statement for statement in tree.body if isinstance(statement, ast.ClassDef)}
    node = classes.get(workload) if workload else tree
    said = node and ast.get_docstring(node)
    return " ".join((said or "").partition("\n\n")[0].replace("`", "").split())


def _series(key: str, rows: Mapping[str, Mapping[str, ResultRow]], fence: Fence | None) -> Series:
    of = [each.get(key) for each in rows.values()]
    return Series(
        name=parts(key).variant or parts(key).phase,
        key=key,
        values=tuple(row.least if row and row.state == "measured" else None for row in of),
        failed=frozenset(place for place, row in enumerate(of) if row and row.state == "failed"),
        fence=fence.fence if fence and all(row.version == fence.version for row in of if row) else None,
    )


def _count(key: str, unit: str, rows: Mapping[str, Mapping[str, ResultRow]]) -> ChangingCount | None:
    known = [(release, of[key].value) for release, of in rows.items() if key in of and of[key].state == "measured"]
    turns = known[:1] + [
        after for before, after in pairwise(known) if abs(after[1] - before[1]) > 0.01 * abs(before[1])
    ]
    return ChangingCount(spoken(key), unit, tuple(turns)) if len(turns) > 1 else None


def _size(judged: JudgedChange) -> float:
    """Return the size of a change, whichever way it goes."""
    return abs(math.log1p(judged.change)) if judged.change is not None and judged.change > -1 else math.inf


def _hardware(path: Path) -> str:
    known = measured.load(path)
    memory = int(known.get("ram") or 0) / 2**30
    return f"{known.get('cpu')}, {known.get('num_cpu')} cores, {memory:.0f} GiB, {known.get('os')} {known.get('arch')}"


def _group(key: str) -> tuple[str, ...]:
    """Return the key of a chart: a workload, or one phase of a workload with variants."""
    of = parts(key)
    return (of.module, of.workload, of.phase) if of.variant else (of.module, of.workload)


def _place(name: str, order: Sequence[str]) -> int:
    return order.index(name) if name in order else len(order)
