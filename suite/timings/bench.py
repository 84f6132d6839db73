"""`python -m suite.timings.bench`: the release line timed by asv, and nothing believed uncounted.

asv measures, keeps and publishes; `asv_call` has how it is called. What is done with what it says, and why:

- asv's exit codes say neither what was measured nor what failed: the result files are read, and counted.
- A comparison is not `asv continuous`. That pools the samples of all processes of a side, with nothing between them
  (`--interleave-rounds`, `-a processes=`, `--append-samples` alike), and how many of them a process gave depends on the
  time it had. So each process is an asv run of one round with a results folder of its own: what stands there was
  measured in that process, now, and never before.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from suite.__main__ import guarded
from suite.cell.atomic import write
from suite.files import ROOT, STATE, Failed, Misused, dump, read
from suite.report.site.timings import duration
from suite.report.summary import Exit
from suite.stack.plan import Cell
from suite.timings import own_stack as existing
from suite.timings import release_line as line
from suite.timings import results as measured
from suite.timings import statistics as timing
from suite.timings.asv_call import OUT, WORK, Asv, last_words, machine_name
from suite.timings.results import COMPARED, NOISE, Comparison, Fence, Judged, NoiseFile, Row
from suite.timings.statistics import Pair, Side, Verdict

# What is slow and large is measured where it is asked for.
DEFAULT_BENCH = r"^(?!.*(Large|Instructions))"


# A process of a comparison: half a second for each row, that the least may be of a moment when nothing else ran.
_PROCESS = ("-a", "rounds=1", "-a", "repeat=(1,100,0.5)")


def bench(asv: Asv, cells: Sequence[Cell], patterns: Sequence[str], *, fresh: bool, smoke: bool) -> Exit:
    """Measure every cell once, count what was measured, and say so."""
    total = dict.fromkeys(measured.STATES, 0)
    if smoke:
        # A quick result is no result, and asv would save it beside the others: these go where nobody looks.
        asv = replace(asv, results=WORK / "smoke")
        shutil.rmtree(asv.results, ignore_errors=True)
    for number, cell in enumerate(cells, 1):
        started = time.monotonic()
        how = ["--quick"] if smoke else [] if fresh else ["--skip-existing-successful"]
        before = _stamp(asv, cell)
        asv.run(cell, cell.id, *how, *_bench(patterns))
        rows = measured.rows(asv.results, asv.machine, asv.commits[cell.id], patterns)
        if fresh and _stamp(asv, cell) == before:
            # What stands there is of another day.
            rows = {key: Row("missing", row.version, row.count) for key, row in rows.items()}
        tally = measured.tally(rows.values())
        for state, count in tally.items():
            total[state] += count
        took = time.monotonic() - started
        OUT.print(f"{number}/{len(cells)} [bold]{cell.id}[/bold]: {_counted(tally)} ({took:.0f} s)", soft_wrap=True)
        for key, row in rows.items():
            if row.state == "failed":
                OUT.print(f"  [red]failed[/red] {escape(key)}", soft_wrap=True)
        if not tally["measured"]:
            log = STATE / "logs" / f"asv-{cell.id}.log"
            OUT.print(
                f"  [red]nothing was measured[/red]; asv said, at the end: {escape(last_words(log))}", soft_wrap=True
            )
            # A release of which not even the benchmarks' names are known still counts.
            total["missing"] += not rows
    OUT.print(f"{len(cells)} cells: {_counted(total)}")
    return Exit.INCOMPLETE if total["failed"] or total["missing"] or not total["measured"] else Exit.AS_EXPECTED


def compare(asv: Asv, base: Cell, other: Cell, patterns: Sequence[str], processes: int) -> Exit:
    """Measure two cells in turns, again what looks changed, and say what did change."""
    if processes < timing.MIN_PROCESSES:
        raise Misused(f"--processes {processes}: a side needs at least {timing.MIN_PROCESSES}")
    folder = WORK / "compare" / f"{base.id}..{other.id}"
    shutil.rmtree(folder, ignore_errors=True)
    fences = _fences(asv.machine)
    first = measure(asv, base, other, patterns, processes, folder / "first")
    usable = {key: each.fence for key, each in fences.items() if key in first and each.version == _version(first[key])}
    looking = timing.candidates(first, usable)
    again: Mapping[str, Pair] = {}
    if looking:
        OUT.print(f"{len(looking)} of {len(first)} benchmarks look changed, and are measured again")
        again = measure(asv, base, other, _exactly(looking), processes, folder / "again")
    verdicts = timing.judge(first, again, usable)
    if base != other:
        keep(asv, base, other, processes, {key: _judged(first[key], each) for key, each in verdicts.items()})
    show(base, other, first, verdicts)
    return exit_code(verdicts.values())


def keep(asv: Asv, base: Cell, other: Cell, processes: int, judged: Mapping[str, Judged]) -> None:
    """Write down what was judged, beside what the same two releases were judged by before. Raises BadFile."""
    path = COMPARED / asv.machine / f"{base.id}..{other.id}.json"
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


def _judged(pair: Pair, verdict: Verdict) -> Judged:
    base, other = (statistics.median(side.values) if side.values else None for side in (pair.base, pair.other))
    return Judged(
        outcome=verdict.outcome,
        reason=verdict.reason,
        base=_finite(base),
        other=_finite(other),
        change=_finite(verdict.change),
        limit=_finite(verdict.limit),
        version=pair.base.version,
    )


def exit_code(verdicts: Iterable[Verdict]) -> Exit:
    """1 where something regressed; 3 where something else was left undecided; 0 where all is known and none is slower.

    What a release lacks is known, and left out of it.
    """
    found = [each for each in verdicts if not each.reason.startswith(timing.LACKS)]
    if any(each.outcome == "regressed" for each in found):
        return Exit.UNEXPECTED
    decided = found and all(each.outcome in ("stable", "improved") for each in found)
    return Exit.AS_EXPECTED if decided else Exit.INCOMPLETE


def measure(
    asv: Asv, base: Cell, other: Cell, patterns: Sequence[str], processes: int, folder: Path
) -> dict[str, Pair]:
    """So many processes of each side, in turns: name → what they said. Raises Failed where there is nothing at all."""
    told: dict[str, list[dict[str, Row]]] = {"base": [], "other": []}
    sides = {"base": base, "other": other}
    wanted = list(patterns)
    for number in range(processes):
        # Whoever was second is first next: what the machine does in between falls on both.
        for name in ("base", "other") if number % 2 == 0 else ("other", "base"):
            place = replace(asv, results=folder / f"{number}-{name}")
            label = f"{sides[name].id} {number + 1}/{processes}"
            place.run(sides[name], f"{folder.name}-{number}-{name}", *_PROCESS, "--record-samples", *_bench(wanted))
            rows = measured.rows(place.results, asv.machine, asv.commits[sides[name].id], wanted)
            told[name].append(rows)
            OUT.print(f"[bold]{label}[/bold] {name}: {_counted(measured.tally(rows.values()))}")
        if number == 0:
            both = told["base"][0].keys() | told["other"][0].keys()
            if not both:
                log = STATE / "logs" / f"asv-{folder.name}-0-base.log"
                raise Failed(f"nothing was measured; asv said, at the end: {last_words(log)}")
            going_on = [key for key in sorted(both) if all(_goes_on(told[name][0].get(key)) for name in sides)]
            if not going_on:
                break
            wanted = _exactly(going_on)
    keys = sorted(told["base"][0].keys() | told["other"][0].keys())
    return {key: pair(key, told["base"], told["other"]) for key in keys}


def pair(key: str, base: Sequence[Mapping[str, Row]], other: Sequence[Mapping[str, Row]]) -> Pair:
    """What the processes of both sides said of one benchmark."""
    count = next((rows[key].count for rows in (*base, *other) if key in rows), False)
    return Pair(_side(key, base), _side(key, other), count)


def _side(key: str, processes: Sequence[Mapping[str, Row]]) -> Side:
    rows = [rows[key] for rows in processes if key in rows]
    states = [row.state for row in rows]
    return Side(
        values=tuple(row.least for row in rows if row.state == "measured"),
        failed=states.count("failed"),
        lacking=states.count("lacking"),
        missing=states.count("missing"),
        version=rows[0].version if rows else "",
    )


def _goes_on(row: Row | None) -> bool:
    """Whether a second process can add anything: not to a count, and not to what cannot be measured here."""
    return row is not None and row.state == "measured" and not row.count


def noise(asv: Asv, cell: Cell, patterns: Sequence[str], processes: int) -> Exit:
    """Measure one cell against itself, and write down what its benchmarks differ by where nothing changed."""
    if processes < 2 * timing.MIN_PROCESSES:
        raise Misused(f"--processes {processes}: two sides need at least {2 * timing.MIN_PROCESSES}")
    folder = WORK / "noise" / cell.id
    shutil.rmtree(folder, ignore_errors=True)
    # Every two processes are a round of a comparison.
    pairs = measure(asv, cell, cell, patterns, processes // 2, folder)
    made: dict[str, Fence] = {}
    for key, each in pairs.items():
        # In the order of their runs: base other, other base, and so on; which of the two is which does not matter.
        values = [value for both in zip(each.base.values, each.other.values, strict=False) for value in both]
        if not each.count and len(values) == processes // 2 * 2 and min(values) > 0:
            found = timing.noise(values)
            made[key] = Fence(
                fence=round(found.fence, 4),
                false_positives=round(found.false_positives, 4),
                detectable=found.detectable if found.detectable < float("inf") else None,
                version=each.base.version,
            )
    if not made:
        raise Failed("nothing was measured often enough to tell its noise")
    least = sorted(each.detectable if each.detectable is not None else float("inf") for each in made.values())
    middle = least[len(least) // 2]
    file = NoiseFile(
        schema_version=1,
        machine=asv.machine,
        cell=cell.id,
        processes=processes // 2 * 2,
        false_positives=round(statistics.mean(each.false_positives for each in made.values()), 5),
        detectable=middle if middle < float("inf") else None,
        benchmarks=made,
    )
    path = NOISE / f"{asv.machine}.json"
    write(path, dump(file.model_dump()))
    show_noise(file)
    OUT.print(f"written: {path.relative_to(ROOT)}")
    return Exit.AS_EXPECTED


def show(base: Cell, other: Cell, pairs: Mapping[str, Pair], verdicts: Mapping[str, Verdict]) -> None:
    """The table of all that is not simply stable, and the counts."""
    table = Table(title=f"{base.id} → {other.id}", title_justify="left")
    table.add_column("benchmark", overflow="fold")
    for name in (base.id, other.id, "change", "limit"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    colours = {"regressed": "red", "improved": "green", "failed": "red"}
    order = {outcome: number for number, outcome in enumerate(measured.OUTCOMES)}
    for key, each in sorted(verdicts.items(), key=lambda item: (order[item[1].outcome], item[0])):
        if each.outcome == "stable":
            continue
        sides = [_middle(pairs[key], side) for side in (pairs[key].base, pairs[key].other)]
        verdict = f"[{colours.get(each.outcome, 'default')}]{each.outcome}[/]"
        numbers = [f"{value:+.1%}" if value == value else "" for value in (each.change, each.limit)]
        table.add_row(escape(key), *sides, numbers[0], numbers[1].removeprefix("+"), f"{verdict} {escape(each.reason)}")
    if table.row_count:
        OUT.print(table)
    OUT.print(timing.last_line(verdicts.values()))


def show_noise(file: NoiseFile) -> None:
    """What this machine's verdicts are worth."""
    clear = sum(each.fence <= timing.RESOLUTION for each in file.benchmarks.values())
    least = f"{file.detectable:.0%}" if file.detectable is not None else "none of those tried"
    OUT.print(
        f"{file.machine}, {file.processes} processes of {file.cell}: one comparison in which nothing changed alarms in "
        f"{file.false_positives:.2%} of cases, before it is confirmed; the least slow-down shown by half of the "
        f"benchmarks: {least}; {clear} of {len(file.benchmarks)} can show one of {timing.RESOLUTION:.0%}",
        soft_wrap=True,
    )


