"""What a person can ask for, one function each: `python -m suite` and the nox sessions call these."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from suite.bisect.search import Find
from suite.files import REPORTS, BadFile, Failed, Misused, read
from suite.report.formats.diff import Format
from suite.report.model import Report
from suite.report.summary import Exit, exit_code
from suite.run import catalogue, environment, interpreter, records, shard
from suite.run import cell_run as run
from suite.run.catalogue import Entry
from suite.run.progress import CellProgress
from suite.run.shard import Measured, Shard, Timed
from suite.stack import lock, plan, releases
from suite.stack.plan import Cell

OUT = Console(highlight=False)


def check() -> None:
    """Read every file that a run depends on. Raises BadFile with all faults in all of them, before anything runs."""
    catalogue.entries()
    faults = records.faults()
    for cell in plan.cells():
        try:
            lock.load(cell)
        except BadFile as error:
            faults += error.faults
    if faults:
        raise BadFile(faults)


def share(cells: Sequence[Cell], part: Shard | None) -> tuple[Cell, ...]:
    """What falls into a shard of `cells` by their costs in the published report; all without one. Raises BadFile."""
    if part is None:
        return tuple(cells)
    return shard.shard(cells, shard.costs(cells, _measured()), part.part, part.parts)


@cache
def _measured() -> Sequence[Timed]:
    path = REPORTS / "published" / "compat.json"
    return read(Measured, path).observations if path.exists() else ()


def unfinished(cells: Sequence[Cell], entries: Sequence[Entry]) -> tuple[Cell, ...]:
    """The cells in which something of `entries` is left to run. Raises BadFile."""
    return tuple(cell for cell in cells if run.left(cell, entries))


def show_plan(cells: Sequence[Cell], entries: Sequence[Entry], *, fresh: bool) -> None:
    """Say what a run of `cells` would do: how many observations, on which interpreter, and how much to fetch."""
    planned = sum(len(catalogue.cases(entry, cell)) for entry in entries for cell in cells)
    left = planned if fresh else sum(run.left(cell, entries) for cell in cells)
    known = f", {left:,} of them to run: the others are known and unchanged" if left < planned else ""
    OUT.print(f"{len(cells)} cells, {planned:,} observations{known}", soft_wrap=True)
    for cell in cells:
        if cell.unavailable:
            OUT.print(f"  {cell.id} is unavailable ({cell.unavailable[0]}): {cell.unavailable[1]}", soft_wrap=True)
    waiting = [cell for cell in (cells if fresh else unfinished(cells, entries)) if not cell.unavailable]
    wanted = [(cell, lock.load(cell)) for cell in waiting]
    absent = [cell for cell, pinned in wanted if environment.ready(cell, pinned) is None]
    if not absent:
        OUT.print("every environment that is needed is there: nothing to fetch")
        return
    size = environment.to_fetch(wanted) / 1e6
    OUT.print(f"{len(absent)} environments to make: up to {size:,.0f} MB to fetch, less what uv has in its cache")
    try:
        _, full = interpreter.find(cells[0].python)
        OUT.print(f"interpreter: CPython {full}", soft_wrap=True)
    except interpreter.NoInterpreter as error:
        OUT.print(f"[red]unavailable[/red]: {error}", soft_wrap=True)


def run_cell(cell: Cell, entries: Sequence[Entry], *, fresh: bool) -> None:
    """Run `entries` in `cell`; whatever goes wrong there is written down, and is the report's to tell."""
    with CellProgress(cell.id, OUT) as progress:
        run.run(cell, entries, fresh=fresh, progress=progress)


def bisect(
    name: str,
    package: str,
    holds: Sequence[str],
    between: Sequence[str] | None,
    *,
    find: Find | None,
    scan: bool,
    fresh: bool,
) -> Exit:
    """Find the release where a case changes, and say so; the exit code it deserves.

    Raises Misused for a question that cannot be meant, Failed where this machine cannot run a cell, BadFile, OSError.
    """
    from suite.bisect import session as hunt

    asked = hunt.question(name, package, holds, between)
    if scan:
        return hunt.scan(asked, fresh=fresh, console=OUT)
    return hunt.bisection(asked, find=find, fresh=fresh, console=OUT)


def run_on_cluster(scheduler: str, cells: Sequence[Cell], entries: Sequence[Entry], *, fresh: bool) -> None:
    """Run `entries` in `cells` on the workers of a Dask scheduler. Raises Failed where some did not run."""
    try:
        from suite.run import cluster  # on one machine nothing of it is needed
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
            raise
        wanted = "python -m pip install --constraint constraints.txt distributed"
        raise Failed(f"--scheduler needs Dask distributed, which is not installed here: `{wanted}`") from error
    cluster.run_cells(scheduler, cells, entries, fresh=fresh, console=OUT)


