"""The functions of the commands, called after `laboratory.cli.command_line` has parsed the arguments.

Each function returns its exit code, and raises BadFile, Failed, Misused or OSError. A function imports what only its
command needs, so that a run starts without the libraries of a report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from jax_stack_compat.base.console import OUT
from jax_stack_compat.base.errors import BadFile, Exit, Failed, Fault, Misused
from jax_stack_compat.base.files import STATE, replace_all
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.check import knowledge
from jax_stack_compat.environments import interpreter
from jax_stack_compat.environments.progress import RunProgress
from jax_stack_compat.stack import lock, releases
from jax_stack_compat.stack import plan as plans
from jax_stack_compat.stack.chosen import Rows
from jax_stack_compat.stack.plan import Cell
from laboratory.records import archive, records
from laboratory.records.records import Asked
from laboratory.records.seen import read_ahead
from laboratory.records.work import Work, ask, planned
from laboratory.run import disk, environment
from laboratory.run.schedule import scheduler as schedule
from laboratory.run.spread import shard
from laboratory.run.spread.shard import Shard

if TYPE_CHECKING:
    from laboratory.report.model import Report


@contextmanager
def _every_fault() -> Iterator[None]:
    """Replace a BadFile about one lock or record by one that lists all unusable locks and records."""
    try:
        yield
    except BadFile as error:
        found = dict.fromkeys([*_lock_faults(), *records.faults()])
        known = {each.path for each in found}
        raise BadFile([*(each for each in error.faults if each.path not in known), *found]) from error


def _lock_faults() -> Iterator[Fault]:
    for cell in plans.cells():
        try:
            lock.load(cell)
        except BadFile as error:
            yield from error.faults


def _tagged(tag: str, entries: Sequence[Entry], rows: Rows) -> tuple[Cell, ...]:
    """Return the cells with this tag that have cases in these rows."""
    return tuple(cell for cell in plans.tagged(tag) if catalogue.planned(entries, cell, rows))


@_every_fault()
def left(cells: Sequence[Cell], entries: Sequence[Entry], rows: Rows, *, fresh: bool) -> list[Work]:
    """Return each cell's work, with its cases left to run. Raises BadFile with every fault in locks and records."""
    works = [planned(cell, catalogue.planned(entries, cell, rows), fresh=fresh) for cell in cells]
    if not fresh:
        read_ahead([(work.cell, work.pinned, work.cases) for work in works if work.cell.unavailable is None])
    return [ask(work) for work in works]


def rows_of(tag: str | None, rows: Rows | None) -> Rows:
    """Return `rows`, or the default rows for cells with this tag."""
    return rows or ("chosen" if tag == "default" else "cases")


def selected(issue: list[str], rows: Rows) -> tuple[Entry, ...]:
    """Return the issues with these ids, or all issues, with the cases that `rows` selects."""
    return catalogue.select(issue, headlines=rows != "cases")


def share(cells: Sequence[Cell], part: Shard | None) -> tuple[Cell, ...]:
    """Return the cells of one shard, or all cells without a shard.

    Shards are divided by the cells' costs in the published report. Raises Misused if the shard is empty, and BadFile.
    """
    if part is None:
        return tuple(cells)
    found = shard.shard(cells, shard.costs(cells, measured()), part.part, part.parts)
    if not found:
        raise Misused(f"nothing is left for shard {part}: there are only {len(cells)} cells")
    return found


def measured() -> Mapping[str, float]:
    """Return the seconds of each cell in the published report. Raises BadFile."""
    from laboratory.report.published import published

    seconds: dict[str, float] = {}
    for each in published().observations:
        if each.attempts:
            seconds[each.cell] = seconds.get(each.cell, 0.0) + each.seconds
    return seconds


def compat(
    tag: str,
    shard: Shard | None,
    issue: list[str],
    scheduler: str | None,
    to: Path,
    *,
    rows: Rows | None,
    fresh: bool,
    plan: bool,
    verbose: bool,
) -> Exit:
    """Run the cases left in the cells with this tag, and report on all; with `plan`, only print the plan."""
    wanted = rows_of(tag, rows)
    entries = selected(issue, wanted)
    cells = share(_tagged(tag, entries, wanted), shard)
    asked = left(cells, entries, wanted, fresh=fresh)
    _tell_plan(asked, len(entries), issue, named=plan)
    if plan:
        return catalogue.complete(issue)
    _run([each for each in asked if each.left], wanted, scheduler)
    return report((), tag, issue, shard, to, rows=rows, verbose=verbose)


