"""The state of each issue on the newest release of a report: verdict, since when, workaround. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from jax_stack_compat.judge.verdict_table import GOOD, PROPERTIES, UNDECIDED, VERDICTS, Verdict
from laboratory.boundaries.neighbours import LineCell, in_order
from laboratory.report import summary
from laboratory.report.model import CellRow, IssueRow, Observation, Report, TurnRow


@dataclass(frozen=True)
class Now:
    """A case's verdict on the newest decided cell, and the cell since which it has had that verdict.

    Cells between these two with the verdict absent or different are skipped. `release` names the release to blame, for
    people. `before` is the verdict before that; None if there was no other. `again` is True if the case had `verdict`
    before that, too.
    """

    verdict: Verdict
    cell: CellRow
    since: CellRow
    release: str
    before: Verdict | None
    again: bool = False


@dataclass(frozen=True)
class Standing:
    """An issue by the worst of its cases on the newest decided cell.

    `parts` groups the cases with that verdict by the release that brought it; no names mean all cases. It is empty if
    no cell is decided. `seen` has their observations, and `newest` is True if that is the newest cell of all. `todo` is
    a workaround that was needed, run and held, preferably one of these cases. `never_right` is True if the
    headline was well on no cell.
    """

    issue: IssueRow
    parts: tuple[tuple[Now, tuple[str, ...]], ...] = ()
    seen: tuple[Observation, ...] = ()
    newest: bool = False
    todo: str = ""
    never_right: bool = False

    @property
    def now(self) -> Now | None:
        """The state of the first of its cases; None if nothing is known."""
        return self.parts[0][0] if self.parts else None

    @property
    def verdict(self) -> Verdict:
        """The worst verdict; not-run if nothing is known."""
        return self.now.verdict if self.now else "not-run"

    @property
    def shows(self) -> str:
        """The behaviour of the first of its cases or, without one, the verdict."""
        return (self.seen[0].behaviour if self.seen else None) or self.verdict

    @property
    def is_affected(self) -> bool:
        """True if something goes wrong there."""
        return self.now is not None and not PROPERTIES[self.verdict].good

    @property
    def when(self) -> str:
        """The release since which the verdict holds, for people; also the last decided one, if not the newest."""
        if self.now is None:
            return ""
        last = "" if self.newest else f", last seen on {label(self.now.cell)}"
        return f"{self.now.release}{'' if self.now.before else ' or before'}{last}"


def label(cell: CellRow) -> str:
    """Return a cell for people: a cell of the line as its release, `jax 0.4.36`."""
    return f"{cell.moves} {cell.holds[cell.moves]}" if cell.kind == "line" else cell.id


def columns(report: Report) -> list[CellRow]:
    """Return the line or, without one, all cells that ran here, by version of jax and then by date."""
    cells = summary.line(report) or report.cells
    by_id = {cell.id: cell for cell in cells}
    known = (LineCell(cell.id, cell.moves, cell.versions, cell.released_on) for cell in cells if "jax" in cell.versions)
    # A cell without a lock may not name its jax.
    return [by_id[cell.id] for cell in in_order(known)] or cells


def now(cells: Sequence[CellRow], verdicts: Mapping[str, Verdict], turns: Iterable[TurnRow] = ()) -> Now | None:
    """Return a case's state at the newest of the ordered `cells`; None if none of them is decided.

    `turns` has the release to which each change is attributed.
    """
    told = [cell for cell in cells if verdicts.get(cell.id, "not-run") not in UNDECIDED]
    if not told:
        return None
    shown, since, before, earlier = verdicts[told[-1].id], told[-1], None, told[:0]
    for place in reversed(range(len(told))):
        if verdicts[told[place].id] == shown:
            since = told[place]
        elif verdicts[told[place].id] not in _BESIDE_THE_SYMPTOM:
            before, earlier = verdicts[told[place].id], told[:place]
            break
    package = next((turn.package for turn in turns if turn.after == since.id), None) or since.moves
    version = since.versions.get(package, "")
    brought = next((cell for cell in cells if cell.kind == "line" and cell.id == f"{package}-{version}"), since)
    release = f"{package} {version}" if since.kind == "line" else label(since)
    return Now(shown, told[-1], brought, release, before, any(verdicts[cell.id] == shown for cell in earlier))


# Verdicts that say nothing about the symptom.
_BESIDE_THE_SYMPTOM = ("absent", "different")


def never_well(cells: Iterable[CellRow], verdicts: Mapping[str, Verdict]) -> bool:
    """Return True if every decided cell in which the case's subject exists has a bad verdict."""
    told = {verdicts.get(cell.id, "not-run") for cell in cells} - UNDECIDED - {"absent"}
    return bool(told) and not told & GOOD


