"""What of a report stands in rows: columns, marks, stretches of the very same, grids of stacks. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from packaging.version import Version

from suite.report.model import CellRow, Observation, Report, StackRow

# After how many columns a word is said again: nobody should have to scroll for it.
REPEAT = 8


@dataclass(frozen=True)
class Mark:
    """One cell of the matrix, or of a grid of stacks; `room` where its neighbours leave some for its word."""

    cell: str
    verdict: str
    told: str
    room: bool
    odd: bool = False


@dataclass(frozen=True)
class Group:
    """Columns side by side that have one minor release of jax."""

    minor: str
    cells: tuple[CellRow, ...]


@dataclass(frozen=True)
class Stretch:
    """Cells in a row, `first` to `last`, in which the very same was seen."""

    first: str
    last: str
    count: int
    seen: Observation


@dataclass(frozen=True)
class GridRow:
    """One row of a grid of stacks, and a mark or nothing for each of its columns."""

    row: StackRow
    marks: tuple[Mark | None, ...]


@dataclass(frozen=True)
class Grid:
    """The rows of stacks that answer one question, over all versions that any of them has."""

    question: str
    along: str
    versions: tuple[str, ...]
    rows: tuple[GridRow, ...]


def columns(line: Sequence[CellRow]) -> list[CellRow]:
    """The line by release of jax, and by day where that is the same."""
    return sorted(line, key=lambda cell: Version(_jax(cell)))


def groups(ordered: Sequence[CellRow]) -> list[Group]:
    """Neighbours that have one minor release of jax."""
    return [Group(minor, tuple(cells)) for minor, cells in groupby(ordered, lambda cell: minor_of(_jax(cell)))]


def marks(told: Sequence[tuple[str, str, str, bool] | None]) -> list[Mark | None]:
    """A row's marks. A word is wider than a column: of neighbours with one verdict, some have room for it."""
    found: list[Mark | None] = []
    for _, group in groupby(told, lambda each: each[1] if each else None):
        of = list(group)
        for place, each in enumerate(of):
            found.append(Mark(*each[:3], place % REPEAT == 0 and len(of) - place > 1, each[3]) if each else None)
    return found


def stretches(ordered: Iterable[tuple[str, Observation]]) -> list[Stretch]:
    """Neighbours of which the very same is told, as one."""
    found = []
    for _, group in groupby(ordered, lambda each: kind_of(each[1])):
        of = list(group)
        found.append(Stretch(of[0][0], of[-1][0], len(of), of[0][1]))
    return found


def grids(report: Report) -> list[Grid]:
    """The rows of stacks, those with one question and one moved package over the same versions."""
    cells = {cell.id: cell for cell in report.cells}
    by_question: dict[tuple[str, str], list[StackRow]] = {}
    for row in report.stacks:
        by_question.setdefault((row.question, row.along), []).append(row)
    found = []
    for (question, along), rows in by_question.items():
        of = [{cells[cell].holds[along]: cells[cell] for cell in row.cells if cell in cells} for row in rows]
        versions = sorted({version for each in of for version in each}, key=Version)
        shown = []
        for row, there in zip(rows, of, strict=True):
            told = [
                (each.id, each.declared_observed or "not-run", each.declared_observed or "not tried", False)
                if (each := there.get(version))
                else None
                for version in versions
            ]
            shown.append(GridRow(row, tuple(marks(told))))
        found.append(Grid(question, along, tuple(versions), tuple(shown)))
    return found


def kind_of(each: Observation) -> tuple[str | int | bool | None, ...]:
    """What is told of an observation, less how long it took and where it was made."""
    return (
        *(each.verdict, each.behaviour, each.reason, each.expected, each.agreement),
        *(each.workaround, each.workaround_expected, each.attempts, each.detail),
    )


def minor_of(version: str) -> str:
    """The minor release that a release is of: `0.4` of `0.4.30`."""
    return ".".join(version.split(".")[:2])


def _jax(cell: CellRow) -> str:
    return cell.packages.get("jax") or cell.holds.get("jax") or "0"
