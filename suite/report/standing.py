"""Where each issue stands on the newest release of a report: what it shows there, since when, what to do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from suite.judge.neighbours import LineCell, in_order
from suite.judge.table import GOOD, PROPERTIES, UNDECIDED, VERDICTS, Verdict
from suite.report import summary
from suite.report.model import CellRow, IssueRow, Observation, Report, TurnRow


@dataclass(frozen=True)
class Now:
    """What a case shows on the newest cell that tells, and the first of the cells up to it that show the same.

    Cells in between that do not have what the case is about, or fail otherwise, are passed over. `release` is what
    brought it, for people: the release to blame of those that moved. `before` is what was shown before; None where
    nothing else was.
    """

    verdict: Verdict
    cell: CellRow
    since: CellRow
    release: str
    before: Verdict | None


@dataclass(frozen=True)
class Standing:
    """An issue by the worst of its cases on the newest cell that tells.

    `parts` are the cases that show it there, by what brought it; no names stand for all cases. There are none where no
    cell tells anything. `seen` is what was observed of them, and `newest` says whether that is the newest cell of all.
    `todo` is a workaround that was needed, was run and held, first that of these cases. `never_right`: on no cell was
    any of them well.
    """

    issue: IssueRow
    parts: tuple[tuple[Now, tuple[str, ...]], ...] = ()
    seen: tuple[Observation, ...] = ()
    newest: bool = False
    todo: str = ""
    never_right: bool = False

    @property
    def now(self) -> Now | None:
        """Where the first of its cases stands; None where nothing is known."""
        return self.parts[0][0] if self.parts else None

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
        return f"{self.now.release}{'' if self.now.before else ' or before'}{last}"


def label(cell: CellRow) -> str:
    """A cell for people: one of the line as the release for which it stands, `jax 0.4.36`."""
    return f"{cell.moves} {cell.holds[cell.moves]}" if cell.kind == "line" else cell.id


def columns(report: Report) -> list[CellRow]:
    """The line, or else all cells that ran here: by the version of jax, those of one jax by day."""
    cells = summary.line(report) or report.run_here
    by_id = {cell.id: cell for cell in cells}
    pins = ((cell, {**cell.holds, **cell.packages}) for cell in cells)
    known = (LineCell(cell.id, cell.moves, of, cell.released_on) for cell, of in pins if "jax" in of)
    # Of what never got a lock, the jax may not be known.
    return [by_id[each.id] for each in in_order(known)] or cells


def now(cells: Sequence[CellRow], verdicts: Mapping[str, Verdict], turns: Iterable[TurnRow] = ()) -> Now | None:
    """Where a case stands at the newest of `cells`, which are in order, by its verdicts; None where none of them tells.

    `turns` say which release each change is put down to.
    """
    told = [cell for cell in cells if verdicts.get(cell.id, "not-run") not in UNDECIDED]
    if not told:
        return None
    shown, since, before = verdicts[told[-1].id], told[-1], None
    for cell in reversed(told):
        if verdicts[cell.id] == shown:
            since = cell
        elif verdicts[cell.id] not in _OF_SOMETHING_ELSE:
            before = verdicts[cell.id]
            break
    package = next((each.package for each in turns if each.after == since.id), None) or since.moves
    version = since.packages.get(package) or since.holds.get(package, "")
    brought = next((cell for cell in cells if cell.kind == "line" and cell.id == f"{package}-{version}"), since)
    release = f"{package} {version}" if since.kind == "line" else label(since)
    return Now(shown, told[-1], brought, release, before)


# What says nothing of the symptom: there is no such thing, or it fails in another way.
_OF_SOMETHING_ELSE = ("absent", "different")


def never_well(cells: Iterable[CellRow], verdicts: Mapping[str, Verdict]) -> bool:
    """Whether each of `cells` that has what a case is about, and tells anything, tells of something bad."""
    told = {verdicts.get(cell.id, "not-run") for cell in cells} - UNDECIDED - {"absent"}
    return bool(told) and not told & GOOD


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
    seen: dict[str, dict[str, list[Observation]]] = {}
    for each in report.observations:
        if each.cell in places:
            seen.setdefault(each.issue, {}).setdefault(each.case, []).append(each)

    def urgency(each: Standing) -> tuple[int, int, str]:
        return VERDICTS.index(each.verdict), -places[each.now.since.id] if each.now else 0, each.issue.id

    found = [_standing(issue, cells, seen.get(issue.id, {})) for issue in report.issues]
    # That no release is right is a claim about all of them.
    found = [replace(each, never_right=False) for each in found] if report.jax_line else found
    return sorted(found, key=urgency)


def _standing(issue: IssueRow, cells: Sequence[CellRow], seen: Mapping[str, Sequence[Observation]]) -> Standing:
    verdicts = {case: {each.cell: each.verdict for each in of} for case, of in seen.items()}
    stands = {case.id: now(cells, verdicts.get(case.id, {}), case.turns) for case in issue.cases}
    places = {cell.id: place for place, cell in enumerate(cells)}
    newest = max((places[each.cell.id] for each in stands.values() if each), default=None)
    if newest is None:
        return Standing(issue)
    last = cells[newest].id
    there = {case: each for case, each in stands.items() if each and each.cell.id == last}
    verdict = min((each.verdict for each in there.values()), key=VERDICTS.index)
    shown = {case: each for case, each in there.items() if each.verdict == verdict}
    well = verdict in ("clear", "absent")
    # What helps where it bites now; where nothing does any more, what helped before.
    helps = {
        each.case
        for case, of in seen.items()
        for each in of
        if each.workaround == "holds" and (well or (case in shown and each.cell == last))
    }
    return Standing(
        issue,
        _parts(shown, len(issue.cases), places, well=well),
        tuple(each for case in shown for each in seen[case] if each.cell == last),
        newest == len(cells) - 1,
        next((case.workaround.text for case in issue.cases if case.workaround and case.id in helps), ""),
        all(never_well(cells, verdicts[case]) for case in shown),
    )


def _parts(
    shown: Mapping[str, Now], cases: int, places: Mapping[str, int], *, well: bool
) -> tuple[tuple[Now, tuple[str, ...]], ...]:
    """Cases that show the same, by what brought it; of those that are well, all since the last of them is."""
    if well:
        changed = [each for each in shown.values() if each.before] or list(shown.values())
        return ((max(changed, key=lambda each: places[each.since.id]), ()),)
    by_release: dict[tuple[str, Verdict | None], list[str]] = {}
    for case, each in shown.items():
        by_release.setdefault((each.release if each.before else "", each.before), []).append(case)
    return tuple((shown[of[0]], () if len(of) == cases else tuple(of)) for of in by_release.values())
