"""Where each issue stands on the newest release of a report: what it shows there, since when, what to do. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from suite.judge.neighbours import LineCell, in_order
from suite.judge.table import PROPERTIES, UNDECIDED, VERDICTS, Verdict
from suite.report import summary
from suite.report.model import CellRow, IssueRow, Observation, Report


@dataclass(frozen=True)
class Standing:
    """An issue by the worst of its cases on each cell: what that is on the newest one that tells, and since when.

    `seen` is the first case that shows it there; None where no cell tells anything. `since` is the first of the cells,
    up to `cell`, that show the same; `turned`, whether one before it told something else; `newest`, whether `cell` is
    the newest of all. `todo` is a workaround that was needed, was run and held, first that
    of this case.
    """

    issue: IssueRow
    seen: Observation | None = None
    cell: CellRow | None = None
    since: CellRow | None = None
    turned: bool = False
    newest: bool = False
    todo: str = ""

    @property
    def verdict(self) -> Verdict:
        """The worst that is shown; not-run where nothing is known."""
        return self.seen.verdict if self.seen else "not-run"

    @property
    def shows(self) -> str:
        """The behaviour that is shown, or the verdict where it is none of the case's."""
        return (self.seen.behaviour if self.seen else None) or self.verdict

    @property
    def bites(self) -> bool:
        """Whether something goes wrong there."""
        return self.seen is not None and not PROPERTIES[self.verdict].good

    @property
    def when(self) -> str:
        """Since when, for people; and where the newest release tells nothing of it, which one told last."""
        if self.cell is None or self.since is None:
            return ""
        last = "" if self.newest else f", told last by {release(self.cell)}"
        return f"{release(self.since)}{'' if self.turned else ' or before'}{last}"


def release(cell: CellRow) -> str:
    """A cell for people: one of the line as the release for which it stands, `jax 0.4.36`."""
    return f"{cell.moves} {cell.holds[cell.moves]}" if cell.kind == "line" else cell.id


def columns(report: Report) -> list[CellRow]:
    """The line, or all cells where there is none of it: by the version of jax, those of one jax by day."""
    cells = summary.line(report) or report.cells
    by_id = {cell.id: cell for cell in cells}
    pins = ((cell, {**cell.holds, **cell.packages}) for cell in cells)
    known = (LineCell(cell.id, cell.moves, of, cell.released_on) for cell, of in pins if "jax" in of)
    # Of what never got a lock, the jax may not be known.
    return [by_id[each.id] for each in in_order(known)] or cells


def standings(report: Report) -> list[Standing]:
    """Each issue of `report`, along its line or, where it has none of that, all its cells; the worst first.

    Of issues that show the same, the one with the newest change stands first.
    """
    cells = columns(report)
    places = {cell.id: place for place, cell in enumerate(cells)}
    seen: dict[str, list[Observation]] = {}
    for each in report.observations:
        if each.cell in places:
            seen.setdefault(each.issue, []).append(each)

    def urgency(each: Standing) -> tuple[int, int, str]:
        return VERDICTS.index(each.verdict), -places[each.since.id] if each.since else 0, each.issue.id

    return sorted((_standing(issue, cells, seen.get(issue.id, ())) for issue in report.issues), key=urgency)


def _standing(issue: IssueRow, cells: Sequence[CellRow], seen: Sequence[Observation]) -> Standing:
    worst: dict[str, Observation] = {}
    for each in seen:
        if each.verdict not in UNDECIDED:
            known = worst.setdefault(each.cell, each)
            worst[each.cell] = min(known, each, key=lambda of: VERDICTS.index(of.verdict))
    told = [cell for cell in cells if cell.id in worst]
    if not told:
        return Standing(issue)
    *before, last = (list(of) for _, of in groupby(told, key=lambda cell: worst[cell.id].verdict))
    shows = worst[last[-1].id]
    helps = {each.case for each in seen if each.workaround == "holds"}
    cases = sorted(issue.cases, key=lambda case: case.id != shows.case)
    todo = next((case.workaround.text for case in cases if case.workaround and case.id in helps), "")
    return Standing(issue, shows, last[-1], last[0], bool(before), last[-1] is cells[-1], todo)