def _tell_plan(asked: Sequence[Work], issues: int, issue: list[str], *, named: bool) -> None:
    """Print the number of cases to run, the download and the disk space; if `named`, also the cases of each cell."""
    total, open_ones = (sum(map(len, of)) for of in ([each.cases for each in asked], [each.left for each in asked]))
    gone = sum(len(each.cases) for each in asked if each.cell.unavailable)
    counts = {"to run": open_ones, "cached": total - open_ones - gone, "unavailable": gone}
    told = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    OUT.print(f"{len(asked)} cells, {total:,} observations: {told}", soft_wrap=True)
    for each in asked:
        if each.cell.unavailable:
            OUT.print("  {} is unavailable ({}): {}".format(each.cell.id, *each.cell.unavailable), soft_wrap=True)
        elif named:
            every = len(each.entries) == issues and not issue
            which = "every issue" if every else ", ".join(entry.issue.id for entry in each.entries)
            OUT.print(Text.assemble((f"  {each.cell.id}", "bold"), f" {len(each.cases)}: {which}"), soft_wrap=True)
    wanted = [(each.cell, each.pinned) for each in asked if each.left]
    absent = [each for each in wanted if environment.ready(*each) is None]
    if not absent:
        OUT.print("all environments exist: nothing to fetch", soft_wrap=True)
        return
    size = environment.to_fetch(absent)
    fetched = f"up to {size / 1e6:,.0f} MB to fetch, less what uv has in its cache"
    OUT.print(f"{len(absent)} environments to make: {fetched}", soft_wrap=True)
    taken = disk.shown(disk.TAKEN * size)
    OUT.print(f"they will take about {taken} of disk space in {STATE}: `nox -s clean` frees the space", soft_wrap=True)
    try:
        _, full = interpreter.find(asked[0].cell.python)
        OUT.print(f"interpreter: CPython {full}", soft_wrap=True)
    except interpreter.NoInterpreter as error:
        OUT.print(Text.assemble(("unavailable", "red"), f": {error}"), soft_wrap=True)


def _run(works: Sequence[Work], rows: Rows, scheduler: str | None) -> None:
    """Run the cases left in these works, here or on the workers of a Dask scheduler."""
    if not works:
        return
    asked: Asked = "all" if rows == "cases" else rows
    if scheduler:
        _on_cluster(scheduler, works)
        return
    with RunProgress(OUT) as progress:
        schedule.run(works, progress.cell, asked=asked)


def _on_cluster(scheduler: str, works: Sequence[Work]) -> None:
    try:
        from laboratory.run.spread import cluster  # only a cluster needs Dask
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
            raise
        wanted = "python -m pip install --constraint constraints.txt distributed"
        raise Failed(f"--scheduler needs Dask distributed, which is not installed here: `{wanted}`") from error
    cluster.run_cells(scheduler, works, console=OUT)


def run_all(cells: Sequence[Cell], entries: Sequence[Entry]) -> None:
    """Run the cases of `entries` left in `cells`. Records and statuses keep all failures for the report."""
    _run(left(cells, entries, "cases", fresh=False), "cases", None)


@_every_fault()
def record(cells: Sequence[Cell], issue: list[str], scheduler: str | None, *, rows: Rows | None, fresh: bool) -> None:
    """Run issues in `cells`, here or on the workers of a Dask scheduler."""
    wanted = rows_of(None, rows)
    entries = selected(issue, wanted)
    # Report unreadable records before the first cell runs.
    _run(left(cells, entries, wanted, fresh=fresh), wanted, scheduler)


