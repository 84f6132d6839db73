"""The requirements that metadata lacks to agree with the runs, from all rows of stacks. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jax_stack_compat.base.spelling import specifiers
from jax_stack_compat.judge.metadata import simplest
from laboratory.report.model import AmendmentRow, StackRow


@dataclass(frozen=True)
class MissingBound:
    """A release's missing bound on one dependency, joined from all rows of stacks that suggest it.

    `requirement` is the whole requirement, declared and lacking, as in a list of dependencies.
    """

    said: AmendmentRow
    requirement: str
    by_run: bool
    evidence: list[str]
    cells: list[str]


def missing_bounds(stacks: Iterable[StackRow]) -> list[MissingBound]:
    """Return the missing bounds that the rows show, equal ones joined."""
    alike: dict[tuple[str, ...], list[AmendmentRow]] = {}
    for row in (amendment for stack in stacks for amendment in stack.amendments):
        # `came_with` names what else moved.
        key = (row.kind, row.package or "", row.version, row.dependency, row.specifier, row.came_with)
        alike.setdefault(key, []).append(row)
    return [_joined(rows) for rows in alike.values()]


def _joined(rows: list[AmendmentRow]) -> MissingBound:
    first = rows[0]
    return MissingBound(
        first,
        f"{first.dependency}{_both(first.declared or '', first.specifier)}",
        any(row.grounds == "run" for row in rows),
        list(dict.fromkeys(reference for row in rows for reference in row.evidence)),
        list(dict.fromkeys(cell for row in rows for cell in row.cells)),
    )


def _both(declared: str, lacks: str) -> str:
    """Return two specifiers as one; joined unchanged if a report from outside has one that cannot be parsed."""
    together = ",".join(filter(None, (declared, lacks)))
    try:
        return simplest([specifiers(together)])
    except ValueError:
        return together