def _fences(machine: str) -> Mapping[str, Fence]:
    path = NOISE / f"{machine}.json"
    if not path.exists():
        OUT.print(
            "this machine's noise is not known (`nox -s bench-noise`): a benchmark's fence is what the halves of each "
            "side differ by",
            soft_wrap=True,
        )
        return {}
    return read(NoiseFile, path).benchmarks


def _version(each: Pair) -> str:
    return each.base.version


def _exactly(keys: Iterable[str]) -> list[str]:
    return [f"^{re.escape(key)}$" for key in keys]


def _bench(patterns: Sequence[str]) -> list[str]:
    return [word for pattern in patterns for word in ("--bench", pattern)]


def _stamp(asv: Asv, cell: Cell) -> Sequence[tuple[str, int]]:
    """When the results of a cell were last written."""
    paths = (asv.results / asv.machine).glob(f"{asv.commits[cell.id][:8]}-*.json")
    return sorted((path.name, path.stat().st_mtime_ns) for path in paths)


_SAID: dict[measured.State, str] = {"lacking": "n/a", "missing": "not measured"}


def _counted(tally: Mapping[measured.State, int]) -> str:
    return ", ".join(f"{count} {_SAID.get(state, state)}" for state, count in tally.items())


def _middle(each: Pair, side: Side) -> str:
    if not side.values:
        return ""
    value = statistics.median(side.values)
    if each.count or value >= 1e4:
        return f"{value:,.0f}"
    return duration(value)


