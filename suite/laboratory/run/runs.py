"""The run of a plan: the work left in its cells, what it will fetch, and the run here or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType

from rich.console import Console
from rich.text import Text

from jax_stack_compat.base.errors import BadFile, Failed, Fault
from jax_stack_compat.base.fields import this_moment
from jax_stack_compat.base.files import STATE
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell import machine
from jax_stack_compat.environments import interpreter
from jax_stack_compat.environments.progress import RunProgress, duration
from jax_stack_compat.judge.prediction import Name
from jax_stack_compat.stack import lock, plan
from jax_stack_compat.stack.chosen import Rows
from jax_stack_compat.stack.plan import Cell
from laboratory.records import records
from laboratory.records.records import Asked
from laboratory.records.seen import JudgedRecords, read_ahead, seen
from laboratory.records.work import Work, ask, planned
from laboratory.run import disk, environment
from laboratory.run.schedule import costs
from laboratory.run.schedule import scheduler as schedule


@contextmanager
def every_fault() -> Iterator[None]:
    """Replace a BadFile about one lock or record by one that lists all unusable locks and records."""
    try:
        yield
    except BadFile as error:
        found = dict.fromkeys([*_lock_faults(), *records.faults()])
        known = {each.path for each in found}
        raise BadFile([*(each for each in error.faults if each.path not in known), *found]) from error


def _lock_faults() -> Iterator[Fault]:
    for cell in plan.cells():
        try:
            lock.load(cell)
        except BadFile as error:
            yield from error.faults


@every_fault()
def left(cells: Sequence[Cell], entries: Sequence[Entry], rows: Rows, *, fresh: bool) -> list[Work]:
    """Return each cell's work, with its cases left to run. Raises BadFile with every fault in locks and records."""
    works = [planned(cell, catalogue.planned(entries, cell, rows), fresh=fresh) for cell in cells]
    if not fresh:
        read_ahead([(work.cell, work.pinned, work.cases) for work in works if work.cell.unavailable is None])
    return [ask(work) for work in works]


def not_in(evidence: JudgedRecords, works: Sequence[Work]) -> list[Work]:
    """Return these works without the cases of which `evidence` has a valid record. Raises BadFile."""
    asked: list[Work] = []
    for work in works:
        left = [both for both in work.left if seen(work.cell, *both, work.pinned, evidence) is None]
        asked.append(replace(work, left=left))
    return asked


def run(works: Sequence[Work], rows: Rows, scheduler: str | None, console: Console) -> None:
    """Run the cases left in these works, here or on the workers of a Dask scheduler."""
    if not works:
        return
    # Not after the first cell: a clock that is wrong fails each status.
    this_moment()
    asked: Asked = "all" if rows == "cases" else rows
    if scheduler:
        _on_cluster(scheduler, works, console)
        return
    with RunProgress(console, {work.cell.id: _seconds(work) for work in works}) as progress:
        schedule.run(works, progress.cell, asked=asked)


def _seconds(work: Work) -> dict[Name, float]:
    """Return the expected seconds of the cases left in a cell."""
    return costs.seconds((entry.issue.id, case.id) for entry, case in work.left)


def _on_cluster(scheduler: str, works: Sequence[Work], console: Console) -> None:
    try:
        from laboratory.run.spread import cluster  # only a cluster needs Dask
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
            raise
        wanted = "python -m pip install --constraint constraints.txt distributed"
        raise Failed(f"--scheduler needs Dask distributed, which is not installed here: `{wanted}`") from error
    cluster.run_cells(scheduler, works, console=console)


def tell_plan(
    asked: Sequence[Work],
    issues: int,
    issue: list[str],
    console: Console,
    *,
    named: bool,
    sizes: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """Print the number of cases to run, the time, the download and the disk space; if `named`, the cases of each cell.

    `sizes` has the bytes of wheels that are not in the tree yet.
    """
    total, open_ones = (sum(map(len, of)) for of in ([each.cases for each in asked], [each.left for each in asked]))
    gone = sum(len(each.cases) for each in asked if each.cell.unavailable)
    counts = {"to run": open_ones, "cached": total - open_ones - gone, "unavailable": gone}
    told = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    console.print(f"{len(asked)} cells, {total:,} observations: {told}", soft_wrap=True)
    if seconds := sum(sum(_seconds(each).values()) for each in asked):
        cores = machine.cores()
        took = duration(max(seconds / cores, 1.0))
        console.print(
            f"the cases take about {took} on {cores} core{'s' * (cores != 1)}, and the download as long as it takes",
            soft_wrap=True,
        )
    for each in asked:
        if each.cell.unavailable:
            console.print("  {} is unavailable ({}): {}".format(each.cell.id, *each.cell.unavailable), soft_wrap=True)
        elif named:
            every = len(each.entries) == issues and not issue
            which = "every issue" if every else ", ".join(entry.issue.id for entry in each.entries)
            console.print(Text.assemble((f"  {each.cell.id}", "bold"), f" {len(each.cases)}: {which}"), soft_wrap=True)
    wanted = [(each.cell, each.pinned) for each in asked if each.left]
    absent = [each for each in wanted if environment.ready(*each) is None]
    if not absent:
        console.print("all environments exist: nothing to fetch", soft_wrap=True)
        return
    size = environment.to_fetch(absent, sizes)
    fetched = f"up to {size / 1e6:,.0f} MB to fetch, less what uv has in its cache"
    console.print(f"{len(absent)} environments to make: {fetched}", soft_wrap=True)
    taken = disk.shown(disk.TAKEN * size)
    console.print(
        f"they will take about {taken} of disk space in {STATE}: `nox -s clean` frees the space", soft_wrap=True
    )
    try:
        _, full = interpreter.find(asked[0].cell.python)
        console.print(f"interpreter: CPython {full}", soft_wrap=True)
    except interpreter.NoInterpreter as error:
        console.print(Text.assemble(("unavailable", "red"), f": {error}"), soft_wrap=True)
