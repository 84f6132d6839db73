"""The functions of the commands, called after the command line has been parsed.

Each function returns its exit code, and raises BadFile, Failed, Misused or OSError. A function imports what only its
command needs, so that a run starts without the libraries of a report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jax_stack_compat.base.console import OUT
from jax_stack_compat.base.errors import Exit, Misused
from jax_stack_compat.base.files import replace_all
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.check import knowledge
from jax_stack_compat.stack import plan as plans
from jax_stack_compat.stack.chosen import Rows
from jax_stack_compat.stack.plan import Cell
from laboratory.records import archive
from laboratory.records.packed import Packed
from laboratory.run import runs
from laboratory.run.spread import shard
from laboratory.run.spread.shard import Shard

if TYPE_CHECKING:
    from laboratory.report.model import Report


def _tagged(tag: str, entries: Sequence[Entry], rows: Rows) -> tuple[Cell, ...]:
    """Return the cells with this tag that have cases in these rows."""
    return tuple(cell for cell in plans.tagged(tag) if catalogue.planned(entries, cell, rows))


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
    from laboratory.report.published import seconds_of_cells

    if part is None:
        return tuple(cells)
    found = shard.shard(cells, shard.costs(cells, seconds_of_cells()), part.part, part.parts)
    if not found:
        raise Misused(f"nothing is left for shard {part}: there are only {len(cells)} cells")
    return found


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
    asked = runs.left(cells, entries, wanted, fresh=fresh)
    runs.tell_plan(asked, len(entries), issue, OUT, named=plan)
    if plan:
        return catalogue.complete(issue)
    runs.run([each for each in asked if each.left], wanted, scheduler, OUT)
    return report((), tag, issue, shard, to, rows=rows, verbose=verbose)


@runs.every_fault()
def record(cells: Sequence[Cell], issue: list[str], scheduler: str | None, *, rows: Rows | None, fresh: bool) -> None:
    """Run issues in `cells`, here or on the workers of a Dask scheduler."""
    wanted = rows_of(None, rows)
    entries = selected(issue, wanted)
    # Report unreadable records before the first cell runs.
    runs.run(runs.left(cells, entries, wanted, fresh=fresh), wanted, scheduler, OUT)


def run(cells: Sequence[Cell], issue: list[str], scheduler: str | None, *, rows: Rows | None, fresh: bool) -> Exit:
    """Run issues in `cells`, and print the results, the worst first. No report is written."""
    from laboratory.report.assemble import assemble
    from laboratory.report.formats import one_stack
    from laboratory.report.summary import exit_code, last_line

    entries = selected(issue, rows_of(None, rows))
    with runs.every_fault():
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


@runs.every_fault()
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
    from laboratory.report import own
    from laboratory.report import published as of_records
    from laboratory.report.assemble import assemble
    from laboratory.report.formats import one_stack

    wanted = rows_of(tag, rows)
    planned = tuple(cells) or _tagged(tag or "", selected(issue, wanted), wanted) or own.recorded()
    if published or not (planned or issue):
        return _write_published(of_records.published(), to, verbose=verbose)
    if not planned:
        raise Misused("there are no records to report on: `nox -s compat` makes some")
    if not tag and not cells and "all" not in {own.asked_of(cell) for cell in planned}:
        # No cell ran more than headlines, so the other cases count as unplanned.
        wanted = "headlines"
    if not tag:
        OUT.print(f"About {own.named(planned)}.", soft_wrap=True)
    some = share(planned, shard)
    made = assemble(some, selected(issue, wanted), planned=planned, shard=shard, rows=wanted)
    if not tag and not cells:
        made = own.asked_only(made, some)
    if unplanned := [cell.id for cell in some if not cell.tags]:
        one_stack.show(made, [row for row in made.cells if row.id in unplanned], OUT, knowledge.load())
    code = _of_named(cells, _publish(made, to, cases=bool(issue), verbose=verbose))
    if tag and wanted != "cases":
        more = {
            "chosen": "Each behaviour of a headline was run once: "
            "`-- --all-headlines` runs each headline on each release, "
        }
        told = more.get(wanted, "Only the headline of each issue was run: ")
        OUT.print(f"{told}`-- --all-cases` every case.", soft_wrap=True)
    return code or catalogue.complete(issue)


def merge(shards: Sequence[Path], to: Path, *, verbose: bool) -> Exit:
    """Join the reports of shards in `to`, and print the report; or bring results of orders home."""
    from laboratory.orders import home
    from laboratory.report.merge import merge as joined

    if home.are_archives(shards):
        home.bring_home(shards)
        return Exit.AS_EXPECTED
    return _publish(joined(shards), to, verbose=verbose)


def publish(scheduler: str | None, to: Path, *, fresh: bool, run: bool, plan: bool, verbose: bool) -> Exit:
    """Run every cell, pack the records, and write every file that follows from them.

    With `run` off, run nothing; with `plan`, only print the plan, and write nothing.
    """
    from laboratory.report.published import pack, published
    from laboratory.upkeep import elsewhere

    cells, entries = plans.tagged("full"), selected([], "cases")
    if plan:
        works = runs.left(cells, entries, "cases", fresh=fresh)
        asked = works if fresh else runs.not_in(Packed(), works)
        runs.tell_plan(asked, len(entries), [], OUT, named=False)
        return Exit.AS_EXPECTED
    # Cases with a record in the published report are not run again.
    archive.unpack()
    if run:
        works = runs.left(cells, entries, "cases", fresh=fresh)
        runs.run([work for work in works if work.left], "cases", scheduler, OUT)
    report = pack()
    if run:
        elsewhere.renew(report, catalogue.entries())
        report = published()
    _renew(report)
    return _write_published(report, to, verbose=verbose)


def rebuild() -> None:
    """Rewrite the tracked files that follow from the packed records, without running a case or packing a record."""
    from laboratory.report.published import published

    _renew(published())


def _renew(report: Report) -> None:
    from laboratory.cli import readme
    from laboratory.report.published import FOLDER, tracked
    from laboratory.upkeep import choose

    replace_all(FOLDER, tracked(report))
    readme.renew(report)
    choose.write_all(report)


def _write_published(made: Report, to: Path, *, verbose: bool) -> Exit:
    """Write the published report to a folder, print it, and return its exit code."""
    from laboratory.report import published
    from laboratory.report.folder.write import write
    from laboratory.report.formats import terminal

    write(made, to, whole=True)
    OUT.print(f"About the published records. The report: {to / 'index.html'}", soft_wrap=True)
    terminal.show(made, OUT, verbose=verbose)
    return published.code(made)


def _publish(made: Report, folder: Path, *, cases: bool = False, verbose: bool = False) -> Exit:
    from laboratory.report.folder.write import publish
    from laboratory.report.formats import terminal
    from laboratory.report.summary import exit_code

    published = publish(made, folder)
    OUT.print(f"\nThe report: {folder / 'index.html'}", soft_wrap=True)
    terminal.show(published, OUT, cases=cases, verbose=verbose)
    return exit_code(published)


def diff(old: Path, new: Path, format: str, *, strict: bool) -> Exit:
    """Print how the report in `new` differs from the one in `old`; return 1 if something is worse.

    With `strict`, return 1 also if an observation is missing or undecided.
    """
    from laboratory.report import compare
    from laboratory.report.folder.compat_json import read_report
    from laboratory.report.formats import diff as diff_formats

    before, now = map(read_report, (old, new))
    found = compare.diff(before, now)
    if format == "terminal":
        diff_formats.show(found, OUT)
    else:
        text = diff_formats.markdown(found) if format == "markdown" else diff_formats.as_json(found)
        # A program or a file reads this text, so print it unwrapped.
        OUT.file.write(text)
    return compare.exit_code(found, strict=strict)