def run(cells: Sequence[Cell], issue: list[str], scheduler: str | None, *, rows: Rows | None, fresh: bool) -> Exit:
    """Run issues in `cells`, and print the results, the worst first. No report is written."""
    from laboratory.report.assemble import assemble
    from laboratory.report.formats import one_stack
    from laboratory.report.summary import exit_code, last_line

    entries = selected(issue, rows_of(None, rows))
    with _every_fault():
        _foretell([cell for cell in cells if not cell.tags], entries)
    record(cells, issue, scheduler, rows=rows, fresh=fresh)
    found = assemble(cells, entries)
    one_stack.show(found, found.cells, OUT)
    OUT.print()
    OUT.print(last_line(found), style="bold", soft_wrap=True)
    return _of_named(cells, exit_code(found)) or catalogue.complete(issue)


def _of_named(cells: Iterable[Cell], code: Exit) -> Exit:
    """Return `code`; if a cell that the user named is unavailable, return INCOMPLETE instead of success."""
    return Exit.INCOMPLETE if code is Exit.AS_EXPECTED and any(cell.unavailable for cell in cells) else code


def _foretell(cells: Sequence[Cell], entries: Sequence[Entry]) -> None:
    """Before a run, print the expected results of cells without observations."""
    from laboratory.report.assemble import assemble
    from laboratory.report.formats import one_stack

    made = assemble(cells, entries)
    seen = {each.cell for each in made.observations if each.attempts}
    if unseen := [row for row in made.cells if row.id not in seen]:
        one_stack.show(made, unseen, OUT, knowledge.load())


def renew_threads() -> None:
    """Look up the states of the threads that issues and refuted claims name."""
    from laboratory.sources.threads import references, refuted
    from laboratory.upkeep import threads

    threads.renew(references((each.issue for each in catalogue.entries()), refuted()), OUT)


def publish_names(*, fresh: bool) -> None:
    """Collect the names of releases, and the names that the stack's own packages need."""
    from laboratory.collect import names as collect
    from laboratory.collect import released

    collect.publish(fresh=fresh, console=OUT)
    released.publish(console=OUT)


def build_line() -> None:
    """Build the release line, prepare this machine for asv, and print an asv command."""
    from laboratory.timings import asv_call, release_line

    built = release_line.build(release_line.commits(), release_line.PATH)
    OUT.print(f"{release_line.PATH}: {'built' if built else 'unchanged'}", soft_wrap=True)
    command = asv_call.prepare_plain()
    OUT.print("This command measures two releases with asv, and changes nothing in the tree:", soft_wrap=True)
    OUT.print(command, soft_wrap=True)


def _recorded() -> tuple[Cell, ...]:
    """Return the planned cells and users' own stacks that were run, without cells of bisections."""
    asked_for = [plans.stack(path.stem) for path in sorted(lock.ASKED_FOR.glob("*.txt"))]
    return tuple(cell for cell in (*plans.cells(), *asked_for) if _asked(cell) not in (None, "bisection"))


def _asked(cell: Cell) -> Asked | None:
    status = records.status(cell.id)
    return status.asked if status else None


@_every_fault()
def report(
    cells: Sequence[Cell],
    tag: str | None,
    issue: list[str],
    shard: Shard | None,
    to: Path,
    *,
    rows: Rows | None,
    verbose: bool,
    published: bool = False,
) -> Exit:
    """Judge observations, write the report to `to`, and print it; return the exit code.

    The report is about `cells` or the cells with a tag; without these, about all cells that were run. It is the
    published report if asked for, or if nothing was run here. Print one screen; with `verbose`, print everything; for
    named issues, print a line for each case. With a `shard`, report on its cells only. In a cell that ran only its
    headlines, other cases count as unplanned, unless the user names the cell or one of its tags.
    """
    from laboratory.report import published as of_records
    from laboratory.report.assemble import assemble
    from laboratory.report.formats import one_stack

    wanted = rows_of(tag, rows)
    planned = tuple(cells) or _tagged(tag or "", selected(issue, wanted), wanted) or _recorded()
    if published or not (planned or issue):
        return _write_published(of_records.published(), to, verbose=verbose)
    if not planned:
        raise Misused("there are no records to report on: `nox -s compat` makes some")
    if not tag and not cells and "all" not in {_asked(cell) for cell in planned}:
        # No cell ran more than headlines, so the other cases count as unplanned.
        wanted = "headlines"
    if not tag:
        OUT.print(f"About {_named(planned)}.", soft_wrap=True)
    some = share(planned, shard)
    made = assemble(some, selected(issue, wanted), planned=planned, shard=shard, rows=wanted)
    if not tag and not cells:
        made = _asked_only(made, some)
    if own := [cell.id for cell in some if not cell.tags]:
        one_stack.show(made, [row for row in made.cells if row.id in own], OUT, knowledge.load())
    code = _of_named(cells, _publish(made, to, cases=bool(issue), verbose=verbose))
    if tag and wanted != "cases":
        more = {
            "chosen": "Each behaviour of a headline was run once: "
            "`-- --all-headlines` runs each headline on each release, "
        }
        told = more.get(wanted, "Only the headline of each issue was run: ")
        OUT.print(f"{told}`-- --all-cases` every case.", soft_wrap=True)
    return code or catalogue.complete(issue)


