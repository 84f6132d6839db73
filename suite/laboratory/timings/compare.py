"""Comparisons of two releases, or of one with itself: processes in turns, and verdicts.

`asv continuous` is not used, since it pools the samples of all processes of a side. (`--interleave-rounds`, `-a
processes=` and `--append-samples` do so, too.) The number of samples from a process then depends on its speed. So here
each process is an asv run of one round, with a results folder of its own. Every result in the folder was measured in
that process.

The host's work is counted, not timed, if possible (see `counting`): with valgrind its instructions, which repeat to a
few in a thousand. Without valgrind, Python's calls are counted in addition to the times.
"""

from __future__ import annotations

import math
import re
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.table import Table
from rich.text import Text

from jax_stack_compat.base.errors import Exit, Failed, Misused
from jax_stack_compat.base.files import ROOT, STATE, dump, read
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.stack.plan import Cell
from laboratory.timings import counting, counts, results
from laboratory.timings import statistics as timing
from laboratory.timings.asv_call import FENCES, OUT, WORK, Asv, last_words, only
from laboratory.timings.counting import Counter as PhaseCounter
from laboratory.timings.quantities import duration
from laboratory.timings.results import COMPARED, Comparison, Fence, JudgedChange, NoiseFile, ResultRow, counted
from laboratory.timings.statistics import Pair, Side, Verdict

# asv's options for a process: half a second for each row, long enough for an undisturbed sample.
_PROCESS = ("-a", "rounds=1", "-a", "repeat=(1,100,0.5)")


def compare(
    asv: Asv,
    counter: PhaseCounter,
    base: Cell,
    other: Cell,
    patterns: Sequence[str],
    processes: int,
    *,
    keeping: bool = False,
) -> Exit:
    """Measure two cells in turns, measure apparent changes again, and print the changes.

    With `keeping`, write the verdicts next to the published ones. By default a comparison is a trial, and writes
    nothing.
    """
    if processes < timing.MIN_PROCESSES:
        raise Misused(f"--processes {processes}: a side needs at least {timing.MIN_PROCESSES}")
    if keeping and base == other:
        raise Misused(f"--keep: {base.id} against itself is not kept; `nox -s bench-noise` keeps its noise")
    timed = _clocked(asv, counter, patterns)
    if timed:
        OUT.print(f"{processes} processes of each side, and apparent changes again", soft_wrap=True)
    folder = WORK / "compare" / f"{base.id}..{other.id}"
    shutil.rmtree(folder, ignore_errors=True)
    fences = _fences(asv.machine)
    first = count(counter, base, other, patterns, counting.PROCESSES)
    if timed:
        first |= measure(asv, base, other, timed, processes, folder / "first")
    if not first:
        raise Failed(f"no benchmark matches {' or '.join(patterns)}")
    versions = {key: pair.base.version for key, pair in first.items()}
    usable = {key: fence.fence for key, fence in fences.items() if fence.version == versions.get(key)}
    looking = timing.candidates(first, usable)
    again: Mapping[str, Pair] = {}
    if looking:
        OUT.print(f"{len(looking)} of {len(first)} benchmarks look changed, and are measured again")
        again = measure(asv, base, other, _exactly(looking), processes, folder / "again")
    verdicts = timing.judge(first, again, usable)
    show(base, other, first, verdicts)
    path = COMPARED / asv.machine / f"{base.id}..{other.id}.json"
    shown = path.relative_to(ROOT)
    if keeping:
        keep(asv, base, other, processes, {key: _judged(first[key], each) for key, each in verdicts.items()}, path)
        OUT.print(f"kept in {shown}; `nox -s rebuild` puts it on the published page", soft_wrap=True)
    elif base != other:
        OUT.print(f"nothing was kept: --keep writes the verdicts into {shown}, for the published page", soft_wrap=True)
    return exit_code(verdicts.values())