def _finite(value: float | None) -> float | None:
    """JSON has no NaN and no infinity; of a ratio, six digits are more than was measured."""
    return float(f"{value:.6g}") if value is not None and abs(value) < float("inf") else None


def main(words: Sequence[str]) -> Exit:
    """Run one command; its exit code."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--bench", action="append", metavar="REGEX", help="only these benchmarks; may be repeated")
    common.add_argument("--machine", metavar="NAME", help="file the results under this name (default: the processor's)")
    parser = argparse.ArgumentParser(
        prog="python -m suite.timings.bench",
        description="Times the stack along the release line, with asv.",
        epilog="Exit codes: 0 all was measured, and nothing is slower; 1 something is slower, and confirmed; "
        "2 the command or a file is wrong; 3 something was not measured, failed, or could not be decided.",
    )
    chosen = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    running = chosen.add_parser("run", parents=[common], help="measure cells, and keep the results")
    running.add_argument("cells", nargs="*", metavar="CELL", help="cells of the line (default: the default ones)")
    running.add_argument("--line", action="store_true", help="every cell of the line")
    running.add_argument(
        "--python", type=Path, metavar="PATH", help="not a cell, but the stack of this interpreter, on its own device"
    )
    running.add_argument("--fresh", action="store_true", help="measure again what has a result")
    running.add_argument("--smoke", action="store_true", help="each benchmark once, and nothing kept")
    comparing = chosen.add_parser("compare", parents=[common], help="measure two cells in turns, and judge")
    comparing.add_argument("base", metavar="A")
    comparing.add_argument("other", metavar="B")
    comparing.add_argument("--processes", type=int, default=timing.MIN_PROCESSES, metavar="N", help="of each side")
    noisy = chosen.add_parser("noise", parents=[common], help="measure a cell against itself")
    noisy.add_argument("cell", nargs="?", metavar="CELL", help="default: the newest of the default ones")
    noisy.add_argument("--processes", type=int, default=2 * timing.MIN_PROCESSES, metavar="N")
    chosen.add_parser("publish", parents=[common], help="make asv's site of the results")
    options = parser.parse_args(words)
    with guarded() as guard:
        commits = line.commits()
        line.build(commits, line.PATH)
        own = existing.find(options.python) if options.command == "run" and options.python else None
        name = own.name if own and own.platform != "cpu" else machine_name()
        asv = Asv(options.machine or name, line.hashes(commits), existing=own)
        patterns: Sequence[str] = options.bench or [DEFAULT_BENCH]
        default = [cell for cell in line.cells() if "default" in cell.tags]
        match options.command:
            case "run":
                named = [own.cell] if own else [line.cell(each) for each in options.cells]
                cells = line.cells() if options.line and not own else named or default
                guard.code = bench(asv, cells, patterns, fresh=options.fresh, smoke=options.smoke)
            case "compare":
                base, other = line.cell(options.base), line.cell(options.other)
                guard.code = compare(asv, base, other, patterns, options.processes)
            case "noise":
                cell = line.cell(options.cell) if options.cell else default[-1]
                guard.code = noise(asv, cell, patterns, options.processes)
            case "publish":
                site = asv.publish()
                OUT.print(f"published: {site.relative_to(ROOT)}/index.html; `asv preview` shows it")
    return guard.code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        OUT.print("interrupted: what has a result is kept")
        sys.exit(130)
