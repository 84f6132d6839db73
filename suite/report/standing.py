"""Where each issue stands on the newest release of a report: what it shows there, since when, what to do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from suite.judge.neighbours import LineCell, in_order
from suite.judge.table import PROPERTIES, UNDECIDED, VERDICTS, Verdict
from suite.report import summary
from suite.report.model import CellRow, IssueRow, Observation, Report


@dataclass(frozen=True)
class Now:
    """What is shown on the newest cell that tells, and the first of the cells up to it that show the same.

    `before` is what the one before those showed; None where they are all that tell anything.
    """

    verdict: Verdict
    cell: CellRow
    since: CellRow
    before: Verdict | None


@dataclass(frozen=True)
class Standing:
    """An issue by the worst of its cases on each cell.

    `now` is None where no cell tells anything; `seen` are the cases that show it there, and `newest` says whether that
    is the newest cell of all. `todo` is a workaround that was needed, was run and held, first that of these cases.
    """

    issue: IssueRow
    now: Now | None = None
    seen: tuple[Observation, ...] = ()
    newest: bool = False
    todo: str = ""

    @property
    def verdict(self) -> Verdict:
        """The worst that is shown; not-run where nothing is known."""
        return self.now.verdict if self.now else "not-run"

    @property
    def shows(self) -> str:
        """The behaviour that the first of its cases shows, or the verdict where it is none of the case's."""
        return (self.seen[0].behaviour if self.seen else None) or self.verdict

    @property
    def bites(self) -> bool:
        """Whether something goes wrong there."""
        return self.now is not None and not PROPERTIES[self.verdict].good

    @property
    def when(self) -> str:
        """Since when, for people; and where the newest release tells nothing of it, which one told last."""
        if self.now is None:
            return ""
        last = "" if self.newest else f", told last by {label(self.now.cell)}"
        return f"{label(self.now.since)}{'' if self.now.before else ' or before'}{last}"


def label(cell: CellRow) -> str:
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


def now(cells: Sequence[CellRow], verdicts: Mapping[str, Verdict]) -> Now | None:
    """What stands at the newest of `cells`, which are in order, by their verdicts; None where none of them tells."""
    told = [cell for cell in cells if verdicts.get(cell.id, "not-run") not in UNDECIDED]
    if not told:
        return None
    *before, last = (list(of) for _, of in groupby(told, key=lambda cell: verdicts[cell.id]))
    shown = verdicts[last[0].id]
    return Now(shown, last[-1], last[0], verdicts[before[-1][0].id] if before else None)


def worst(seen: Iterable[Observation]) -> dict[str, Verdict]:
    """The worst verdict in each cell; of those from which something was learned, where any was."""
    found: dict[str, Verdict] = {}
    for each in seen:
        if each.cell not in found or _BADNESS[each.verdict] < _BADNESS[found[each.cell]]:
            found[each.cell] = each.verdict
    return found


_BADNESS = {verdict: (verdict in UNDECIDED, place) for place, verdict in enumerate(VERDICTS)}


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
        return VERDICTS.index(each.verdict), -places[each.now.since.id] if each.now else 0, each.issue.id

    return sorted((_standing(issue, cells, seen.get(issue.id, ())) for issue in report.issues), key=urgency)


def _standing(issue: IssueRow, cells: Sequence[CellRow], seen: Sequence[Observation]) -> Standing:
    at = now(cells, worst(seen))
    if at is None:
        return Standing(issue)
    shown = tuple(each for each in seen if (each.cell, each.verdict) == (at.cell.id, at.verdict))
    # What helps where it bites now; where nothing does any more, what helped before.
    well = at.verdict in ("clear", "absent")
    helps = {each.case for each in (seen if well else shown) if each.workaround == "holds"}
    todo = next((case.workaround.text for case in issue.cases if case.workaround and case.id in helps), "")
    return Standing(issue, at, shown, at.cell is cells[-1], todo)