def _clocked(asv: Asv, counter: PhaseCounter, patterns: Sequence[str]) -> list[str]:
    """Return asv's patterns for the benchmarks in `patterns`, without those that instructions judge better.

    The result is empty if no known benchmark matches.
    """
    timed = list(patterns)
    if counter.unit == "instructions":
        timed = [f"^(?!.*{counts.HOST.pattern})(?=.*(?:{pattern}))" for pattern in patterns]
    known = results.names(asv.results)
    return [] if known and not any(re.search(pattern, key) for pattern in timed for key in known) else timed


def count(counter: PhaseCounter, base: Cell, other: Cell, patterns: Sequence[str], processes: int) -> dict[str, Pair]:
    """Count the host's work in both cells, in turns; return each process's counts by name. Raises Failed."""
    listed = [*counter.listed(base, patterns)]
    told: dict[str, list[dict[str, ResultRow]]] = {"base": [], "other": []}
    cells, started = {"base": base, "other": other}, time.monotonic()
    for number in range(processes if listed else 0):
        for name in ("base", "other") if number % 2 == 0 else ("other", "base"):
            with OUT.status(Text(f"{cells[name].id}: {counter.unit} of {len(listed)} benchmarks")):
                found = counter.count(cells[name], listed)
            told[name].append({counts.name(key, counter.unit): each.row(counter.unit) for key, each in found.items()})
            if number == 0 and name == "base":
                left = math.ceil((2 * processes - 1) * (time.monotonic() - started) / 60)
                OUT.print(f"{counter.unit} of {len(listed)} benchmarks: about {left} minutes more", soft_wrap=True)
    named = [counts.name(key, counter.unit) for key in listed]
    return {key: replace(pair(key, told["base"], told["other"]), count=True) for key in named}


