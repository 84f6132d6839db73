"""What of a report stands in rows: columns, marks, stretches of the very same, grids of stacks. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from packaging.version import Version

from suite.report.model import CellRow, Observation, StackRow

# After how many columns a word is said again: nobody should have to scroll for it.
REPEAT = 8
# What is told of an observation, less how long it took and where it was made.
TOLD = (
    *("verdict", "behaviour", "reason", "expected", "agreement"),
    *("workaround", "workaround_expected", "attempts", "detail"),
)


@dataclass(frozen=True)
class Mark:
    """One cell of the matrix, or of a grid of stacks; `room` where its neighbours leave some for its word."""

    cell: str
    verdict: str
    told: str = ""
    odd: bool = False
    room: bool = False


@dataclass(frozen=True)
class Stretch:
    """Cells in a row in which the very same was seen: (what it is called there, its id) each."""

    cells: list[tuple[str, str]]
    seen: Observation


@dataclass(frozen=True)
class Grid:
    """The stacks that answer one question: rows, each with a mark or nothing for each version that any of them has."""

    question: str
    along: str
    versions: list[str]
    rows: list[tuple[StackRow, list[Mark | None]]]


def with_room(row: Iterable[Mark | None]) -> list[Mark | None]:
    """A word is wider than a column: of neighbours with one verdict, some have room for it."""
    found: list[Mark | None] = []
    for _, group in groupby(row, lambda each: each and each.verdict):
        of = list(group)
        for place, each in enumerate(of):
            found.append(each and replace(each, room=place % REPEAT == 0 and len(of) - place > 1))
    return found


def stretches(ordered: Iterable[tuple[str, Observation]]) -> list[Stretch]:
    """Named observations, those side by side of which the very same is told as one."""
    found = []
    for _, group in groupby(ordered, lambda each: kind_of(each[1])):
        of = list(group)
        found.append(Stretch([(name, each.cell) for name, each in of], of[0][1]))
    return found


def grids(stacks: Iterable[StackRow], cells: Mapping[str, CellRow]) -> list[Grid]:
    """The rows of stacks, those with one question and one moved package over the same versions."""
    asked: dict[tuple[str, str], list[StackRow]] = {}
    for row in stacks:
        asked.setdefault((row.question, row.along), []).append(row)
    return [_grid(question, along, rows, cells) for (question, along), rows in asked.items()]


def _grid(question: str, along: str, rows: Sequence[StackRow], cells: Mapping[str, CellRow]) -> Grid:
    by_version = [{cells[cell].holds[along]: cells[cell] for cell in row.cells if cell in cells} for row in rows]
    versions = sorted({version for of in by_version for version in of}, key=Version)
    marked = [with_room(_compared(of.get(version)) for version in versions) for of in by_version]
    return Grid(question, along, versions, list(zip(rows, marked, strict=True)))


def _compared(cell: CellRow | None) -> Mark | None:
    """What metadata and runs say of a stack."""
    if cell is None:
        return None
    return Mark(cell.id, cell.declared_observed or "not-run", cell.declared_observed or "not tried")


# What is told of an observation, in the order of TOLD.
kind_of: Callable[[Observation], tuple[Any, ...]] = attrgetter(*TOLD)


def minor_of(version: str) -> str:
    """The minor release that a release is of: `0.4` of `0.4.30`."""
    return ".".join(version.split(".")[:2])
