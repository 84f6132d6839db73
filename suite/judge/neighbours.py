"""Which cells of a release line are neighbours: in version order within a branch of releases, not by day. Pure.

jax 0.8.3 came out after 0.9.0. The one before 0.8.3 is 0.8.2; the one before 0.9.0 is 0.8.2 as well, the newest that
was there on its day. So the line is a tree: a branch is a minor release (`0.8`), within it the order is that of the
versions of jax, and a branch starts at the newest older release of its day. Cells with one jax, where a library came
out, stand in the order of their days.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import takewhile

from packaging.version import Version

ORDER = "version order within a branch of releases"


@dataclass(frozen=True)
class LineCell:
    """A cell of the line: its pins, the package whose release it stands for, and the day of that."""

    id: str
    moves: str
    pins: Mapping[str, str]
    released_on: date


def in_order(cells: Iterable[LineCell]) -> list[LineCell]:
    """The cells by the version of their jax; those of one jax by day, the one of jax itself first."""
    return sorted(cells, key=lambda cell: (_jax(cell), cell.moves != "jax", cell.released_on, cell.id))


def neighbours(cells: Iterable[LineCell]) -> list[tuple[LineCell, LineCell]]:
    """Each cell with the one before it, in the order of `in_order`; the first has none."""
    ordered = in_order(cells)
    pairs = ((_before(ordered[:place], cell), cell) for place, cell in enumerate(ordered))
    return [(before, cell) for before, cell in pairs if before is not None]


def _before(older: Sequence[LineCell], cell: LineCell) -> LineCell | None:
    """The neighbour among the cells that stand before this one, in their order."""
    if not older:
        return None
    last = older[-1]
    if _jax(last) == _jax(cell):
        return last
    if _jax(last).release[:2] == _jax(cell).release[:2]:
        # A library's release of a later day says nothing of what the next jax of this branch came with.
        nearest = [*takewhile(lambda each: _jax(each) == _jax(last), reversed(older))]
        return next((each for each in nearest if each.released_on <= cell.released_on), nearest[-1])
    return next((each for each in reversed(older) if each.released_on <= cell.released_on), last)


def _jax(cell: LineCell) -> Version:
    return _version(cell.pins["jax"])


# Each case of a report asks for the versions of the same line.
_version = cache(Version)