def recorded() -> tuple[Cell, ...]:
    """The cells that have been tried: of the plan, and stacks that somebody asked for. Raises Misused without any."""
    tried = records.cells_recorded()
    asked_for = [plan.stack(path.stem) for path in sorted(lock.ASKED_FOR.glob("*.txt"))]
    cells = tuple(cell for cell in (*plan.cells(), *asked_for) if cell.id in tried)
    if not cells:
        raise Misused("there are no records to report on: `nox -s compat` makes some")
    return cells


def report(
    cells: Sequence[Cell],
    entries: Sequence[Entry],
    folder: Path,
    planned: Sequence[Cell] = (),
    part: Shard | None = None,
) -> Exit:
    """Judge what was observed in `cells`, write it into `folder`, print it; the exit code it deserves.

    `planned` are the cells of the whole run, where `cells` are but one part of it.
    """
    # A cell starts sooner without the report's libraries, and there are many cells to a report.
    from suite.report.assemble import assemble

    return _publish(assemble(cells, entries, planned=planned, shard=part), folder)


def merge(shards: Sequence[Path], folder: Path) -> Exit:
    """Join the reports of shards into one in `folder`, and print it; the exit code it deserves. Raises BadFile."""
    from suite.report.merge import merge as joined

    return _publish(joined(shards), folder)


def _publish(made: Report, folder: Path) -> Exit:
    from suite.report.formats import terminal
    from suite.report.write import publish

    published = publish(made, folder)
    terminal.show(published, OUT)
    return exit_code(published)


def diff(old: Path, new: Path, shown_as: Format) -> Exit:
    """Say what the report in `new` shows that the one in `old` did not; 1 where something is worse. Raises BadFile."""
    from suite.report import diff as differences
    from suite.report.formats import diff as diff_formats

    before, now = (read(Report, path / "compat.json" if path.is_dir() else path) for path in (old, new))
    found = differences.diff(before, now)
    if shown_as == "terminal":
        diff_formats.show(found, OUT)
    else:
        text = diff_formats.markdown(found) if shown_as == "markdown" else diff_formats.as_json(found)
        # For a program or a file: as it is, whatever the width of the terminal.
        OUT.file.write(text)
    return differences.exit_code(found)


def rebuild(folder: Path) -> None:
    """Make every file beside the compat.json in `folder` anew. Raises BadFile, OSError."""
    from suite.report.write import rebuild as rebuilt

    for path in rebuilt(folder):
        OUT.print(str(path), markup=False, soft_wrap=True)


def write_locks() -> None:
    """Resolve every cell as of its day, and write the locks. Raises Failed once all have been tried."""
    cells = plan.cells()
    addresses = resolve(cells)
    for name in lock.prune({cell.lock_name for cell in cells}):
        OUT.print(f"{name} removed: its cell is no longer planned")
    lock.write_sizes(addresses)


def add_locks(cells: Sequence[Cell]) -> None:
    """Write the locks of these cells, and what their wheels weigh, beside those that are there. Raises Failed."""
    lock.write_sizes({**dict.fromkeys(lock.sizes(), ""), **resolve(cells)})


def resolve(cells: Sequence[Cell]) -> dict[str, str]:
    """Write the locks of `cells`; name==version → address of each wheel. Raises Failed once all have been tried."""
    failed: dict[str, str] = {}
    addresses: dict[str, str] = {}
    wanted = [cell for cell in cells if not cell.unavailable]
    # A resolver mostly waits for the index.
    with ThreadPoolExecutor(8) as pool:
        answers = {cell: pool.submit(lock.resolve, cell) for cell in wanted}
        for number, cell in enumerate(wanted, 1):
            try:
                text, wheels = answers[cell].result()
            except lock.Unresolvable as error:
                failed[cell.id] = str(error)
                OUT.print(f"[red]{cell.id} cannot be resolved[/red]: {escape(str(error))}", soft_wrap=True)
                continue
            addresses |= wheels
            changed = lock.write_lock(cell, text)
            OUT.print(f"{number}/{len(wanted)} {cell.id} {'written' if changed else 'unchanged'}")
    if failed:
        raise Failed(f"{len(failed)} of {len(wanted)} cells could not be resolved: {', '.join(failed)}")
    return addresses


def write_snapshot() -> None:
    """Read the index into releases.json, and say what is new. Raises Unreachable, BadFile."""
    from suite.stack import index

    known = releases.load() if releases.PATH.exists() else None
    taken = index.snapshot(known)
    releases.save(taken)
    for package, versions in taken.packages.items():
        new = [version for version in versions if known is None or version not in known.packages.get(package, {})]
        OUT.print(f"{package}: {len(versions)} releases, new: {', '.join(new) or 'none'}")
