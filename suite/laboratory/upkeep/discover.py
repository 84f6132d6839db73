"""New releases since the snapshot, and the changes between each new cell and the cell before it.

This is a release day in one command: read the index, lock and run the new cells, compare with the last report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from packaging.version import Version
from rich.console import Console
from rich.text import Text

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import REPORTS, read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.stack import chosen, lock, plan, releases
from jax_stack_compat.stack import matrix as matrices
from jax_stack_compat.stack.matrix import Matrix
from jax_stack_compat.stack.plan import Cell
from jax_stack_compat.stack.releases import Snapshot
from laboratory.records.work import Work, ask
from laboratory.report.compare import CaseChange, change, told
from laboratory.report.model import CellRow, Observation, Report
from laboratory.report.summary import exit_code
from laboratory.run import runs, sizes
from laboratory.upkeep import locks

_YANKED = " (yanked since)"


def new_releases(known: Snapshot, taken: Snapshot) -> list[str]:
    """Return the releases that only `taken` has, and the releases yanked since `known`."""
    found = []
    for package, versions in taken.packages.items():
        before = known.packages.get(package, {})
        for version, release in versions.items():
            if version not in before:
                found.append(f"{package} {version}")
            elif release.yanked is not None and before[version].yanked is None:
                found.append(f"{package} {version}{_YANKED}")
    return found


def changes(last: Report, now: Report, added: Sequence[str]) -> list[CaseChange]:
    """Return the changes between each cell in `added` and the cell before it, as observed in `last` or `now`.

    The cell before is on the same arm or line, and moves the same package, one release back.
    """
    rows = {cell.id: cell for cell in (*last.cells, *now.cells)}
    seen = {(row.cell, row.issue, row.case): row for row in (*now.observations, *last.observations)}
    found = []
    for row in now.observations:
        before = seen.get((_before(rows[row.cell], rows), row.issue, row.case)) if row.cell in added else None
        changed = change(before, row) if before is not None else None
        if changed is not None and changed.kind != "undecided":
            found.append(changed)
    return found


def line(found: CaseChange) -> str:
    """Return a change in one line: `jax-0.12.1 wraps-lower-bypass/jit: ✗ bypassed → ◐ attribute-error`."""
    cell, issue, case = found.key
    return f"{cell} {issue}/{case}: {found} (since {found.before.cell if found.before else 'nothing'}, {found.kind})"


def _before(cell: CellRow, rows: Mapping[str, CellRow]) -> str:
    """Return the id of the cell one release before `cell`; empty for the first cell."""

    def version(row: CellRow) -> Version:
        return Version(row.holds[cell.moves])

    # The cells that differ from this one by the release of the moving package alone.
    alike = [row for row in rows.values() if row.kind == cell.kind and cell.moves in row.holds]
    alike = [row for row in alike if {**row.holds, cell.moves: cell.holds[cell.moves]} == cell.holds]
    earlier = [row for row in alike if version(row) < version(cell)]
    return max(earlier, key=version).id if earlier else ""


def carry_out(*, forget: bool, plan: bool, console: Console) -> Exit:
    """Read the index; lock the new cells, run all issues in them, and compare; return the exit code."""
    return discover(catalogue.entries(), console, forget=forget, only_plan=plan) or catalogue.complete()


def discover(entries: Sequence[Entry], console: Console, *, forget: bool = False, only_plan: bool = False) -> Exit:
    """Read the index; lock, run and compare the new cells; return the exit code.

    Releases that the index no longer has are dropped only with `forget`. With `only_plan`, print what would be run, and
    write nothing. Raises Unreachable, Failed, BadFile.
    """
    from laboratory.upkeep import index  # slow to import

    known = releases.load()
    planned = {cell.id for cell in plan.cells()}
    taken = index.snapshot(known, forget=forget)
    new = new_releases(known, taken)
    lost = index.lost(known, taken)
    for release in lost:
        console.print(f"forgotten: {release}", soft_wrap=True)
    if not new and not lost:
        console.print(f"nothing is new since {known.taken_at:%Y-%m-%d %H:%M} UTC")
        return Exit.AS_EXPECTED
    console.print(f"new since {known.taken_at:%Y-%m-%d %H:%M} UTC: {', '.join(new) or 'nothing'}", soft_wrap=True)
    matrix = read(Matrix, matrices.PATH)
    added = [cell for cell in plan.plan(matrix, taken, chosen.load().rows) if cell.id not in planned]
    if only_plan:
        tell_plan(added, entries, console)
        return Exit.AS_EXPECTED
    # The locks go into the tree before the snapshot, so that a rerun after an interruption finds the same new cells.
    sizes.save({**sizes.load(), **locks.resolve(added, console)})
    releases.save(taken)
    plan.cells.cache_clear()
    if (first := newest(added)) is not None:
        answer(first, entries, console)
    # Records and statuses keep all failures for the report.
    runs.run(runs.left(added, entries, "cases", fresh=False), "cases", None, console)
    gone = planned - {cell.id for cell in plan.cells()}
    if gone:
        console.print(
            f"no longer planned: {', '.join(sorted(gone))}; `nox -s lock` removes their locks", soft_wrap=True
        )
    if not added:
        only_yanked = all(line.endswith(_YANKED) for line in new)
        yanked, rest = "no release is new, and yanked releases are not run again", "no new release has a cell"
        console.print(f"{yanked if only_yanked else rest}, so there is nothing to run")
        return Exit.AS_EXPECTED
    return compare(added, entries, console)


def tell_plan(added: Sequence[Cell], entries: Sequence[Entry], console: Console) -> None:
    """Print the cases of the new cells, with their time, download and disk space. Raises Failed, BadFile."""
    texts: dict[str, str] = {}

    def put(cell: Cell, text: str) -> str:
        texts[cell.id] = text
        return "resolved"

    sizes_of = locks.resolve(added, console, put)
    works = [_planned(cell, entries, texts.get(cell.id, "")) for cell in added]
    runs.tell_plan(works, len(entries), [], console, named=True, sizes=sizes_of)
    console.print("nothing was written or run: `nox -s discover` does it")


def _planned(cell: Cell, entries: Sequence[Entry], text: str) -> Work:
    of_cell = catalogue.planned(entries, cell, "cases")
    cases = [(entry, case) for entry in of_cell for case in entry.cases(cell)]
    return ask(Work(cell, of_cell, lock.parse(text, lock.path_of(cell)), cases))


def newest(added: Sequence[Cell]) -> Cell | None:
    """Return the line's cell with the newest release, which can be run; None without any."""
    line = [cell for cell in added if cell.kind == "line" and cell.unavailable is None]
    return max(line, key=lambda cell: cell.as_of, default=None)