def noise(asv: Asv, counter: PhaseCounter, cell: Cell, patterns: Sequence[str], processes: int) -> Exit:
    """Measure one cell against itself, and store the differences, which are noise."""
    if processes < 2 * timing.MIN_PROCESSES:
        raise Misused(f"--processes {processes}: two sides need at least {2 * timing.MIN_PROCESSES}")
    timed = _clocked(asv, counter, patterns)
    made: dict[str, Fence] = {}
    for key, pair in count(counter, cell, cell, patterns, counting.PROCESSES).items():
        known = (*pair.base.values, *pair.other.values)
        if len(known) == 2 * counting.PROCESSES:
            made[key] = timing.count_noise(known, pair.base.version)
    if timed:
        OUT.print(f"{processes} processes", soft_wrap=True)
    folder = WORK / "noise" / cell.id
    shutil.rmtree(folder, ignore_errors=True)
    # Two processes are a round of a comparison.
    pairs = measure(asv, cell, cell, timed, processes // 2, folder) if timed else {}
    for key, pair in pairs.items():
        # In the order of their runs: base other, other base, and so on. Which side a value is on does not matter.
        values = [value for both in zip(pair.base.values, pair.other.values, strict=False) for value in both]
        if not pair.count and len(values) == processes // 2 * 2 and min(values) > 0:
            made[key] = timing.noise(values, pair.base.version)
    if not made:
        raise Failed("no benchmark was measured often enough to compute its noise")
    path = FENCES / f"{asv.machine}.json"
    before = read(NoiseFile, path) if path.exists() else None
    # Keep earlier values of the same cell that were not measured now, such as times of benchmarks that are now counted.
    kept = before.benchmarks if before and before.cell == cell.id else {}
    every = {**kept, **made}
    # A benchmark that is timed and counted is judged by its count.
    judging = {
        key: fence
        for key, fence in every.items()
        if (counted_as := counts.name(key, "instructions")) == key or counted_as not in every
    }
    middle = statistics.median_high(fence.detectable or math.inf for fence in judging.values())
    file = NoiseFile(
        schema_version=1,
        machine=asv.machine,
        cell=cell.id,
        processes=processes // 2 * 2,
        false_positives=round(statistics.mean(fence.false_positives for fence in judging.values()), 5),
        detectable=_finite(middle),
        benchmarks=every,
    )
    write(path, dump(file.model_dump()))
    shown = f"{file.detectable:.0%}" if file.detectable is not None else "none of those tried"
    OUT.print(
        f"{file.machine}, {file.processes} processes of {file.cell}: if nothing changed, "
        f"{file.false_positives:.2%} of first measurements look like a change; the least slow-down that half of the "
        f"benchmarks show: {shown}; {_showing(judging.values(), timing.RESOLUTION)}",
        soft_wrap=True,
    )
    if host := [fence for key, fence in judging.items() if counts.of_host(key)]:
        OUT.print(f"host's phases: {_showing(host, timing.RESOLUTION)}, {_showing(host, timing.GATE)}")
    return Exit.AS_EXPECTED


def _showing(fences: Collection[Fence], slow_down: float) -> str:
    """Return a sentence on how many benchmarks can show a slow-down of this size."""
    can = sum(fence.detectable is not None and fence.detectable <= slow_down for fence in fences)
    return f"{can} of {len(fences)} can show a slow-down of {slow_down:.0%}"


def measure(
    asv: Asv, base: Cell, other: Cell, patterns: Sequence[str], processes: int, folder: Path
) -> dict[str, Pair]:
    """Run `processes` of each side in turns; return each benchmark's results. Raises Failed without any result."""
    told: dict[str, list[dict[str, ResultRow]]] = {"base": [], "other": []}
    sides = {"base": base, "other": other}
    wanted = list(patterns)
    for number in range(processes):
        began = time.monotonic()
        # The sides take turns at going first, so the machine's drift affects both.
        for name in ("base", "other") if number % 2 == 0 else ("other", "base"):
            cell, place = sides[name], replace(asv, results=folder / f"{number}-{name}")
            place.run(cell, f"{folder.name}-{number}-{name}", *_PROCESS, "--record-samples", *only(wanted))
            rows = results.rows(place.results, asv.machine, asv.commits[cell.id], wanted)
            told[name].append(rows)
            said = counted(results.tally(rows.values()))
            OUT.print(Text.assemble((f"{cell.id} {number + 1}/{processes}", "bold"), f" {name}: {said}"))
        if number == 0:
            keys = sorted(told["base"][0].keys() | told["other"][0].keys())
            if not keys:
                log = STATE / "logs" / f"asv-{folder.name}-0-base.log"
                raise Failed(f"nothing was measured; asv said, at the end: {last_words(log)}")
            wanted = _exactly(key for key in keys if all(_goes_on(told[name][0].get(key)) for name in sides))
            if not wanted:
                break
        elif number == 1:
            # The first round may include making environments, and measuring benchmarks that need one process.
            left = math.ceil((processes - 2) * (time.monotonic() - began) / 60)
            OUT.print(f"about {left} minutes are left, at the pace of these two", soft_wrap=True)
    return {key: pair(key, told["base"], told["other"]) for key in keys}


def pair(key: str, base: Sequence[Mapping[str, ResultRow]], other: Sequence[Mapping[str, ResultRow]]) -> Pair:
    """Return both sides of a benchmark, from the rows of their processes."""
    count = any(rows[key].count for rows in (*base, *other) if key in rows)
    return Pair(_side(key, base), _side(key, other), count)


def _side(key: str, processes: Sequence[Mapping[str, ResultRow]]) -> Side:
    rows = [rows[key] for rows in processes if key in rows]
    states = Counter(row.state for row in rows)
    return Side(
        values=tuple(row.least for row in rows if row.state == "measured"),
        failed=states["failed"],
        lacking=states["lacking"],
        version=rows[0].version if rows else "",
    )


def _goes_on(row: ResultRow | None) -> bool:
    """Return True if a second process adds information; a count or a failed benchmark does not need one."""
    return row is not None and row.state == "measured" and not row.count


def keep(asv: Asv, base: Cell, other: Cell, processes: int, judged: Mapping[str, JudgedChange], path: Path) -> None:
    """Write the verdicts, together with earlier verdicts on the same two releases. Raises BadFile."""
    commits = asv.commits[base.id], asv.commits[other.id]
    known = read(Comparison, path) if path.exists() else None
    before = known.benchmarks if known and known.commits == commits else {}
    made = Comparison(
        schema_version=1,
        machine=asv.machine,
        base=base.id,
        other=other.id,
        commits=commits,
        processes=processes,
        benchmarks={**before, **judged},
    )
    write(path, dump(made.model_dump(mode="json")))


def _judged(pair: Pair, verdict: Verdict) -> JudgedChange:
    return JudgedChange(
        outcome=verdict.outcome,
        reason=verdict.reason,
        base=_finite(pair.base.middle),
        other=_finite(pair.other.middle),
        change=_finite(verdict.change),
        limit=_finite(verdict.limit),
        version=pair.base.version,
    )


def exit_code(verdicts: Iterable[Verdict]) -> Exit:
    """Return the exit code of these verdicts.

    1: a benchmark regressed; 3: one failed or was not measured; 4: noise hides whether one changed; else 0. A benchmark
    that a release lacks does not count.
    """
    found = {verdict.outcome for verdict in verdicts if not verdict.reason.startswith(timing.LACKS)}
    if "regressed" in found:
        return Exit.UNEXPECTED
    if not found or not found.isdisjoint(("failed", "not-measured")):
        return Exit.INCOMPLETE
    return Exit.UNDECIDED if "insufficient" in found else Exit.AS_EXPECTED


def show(base: Cell, other: Cell, pairs: Mapping[str, Pair], verdicts: Mapping[str, Verdict]) -> None:
    """Print a table of all benchmarks that are not stable, and the counts."""
    table = Table(title=f"{base.id} → {other.id}", title_justify="left")
    table.add_column("benchmark", overflow="fold")
    for name in (base.id, other.id, "change", "limit"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    colours = {"regressed": "red", "improved": "green", "failed": "red"}
    order = {outcome: number for number, outcome in enumerate(results.OUTCOMES)}
    for key, verdict in sorted(verdicts.items(), key=lambda item: (order[item[1].outcome], item[0])):
        if verdict.outcome == "stable":
            continue
        pair = pairs[key]
        change, limit = ("", "") if math.isnan(verdict.change) else (f"{verdict.change:+.1%}", f"{verdict.limit:.1%}")
        table.add_row(
            *(key, _amount(pair, pair.base.middle), _amount(pair, pair.other.middle), change, limit),
            Text.assemble((verdict.outcome, colours.get(verdict.outcome, "default")), f" {verdict.reason}"),
        )
    if table.row_count:
        OUT.print(table)
    if any(verdict.outcome == "insufficient" for verdict in verdicts.values()):
        OUT.print("insufficient: too noisy to decide; use more --processes or a quieter machine", soft_wrap=True)
    OUT.print(timing.last_line(verdicts.values()))


def _fences(machine: str) -> Mapping[str, Fence]:
    path = FENCES / f"{machine}.json"
    if not path.exists():
        OUT.print(
            "this machine's noise is unknown (`nox -s bench-noise` measures it): a change must exceed the difference "
            "between the halves of each side",
            soft_wrap=True,
        )
        return {}
    return read(NoiseFile, path).benchmarks


def _exactly(keys: Iterable[str]) -> list[str]:
    return [f"^{re.escape(key)}$" for key in keys]


def _amount(pair: Pair, value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:,.0f}" if pair.count or value >= 1e4 else duration(value)


def _finite(value: float) -> float | None:
    """Return a ratio to six digits, more than the precision; None for NaN and infinity, which JSON lacks."""
    return float(f"{value:.6g}") if math.isfinite(value) else None
