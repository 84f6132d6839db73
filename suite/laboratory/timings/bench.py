"""The command `nox -s bench`: time the release line with asv, and count its results.

`asv_call` calls asv, and `compare` compares two releases. asv's exit codes do not say which benchmarks were measured or
failed; its result files do.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace

from rich.text import Text

from jax_stack_compat.base.errors import Exit, Failed
from jax_stack_compat.base.files import ROOT, STATE
from jax_stack_compat.stack.plan import Cell
from laboratory.timings import compare, line_counts, own_stack, release_line, results
from laboratory.timings.asv_call import COUNTED, FENCES, MEASURED, OUT, WORK, Asv, last_words, machine_name, only
from laboratory.timings.counting import Counter, best
from laboratory.timings.counts import COUNTS
from laboratory.timings.results import NOISE, RESULTS, ResultRow, counted
from laboratory.timings.statistics import MIN_PROCESSES

# Large benchmarks are measured only on request.
DEFAULT_BENCH = r"^(?!.*Large)"
# Published files → the copies to which runs add results.
_PLACES = {RESULTS: MEASURED, NOISE: FENCES, COUNTS: COUNTED}


def carry_out(options: argparse.Namespace) -> Exit:
    """Run the subcommand of `bench`, and return its exit code.

    Without --keep the tree stays unchanged. Raises Misused, Failed, BadFile.
    """
    if shutil.which("git") is None:
        raise Failed("git is not on PATH: asv needs it to read the release line, a git repository")
    commits = release_line.commits()
    release_line.build(commits, release_line.PATH)
    for published, own_copy in _PLACES.items():
        results.copy_newer(published, own_copy)
    code = _carry_out(options, commits)
    if options.work in ("run", "count", "noise") and not getattr(options, "smoke", False):
        _keep(keeping=options.keep)
    return code


def _keep(*, keeping: bool) -> None:
    """Copy this machine's results to the published ones; without `keeping`, print how to do that."""
    if not keeping:
        OUT.print("the tree is unchanged: --keep copies the results into benchmarks/", soft_wrap=True)
        return
    changed = [path for published, own in _PLACES.items() for path in results.copy_newer(own, published)]
    for path in changed:
        OUT.print(f"kept in {path.relative_to(ROOT)}", soft_wrap=True)


def _carry_out(options: argparse.Namespace, commits: Sequence[release_line.Commit]) -> Exit:
    own = own_stack.find(options.python) if getattr(options, "python", None) else None
    name = own.name if own and own.platform != "cpu" else machine_name()
    asv = Asv(options.machine or name, release_line.hashes(commits), existing=own)
    patterns: Sequence[str] = options.bench or [DEFAULT_BENCH]
    counter = Counter("calls" if getattr(options, "calls", False) else best())
    if options.work in ("count", "compare", "noise") and best() == "calls":
        OUT.print("valgrind is missing, so only calls are counted, not instructions")
    default = [cell for cell in release_line.cells() if "default" in cell.tags]
    match options.work:
        case "run":
            cells = [own.cell] if own else release_line.cells() if options.line else options.cells or default
            return run(asv, cells, patterns, fresh=options.fresh, smoke=options.smoke)
        case "count":
            cells = release_line.cells() if options.line else options.cells or default
            return line_counts.run(counter, asv.machine, cells, patterns, fresh=options.fresh)
        case "compare":
            processes = options.processes or MIN_PROCESSES
            return compare.compare(asv, counter, options.base, options.other, patterns, processes, keeping=options.keep)
        case "noise":
            processes = options.processes or 2 * MIN_PROCESSES
            return compare.noise(asv, counter, options.cell or default[-1], patterns, processes)
    site = asv.publish()
    OUT.print(f"published: {site.relative_to(ROOT)}/index.html; `asv preview` shows it")
    return Exit.AS_EXPECTED


def run(asv: Asv, cells: Sequence[Cell], patterns: Sequence[str], *, fresh: bool, smoke: bool) -> Exit:
    """Measure every cell once, and print the counts of measured benchmarks."""
    total = dict.fromkeys(results.STATES, 0)
    if smoke:
        # asv would save quick results beside the others, which are not comparable: use another folder.
        asv = replace(asv, results=WORK / "smoke")
        shutil.rmtree(asv.results, ignore_errors=True)
    for number, cell in enumerate(cells, 1):
        started = time.monotonic()
        how = ["--quick"] if smoke else [] if fresh else ["--skip-existing-successful"]
        before = _stamp(asv, cell)
        asv.run(cell, cell.id, *how, *only(patterns))
        rows = results.rows(asv.results, asv.machine, asv.commits[cell.id], patterns)
        if fresh and _stamp(asv, cell) == before:
            # These results are from an earlier run.
            rows = {key: ResultRow("missing", row.version, row.count) for key, row in rows.items()}
        tally = results.tally(rows.values())
        for state, count in tally.items():
            total[state] += count
        took = time.monotonic() - started
        measured = f": {counted(tally)} ({took:.0f} s)"
        OUT.print(Text.assemble(f"{number}/{len(cells)} ", (cell.id, "bold"), measured), soft_wrap=True)
        for key, row in rows.items():
            if row.state == "failed":
                OUT.print(Text.assemble(("  failed", "red"), f" {key}"), soft_wrap=True)
        if not tally["measured"]:
            log = STATE / "logs" / f"asv-{cell.id}.log"
            told = f"; asv said, at the end: {last_words(log)}"
            OUT.print(Text.assemble(("  nothing was measured", "red"), told), soft_wrap=True)
            # Count a release without any known benchmark, too.
            total["missing"] += not rows
    OUT.print(f"{len(cells)} cells: {counted(total)}")
    return Exit.INCOMPLETE if total["failed"] or total["missing"] or not total["measured"] else Exit.AS_EXPECTED


def _stamp(asv: Asv, cell: Cell) -> Sequence[tuple[str, int]]:
    """Return the time at which each file of a cell's results was last written."""
    paths = (asv.results / asv.machine).glob(f"{asv.commits[cell.id][:8]}-*.json")
    return sorted((path.name, path.stat().st_mtime_ns) for path in paths)
