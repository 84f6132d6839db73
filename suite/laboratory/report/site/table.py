"""The rows of the site's tables: marks, stretches of equal observations, grids of stacks. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from packaging.version import Version

from laboratory.report.model import CellRow, Observation, StackRow

# Repeat a word after this many columns, so that it is visible without scrolling.
COLUMNS_PER_WORD = 8
# The fields that equal observations share: all but cost and place.
EQUAL_FIELDS = (
    *("verdict", "behaviour", "reason", "expected", "agreement"),
    *("workaround", "workaround_expected", "attempts", "detail"),
)


@dataclass(frozen=True)
class Mark:
    """One field of a grid of stacks; `room` is True if its neighbours leave room for its word."""

    cell: str
    verdict: str
    told: str = ""
    room: bool = False


@dataclass(frozen=True)
class Stretch:
    """Adjacent cells with equal observations; each cell is (label, id)."""

    cells: list[tuple[str, str]]
    seen: Observation


@dataclass(frozen=True)
class Grid:
    """The stacks that answer one question: rows with a mark or None for each version that any of them has."""

    question: str
    along: str
    versions: list[str]
    rows: list[tuple[StackRow, list[Mark | None]]]


def with_room(row: Iterable[Mark | None]) -> list[Mark | None]:
    """Return the row with `room` set on the marks whose equal neighbours leave room for a word."""
    found: list[Mark | None] = []
    for _, group in groupby(row, lambda each: each and each.verdict):
        of = list(group)
        for place, mark in enumerate(of):
            found.append(mark and replace(mark, room=place % COLUMNS_PER_WORD == 0 and len(of) - place > 1))
    return found


def stretches(ordered: Iterable[tuple[str, Observation]]) -> list[Stretch]:
    """Return labelled observations, with equal adjacent ones as one stretch."""
    found = []
    for _, group in groupby(ordered, lambda each: kind_of(each[1])):
        of = list(group)
        found.append(Stretch([(name, row.cell) for name, row in of], of[0][1]))
    return found


def grids(stacks: Iterable[StackRow], cells: Mapping[str, CellRow]) -> list[Grid]:
    """Return the rows of stacks as grids, one for each question and moved package."""
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
    """Return the mark that compares a stack's metadata with its runs."""
    if cell is None:
        return None
    return Mark(cell.id, cell.declared_observed or "not-run", cell.declared_observed or "not tried")


# The fields of an observation in the order of EQUAL_FIELDS.
kind_of: Callable[[Observation], tuple[Any, ...]] = attrgetter(*EQUAL_FIELDS)


def minor_of(version: str) -> str:
    """Return the minor release of a version: `0.4` of `0.4.30`."""
    return ".".join(version.split(".")[:2])