def _asked_only(made: Report, cells: Sequence[Cell]) -> Report:
    from laboratory.report.derive import derive

    headlines = {issue.id: issue.cases[0].id for issue in made.issues}
    narrow: dict[str, set[str]] = {}
    for cell in cells:
        if (asked := _asked(cell)) in ("chosen", "headlines"):
            rows: Rows = "chosen" if asked == "chosen" else "headlines"
            narrow[cell.id] = {entry.issue.id for entry in catalogue.planned(catalogue.entries(), cell, rows)}
    if not narrow:
        return made
    kept = [
        each
        for each in made.observations
        if each.cell not in narrow
        or each.verdict != "not-run"
        or (each.issue in narrow[each.cell] and each.case == headlines[each.issue])
    ]
    made = made.model_copy(update={"observations": kept})
    return derive(made, releases.load().packages, lock.jax_line())


def _named(cells: Sequence[Cell]) -> str:
    """Return the cells of a report as a phrase for people."""
    line = [cell for cell in cells if cell.kind == "line" and cell.tags]
    arms = [cell for cell in cells if cell.kind == "arm" and cell.tags]
    own = [cell.id for cell in cells if not cell.tags]
    told = [f"{len(line)} of the line, {line[0].id} to {line[-1].id}"] if len(line) > 1 else [each.id for each in line]
    told += [f"{len(arms)} of arms"] if len(arms) > 1 else [each.id for each in arms]
    told += [f"stacks of your own: {', '.join(own)}"] if own else []
    return f"{len(cells)} cell{'s' * (len(cells) != 1)}: {'; '.join(told)}"


def merge(shards: Sequence[Path], to: Path, *, verbose: bool) -> Exit:
    """Join the reports of shards in `to`, and print the report."""
    from laboratory.report.merge import merge as joined

    return _publish(joined(shards), to, verbose=verbose)


def publish(scheduler: str | None, to: Path, *, fresh: bool, run: bool, verbose: bool) -> Exit:
    """Run every cell, pack the records, and write every file that follows from them; with `run` off, run nothing."""
    from laboratory.report.published import pack
    from laboratory.report.summary import lacking_pythons

    # Cases with a record in the published report are not run again.
    archive.unpack()
    if run:
        cells, entries = plans.tagged("full"), selected([], "cases")
        _run([each for each in left(cells, entries, "cases", fresh=fresh) if each.left], "cases", scheduler)
    report = pack()
    if told := lacking_pythons(report):
        # Few machines have all Pythons. The report still has the results of other machines for these Pythons.
        OUT.print(told, soft_wrap=True)
    _renew(report)
    return _write_published(report, to, verbose=verbose)


def rebuild() -> None:
    """Rewrite the tracked files that follow from the packed records, without running a case or packing a record."""
    from laboratory.report.published import published

    _renew(published())


def _renew(report: Report) -> None:
    from laboratory.report.published import FOLDER, tracked
    from laboratory.upkeep import choose, readme

    replace_all(FOLDER, tracked(report))
    readme.renew(report)
    choose.write_all(report)


def _write_published(made: Report, to: Path, *, verbose: bool) -> Exit:
    """Write the published report to a folder, print it, and return its exit code."""
    from laboratory.report import published
    from laboratory.report.formats import terminal
    from laboratory.report.write import write

    write(made, to, whole=True)
    OUT.print(f"About the published records. The report: {to / 'index.html'}", soft_wrap=True)
    terminal.show(made, OUT, verbose=verbose)
    return published.code(made)