def answer(cell: Cell, entries: Sequence[Entry], console: Console) -> None:
    """Run what everybody waits for, and print it: whether the newest stack imports, trains and solves."""
    from laboratory.report.assemble import assemble

    first = [entry for entry in entries if entry.issue.row_zero]
    runs.run(runs.left([cell], first, "headlines", fresh=False), "headlines", None, console)
    rows = assemble([cell], first).observations
    console.print(Text(works(cell.id, rows), "bold"), soft_wrap=True)
    for row in rows:
        console.print(f"    {row.issue}/{row.case}: {told(row)} {row.detail}".rstrip(), markup=False, soft_wrap=True)


def works(cell: str, rows: Sequence[Observation]) -> str:
    """Return whether a stack works, by its observations of row zero, in a sentence."""
    if not rows or any(row.verdict in ("not-run", "error", "flaky", "unavailable") for row in rows):
        return f"{cell}: it is not known whether it imports, trains and solves"
    good = all(row.verdict == "clear" for row in rows)
    return f"{cell} imports, trains and solves" if good else f"{cell} does not import, train or solve as it should"


def compare(added: Sequence[Cell], entries: Sequence[Entry], console: Console) -> Exit:
    """Write a report on the cells `added` to reports/latest, and print their changes from the cell before each."""
    from laboratory.report.assemble import assemble
    from laboratory.report.folder.write import write
    from laboratory.report.formats import terminal
    from laboratory.report.published import published

    report = assemble(added, entries)
    write(report, REPORTS / "latest")
    terminal.show(report, console)
    found = changes(published(), report, [cell.id for cell in added])
    console.print()
    for changed in found:
        console.print(line(changed), soft_wrap=True)
        console.print(f"    {changed.now.detail if changed.now else ''}", soft_wrap=True)
    many = f"{len(added)} new cell{'s' * (len(added) != 1)}"
    console.print(
        f"{many}: {len(found)} of {len(report.observations)} observations differ from the release before; "
        "commit suite/jax_stack_compat/stack, and run `nox -s publish` for the whole report",
        soft_wrap=True,
    )
    return exit_code(report)
