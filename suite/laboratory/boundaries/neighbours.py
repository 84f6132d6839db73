"""Neighbours on a release line, in version order within a branch of releases, not by day. Pure.

jax 0.8.3 came out after 0.9.0. Both follow 0.8.2, which was the newest release on the day of 0.9.0. So the line is a
tree. A branch is a minor release of jax, such as `0.8`, in version order. It starts at the newest older release that
existed on its first day. Library releases with one jax are in the order of their days.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import takewhile

from packaging.version import Version

from jax_stack_compat.judge.metadata import parsed


@dataclass(frozen=True)
class LineCell:
    """A cell of the line: its pins, the package whose release it represents, and the day of that release."""

    id: str
    moves: str
    pins: Mapping[str, str]
    released_on: date


def in_order(cells: Iterable[LineCell]) -> list[LineCell]:
    """Return the cells by version of jax, then by day; the cell of the jax release itself comes first."""
    return sorted(cells, key=lambda cell: (_jax(cell), cell.moves != "jax", cell.released_on, cell.id))


def neighbours(cells: Iterable[LineCell]) -> list[tuple[LineCell, LineCell]]:
    """Return pairs of a predecessor and its cell, in the order of `in_order`; the first cell has no predecessor."""
    ordered = in_order(cells)
    pairs = ((_before(ordered[:place], cell), cell) for place, cell in enumerate(ordered))
    return [(before, cell) for before, cell in pairs if before is not None]


def _before(older: Sequence[LineCell], cell: LineCell) -> LineCell | None:
    """Return the predecessor of a cell among the `older` cells, which are in order."""
    if not older:
        return None
    last = older[-1]
    if _jax(last) == _jax(cell):
        return last
    if _jax(last).release[:2] == _jax(cell).release[:2]:
        # Skip library releases that came out after the next jax of this branch.
        nearest = [*takewhile(lambda each: _jax(each) == _jax(last), reversed(older))]
        return next((each for each in nearest if each.released_on <= cell.released_on), nearest[-1])
    return next((each for each in reversed(older) if each.released_on <= cell.released_on), last)


def _jax(cell: LineCell) -> Version:
    return parsed(cell.pins["jax"])