def worst(seen: Iterable[Observation]) -> dict[str, Observation]:
    """Return the worst observation of each cell; an undecided one only if the cell has no other."""
    found: dict[str, Observation] = {}
    for row in seen:
        if row.cell not in found or _BADNESS[row.verdict] < _BADNESS[found[row.cell].verdict]:
            found[row.cell] = row
    return found


_BADNESS = {verdict: (verdict in UNDECIDED, place) for place, verdict in enumerate(VERDICTS)}


def standings(report: Report) -> list[Standing]:
    """Return the state of each issue, along the line or, without one, along all cells; the worst first.

    Issues with the same verdict are ordered by their newest change.
    """
    cells = columns(report)
    places = {cell.id: place for place, cell in enumerate(cells)}
    seen: dict[str, dict[str, list[Observation]]] = {}
    for observation in report.observations:
        if observation.cell in places:
            seen.setdefault(observation.issue, {}).setdefault(observation.case, []).append(observation)

    def urgency(state: Standing) -> tuple[int, int, str]:
        return VERDICTS.index(state.verdict), -places[state.now.since.id] if state.now else 0, state.issue.id

    found = [_standing(issue, cells, seen.get(issue.id, {})) for issue in report.issues]
    # A sparse report cannot claim that no release is right.
    found = [replace(standing, never_right=False) for standing in found] if report.jax_line else found
    return sorted(found, key=urgency)


def _standing(issue: IssueRow, cells: Sequence[CellRow], seen: Mapping[str, Sequence[Observation]]) -> Standing:
    verdicts = {case: {row.cell: row.verdict for row in of} for case, of in seen.items()}
    stands = {case.id: now(cells, verdicts.get(case.id, {}), case.turns) for case in issue.cases}
    places = {cell.id: place for place, cell in enumerate(cells)}
    newest = max((places[current.cell.id] for current in stands.values() if current), default=None)
    if newest is None:
        return Standing(issue)
    last = cells[newest].id
    there = {case: current for case, current in stands.items() if current and current.cell.id == last}
    verdict = min((current.verdict for current in there.values()), key=VERDICTS.index)
    shown = {case: current for case, current in there.items() if current.verdict == verdict}
    well = verdict in ("clear", "absent")
    # The workarounds of cases that fail now or, if none does, of those that failed before.
    helps = {
        observation.case
        for case, of in seen.items()
        for observation in of
        if observation.workaround == "holds" and (well or (case in shown and observation.cell == last))
    }
    return Standing(
        issue,
        _parts(shown, len(issue.cases), places, well=well),
        tuple(row for case in shown for row in seen[case] if row.cell == last),
        newest == len(cells) - 1,
        next((case.workaround.text for case in issue.cases if case.workaround and case.id in helps), ""),
        never_well(cells, verdicts[issue.cases[0].id]),
    )


def _parts(
    shown: Mapping[str, Now], cases: int, places: Mapping[str, int], *, well: bool
) -> tuple[tuple[Now, tuple[str, ...]], ...]:
    """Group cases by the release that brought their verdict; good cases form one group, with the last release."""
    if well:
        changed = [current for current in shown.values() if current.before] or list(shown.values())
        return ((max(changed, key=lambda current: places[current.since.id]), ()),)
    by_release: dict[tuple[str, Verdict | None], list[str]] = {}
    for case, state in shown.items():
        by_release.setdefault((state.release if state.before else "", state.before), []).append(case)
    return tuple((shown[of[0]], () if len(of) == cases else tuple(of)) for of in by_release.values())
