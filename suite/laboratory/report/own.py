"""What a user ran: the cells with records, in words, and a report on the cases that were asked for."""

from __future__ import annotations

from collections.abc import Sequence

from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.stack import lock, plan, releases
from jax_stack_compat.stack.chosen import Rows
from jax_stack_compat.stack.plan import Cell
from laboratory.records import records
from laboratory.records.records import Asked
from laboratory.report.derive import derive
from laboratory.report.model import Report


def recorded() -> tuple[Cell, ...]:
    """Return the planned cells and users' own stacks that were run, without cells of bisections."""
    asked_for = [plan.stack(path.stem) for path in sorted(lock.ASKED_FOR.glob("*.txt"))]
    return tuple(cell for cell in (*plan.cells(), *asked_for) if asked_of(cell) not in (None, "bisection"))


def asked_of(cell: Cell) -> Asked | None:
    """Return the widest plan that ran a cell; None if nothing was run. Raises BadFile."""
    status = records.status(cell.id)
    return status.asked if status else None


def asked_only(made: Report, cells: Sequence[Cell]) -> Report:
    """Return the report without the cases that nobody asked for in these cells."""
    headlines = {issue.id: issue.cases[0].id for issue in made.issues}
    narrow: dict[str, set[str]] = {}
    for cell in cells:
        if (asked := asked_of(cell)) in ("chosen", "headlines"):
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


def named(cells: Sequence[Cell]) -> str:
    """Return the cells of a report as a phrase for people."""
    line = [cell for cell in cells if cell.kind == "line" and cell.tags]
    arms = [cell for cell in cells if cell.kind == "arm" and cell.tags]
    own = [cell.id for cell in cells if not cell.tags]
    told = [f"{len(line)} of the line, {line[0].id} to {line[-1].id}"] if len(line) > 1 else [each.id for each in line]
    told += [f"{len(arms)} of arms"] if len(arms) > 1 else [each.id for each in arms]
    told += [f"stacks of your own: {', '.join(own)}"] if own else []
    return f"{len(cells)} cell{'s' * (len(cells) != 1)}: {'; '.join(told)}"
