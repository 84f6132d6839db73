"""The page matrix.html: issues and cases against the releases of the line; equal adjacent releases are joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from jax_stack_compat.judge.verdict_table import PROPERTIES, UNDECIDED, Properties, Verdict
from laboratory.report import summary
from laboratory.report.model import CaseRow, CellRow, IssueRow, Observation
from laboratory.report.site.facts import Facts
from laboratory.report.site.page import Page
from laboratory.report.site.table import minor_of

# The least number of columns with room for a word.
_WORD_COLUMNS = 5


@dataclass(frozen=True)
class MatrixMark:
    """Adjacent columns with one verdict, linked to the first of them; `seen` is None without an observation."""

    seen: Observation | None
    odd: bool
    width: int
    last: CellRow

    @property
    def room(self) -> bool:
        """True if its word is visible."""
        return self.width >= _WORD_COLUMNS


@dataclass(frozen=True)
class VaryingIssue:
    """An issue whose cases vary: the worst of all its cases, and each case that varies."""

    issue: IssueRow
    worst: list[MatrixMark]
    cases: list[tuple[CaseRow, list[MatrixMark]]]


@dataclass(frozen=True)
class MatrixView:
    """The view of matrix.html: the columns by minor release of jax, the rows, and the cases that never vary.

    `alike` has each case that never varies with its one verdict, or None if undecided. `unavailable` has the releases
    that could not be run, with the reason; an empty column would split each row.
    """

    groups: list[tuple[str, list[CellRow]]]
    unavailable: list[tuple[CellRow, str]]
    rows: list[VaryingIssue]
    alike: list[tuple[IssueRow, CaseRow, Verdict | None]]
    packages: list[str]
    kinds: list[str]
    verdicts: list[Properties]
    run_on: str


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the page of the matrix."""
    rows, alike = [], []
    unavailable = _unavailable(facts)
    columns = [cell for cell in facts.columns if cell.id not in unavailable]
    for issue in facts.report.issues:
        cases = []
        for case in issue.cases:
            of = facts.seen[issue.id, case.id]
            decided = [of[cell.id] for cell in columns if cell.id in of and of[cell.id].verdict not in UNDECIDED]
            verdicts = {row.verdict for row in decided}
            if len(verdicts) > 1 or any(map(summary.is_unexpected, decided)):
                cases.append((case, _marks([of.get(cell.id) for cell in columns], columns)))
            else:
                alike.append((issue, case, next(iter(verdicts), None)))
        if cases:
            worst = facts.worst_seen(issue)
            rows.append(VaryingIssue(issue, _marks([worst.get(cell.id) for cell in columns], columns), cases))
    shown = {of[cell.id].verdict for of in facts.seen.values() for cell in columns if cell.id in of}
    needed = {name for issue in facts.report.issues for name in issue.packages}
    view = MatrixView(
        [(minor, list(of)) for minor, of in groupby(columns, lambda cell: minor_of(cell.versions["jax"]))],
        [(cell, unavailable[cell.id]) for cell in facts.columns if cell.id in unavailable],
        rows,
        alike,
        sorted(needed, key=lambda name: (name != "jax", name != "equinox", name)),
        sorted({issue.kind for issue in facts.report.issues}),
        [properties for name, properties in PROPERTIES.items() if name in shown],
        summary.run_on(facts.report),
    )
    yield Page("matrix.html", "matrix.html.jinja", "Matrix: verdicts by release", view, ("assets/matrix.js",))


def _unavailable(facts: Facts) -> dict[str, str]:
    """Return the cells of the line in which nothing could be run, with the reason."""
    found: dict[str, str] = {}
    for cell in facts.columns:
        of = [each for seen in facts.seen.values() if (each := seen.get(cell.id))]
        if of and all(row.verdict == "unavailable" for row in of):
            found[cell.id] = of[0].detail
    return found


def _marks(seen: Sequence[Observation | None], columns: Sequence[CellRow]) -> list[MatrixMark]:
    found = []
    kinds = [(row and row.verdict, row is not None and summary.is_unexpected(row)) for row in seen]
    for (_, odd), group in groupby(range(len(seen)), lambda place: kinds[place]):
        places = list(group)
        found.append(MatrixMark(seen[places[0]], odd, len(places), columns[places[-1]]))
    return found