def _publish(made: Report, folder: Path, *, cases: bool = False, verbose: bool = False) -> Exit:
    from laboratory.report.formats import terminal
    from laboratory.report.summary import exit_code
    from laboratory.report.write import publish

    published = publish(made, folder)
    OUT.print(f"\nThe report: {folder / 'index.html'}", soft_wrap=True)
    terminal.show(published, OUT, cases=cases, verbose=verbose)
    return exit_code(published)


def diff(old: Path, new: Path, format: str, *, strict: bool) -> Exit:
    """Print how the report in `new` differs from the one in `old`; return 1 if something is worse.

    With `strict`, return 1 also if an observation is missing or undecided.
    """
    from laboratory.report import compare
    from laboratory.report.formats import diff as diff_formats
    from laboratory.report.stored import read_report

    before, now = map(read_report, (old, new))
    found = compare.diff(before, now)
    if format == "terminal":
        diff_formats.show(found, OUT)
    else:
        text = diff_formats.markdown(found) if format == "markdown" else diff_formats.as_json(found)
        # A program or a file reads this text, so print it unwrapped.
        OUT.file.write(text)
    return compare.exit_code(found, strict=strict)


def clean() -> None:
    """Remove the environments and the store of packages, and print the freed disk space. Raises Failed, OSError."""
    freed = disk.clean()
    for cell in freed.kept:
        OUT.print(f"kept the environment of {cell}: another run is using it", soft_wrap=True)
    if not (freed.bytes or freed.environments):
        OUT.print(f"nothing to free in {STATE}: {'no other' if freed.kept else 'no'} environments", soft_wrap=True)
        return
    removed = f"{freed.environments} environment{'s' * (freed.environments != 1)} and the store of packages"
    OUT.print(f"freed about {disk.shown(freed.bytes)}: {removed}. Records and reports are kept.", soft_wrap=True)


def write_locks() -> None:
    """Resolve every cell as of its day, and write the locks. Raises Failed after all cells were tried."""
    cells = plans.cells()
    sizes = resolve(cells)
    for name in lock.prune({cell.lock_name for cell in cells}):
        OUT.print(f"{name} removed: its cell is no longer planned")
    lock.write_sizes(sizes)


def resolve(cells: Sequence[Cell]) -> dict[str, int]:
    """Write the locks of `cells`; return the bytes of wheels by name==version. Raises Failed after all were tried."""
    failed: dict[str, str] = {}
    sizes: dict[str, int] = {}
    wanted = [cell for cell in cells if not cell.unavailable]
    # A resolver mostly waits for the index.
    with ThreadPoolExecutor(8) as pool:
        answers = {cell: pool.submit(lock.resolve, cell) for cell in wanted}
        for number, cell in enumerate(wanted, 1):
            try:
                text, found = answers[cell].result()
            except lock.Unresolvable as error:
                failed[cell.id] = str(error)
                OUT.print(Text.assemble((f"{cell.id} cannot be resolved", "red"), f": {error}"), soft_wrap=True)
                continue
            sizes |= found
            changed = lock.write_lock(cell, text)
            OUT.print(f"{number}/{len(wanted)} {cell.id} {'written' if changed else 'unchanged'}")
    if failed:
        raise Failed(f"{len(failed)} of {len(wanted)} cells could not be resolved: {', '.join(failed)}")
    return sizes


def write_snapshot(*, forget: bool) -> None:
    """Read the index into releases.json, and print the new releases. Raises BadFile, Unreachable, Failed.

    Releases that the index no longer has are dropped only with `forget`.
    """
    from laboratory.upkeep import index

    known = releases.load() if releases.PATH.exists() else None
    taken = index.snapshot(known, forget=forget)
    releases.save(taken)
    for gone in index.lost(known, taken) if known else ():
        OUT.print(f"forgotten: {gone}", soft_wrap=True)
    for package, versions in taken.packages.items():
        new = [version for version in versions if known is None or version not in known.packages.get(package, {})]
        OUT.print(f"{package}: {len(versions)} releases, new: {', '.join(new) or 'none'}")
