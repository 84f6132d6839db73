"""The differences between two reports: observations that changed, and conditions of the runs. Pure functions.

compat.json keeps the difference between a report and its predecessor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import get_args

from packaging.version import Version

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.judge.verdict_table import GLYPHS, GOOD, UNDECIDED
from jax_stack_compat.judge.wording import named
from jax_stack_compat.stack.chosen import Rows
from laboratory.report.markup import clipped
from laboratory.report.model import CellRow, ChangeKind, ChangeRow, Observation, Platform, Report, SinceRow

KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)

Key = tuple[str, str, str]
# Verdicts that answer nothing, even if both reports have them.
_UNANSWERED = ("error", "not-run")
# A new release changes a handful of things, and the front page shows no more.
MAX_CHANGES = 40
# The plans of a run, from the fewest cases to all.
_EXTENT: tuple[Rows, ...] = get_args(Rows)
MAX_CASES = 6


@dataclass(frozen=True)
class CaseChange:
    """A case whose observation in a cell changed; without an observation, a side is None."""

    kind: ChangeKind
    before: Observation | None
    now: Observation | None

    @property
    def key(self) -> Key:
        """The change's cell, issue and case."""
        side = self.now or self.before
        return key(side) if side else ("", "", "")

    def __str__(self) -> str:
        """Return both sides in a few words, as `✗ bypassed → ◐ attribute-error`."""
        return f"{told(self.before)} → {told(self.now)}"


@dataclass(frozen=True)
class Premise:
    """A condition that differs between the two runs, and so may cause any change."""

    what: str
    before: str
    now: str


@dataclass(frozen=True)
class Group:
    """One change over consecutive cells, with every case that changed in the same way."""

    kind: ChangeKind
    cells: tuple[str, ...]
    cases: tuple[tuple[str, str], ...]
    words: str
    first: CaseChange


@dataclass(frozen=True)
class ReportDiff:
    """The differences between two reports: conditions of the runs, then observations.

    `apart` has the observations that are not compared, each with the reason: one of the runs did not plan them.
    """

    old: Report
    new: Report
    premises: tuple[Premise, ...]
    changes: tuple[CaseChange, ...]
    groups: tuple[Group, ...]
    apart: Mapping[Key, str] = field(default_factory=dict)

    @property
    def not_compared(self) -> Mapping[str, int]:
        """The number of observations that only one report planned, by the reason."""
        return Counter(self.apart.values())

    @property
    def counts(self) -> Mapping[ChangeKind, int]:
        """The number of changed observations of each kind, in the order of triage."""
        kinds = Counter(changed.kind for changed in self.changes)
        return {kind: kinds[kind] for kind in KINDS}

    @property
    def newly_undecided(self) -> tuple[int, int]:
        """The number of observations that only the old report decided, and the number that it decided in all."""
        before, now = (
            {key(row) for row in of.observations if row.verdict not in UNDECIDED} - self.apart.keys()
            for of in (self.old, self.new)
        )
        return len(before - now), len(before)


def diff(old: Report, new: Report, *, whole: bool = False) -> ReportDiff:
    """Return how `new` differs from `old` in what the suite ran itself. Neither report is verified.

    If both are `whole` runs, a cell or an issue that only `old` has is gone; else it was not compared.
    """
    before, now = ({key(row): row for row in report.observations} for report in (old, new))
    # First the observations of the new report, in its order; then those that are gone, in the old report's order.
    apart = {} if whole else dict(_apart(old, new, before.keys() ^ now.keys()))
    both = [each for each in dict.fromkeys([*now, *before]) if each not in apart]
    found = {each: change(before.get(each), now.get(each)) for each in both}
    changes = sorted(filter(None, found.values()), key=lambda changed: KINDS.index(changed.kind))
    same = {each for each in found if found[each] is None and now[each].verdict not in UNDECIDED}
    return ReportDiff(
        old, new, tuple(premises(old, new)), tuple(changes), tuple(groups(old, new, changes, same)), apart
    )


def _apart(old: Report, new: Report, keys: Iterable[Key]) -> Iterator[tuple[Key, str]]:
    """Yield the keys that only one report planned, with the reason: a run of a part says nothing about the rest."""
    before = {key(row) for row in old.observations}
    cells, issues = {cell.id for cell in new.cells}, {issue.id for issue in new.issues}
    narrower, wider = (_EXTENT.index(of.rows) for of in (new, old))
    for each in sorted(keys):
        cell, issue, _ = each
        if each not in before:
            reasons = [(narrower > wider, "cases that the run before did not plan")]
        else:
            reasons = [
                (cell not in cells, "cells that this run does not have"),
                (issue not in issues, "issues that this run does not have"),
                (narrower < wider, "cases that this run did not plan"),
            ]
        if why := next((why for holds, why in reasons if holds), ""):
            yield each, why


def exit_code(found: ReportDiff, *, strict: bool = False) -> Exit:
    """Return 1 only if something regressed; new, flaky and not-run observations are not regressions.

    With `strict`, return 1 also if anything is gone, undecided, an error or not run.
    """
    counts = found.counts
    missing = (
        counts["gone"]
        or counts["undecided"]
        or found.apart
        or any(row.verdict in _UNANSWERED for row in found.new.observations)
    )
    return Exit.UNEXPECTED if counts["regressed"] or (strict and missing) else Exit.AS_EXPECTED


def change(before: Observation | None, now: Observation | None) -> CaseChange | None:
    """Return how a case changed; None if it shows the same, whatever its time, memory and detail.

    A bad verdict after a good one is a regression, and so is a workaround that held and now fails. If one got better
    and the other worse, the change is a regression.
    """
    if told(before) == told(now):
        return None
    if any(side and side.verdict in UNDECIDED for side in (before, now)):
        return CaseChange("undecided", before, now)
    if before is None or now is None:
        return CaseChange("new" if before is None else "gone", before, now)
    good = before.verdict in GOOD, now.verdict in GOOD
    helps = before.workaround, now.workaround
    if before.behaviour is not None and before.behaviour == now.behaviour and helps[0] == helps[1]:
        # The behaviour is the same; the issue maps it to another verdict.
        return CaseChange("changed", before, now)
    if good == (True, False) or helps == ("holds", "fails"):
        return CaseChange("regressed", before, now)
    return CaseChange("fixed" if good == (False, True) or helps == ("fails", "holds") else "changed", before, now)


def key(observation: Observation) -> Key:
    """Return an observation's cell, issue and case."""
    return observation.cell, observation.issue, observation.case


def tally(counts: Mapping[ChangeKind, int]) -> str:
    """Return all counts as text, zeros too; undecided ones last, after a semicolon."""
    *told, undecided = (f"{counts.get(kind, 0)} {kind}" for kind in KINDS)
    return f"{', '.join(told)}; {undecided}"


def told(observation: Observation | None) -> str:
    """Return an observation in a few words: `✗ bypassed, workaround holds`."""
    if observation is None:
        return "nothing"
    workaround = f", workaround {observation.workaround}" if observation.workaround in ("holds", "fails") else ""
    reason = f" [{observation.reason}]" if observation.behaviour is None and observation.reason else ""
    return f"{GLYPHS[observation.verdict]} {observation.behaviour or observation.verdict}{reason}{workaround}"


# Conditions of the runs


def premises(old: Report, new: Report) -> Iterator[Premise]:
    """Yield the conditions that differ: suite, probe, platform, shard, issues, locks and planned cells."""
    both = (old, new)
    sources = [{issue.id: issue.source_sha256[:12] for issue in report.issues} for report in both]
    plain = {
        "suite": [report.suite_version for report in both],
        "probe": [report.probe_sha256[:12] for report in both],
        **{f"platform {name}": [getattr(report.platform, name) for report in both] for name in Platform.model_fields},
        "shard": [report.shard or "none (whole run)" for report in both],
        # The observations of an issue that only one report ran are listed as new or gone.
        **{f"source of {name}": [of[name] for of in sources] for name in sources[0] if name in sources[1]},
    }
    for what, (before, now) in plain.items():
        if before != now:
            yield Premise(what, before or "not known", now or "not known")
    locked, pinned = ({cell.id: cell.lock_sha256 for cell in report.cells} for report in both)
    if other := sorted(name for name in locked.keys() & pinned.keys() if locked[name] != pinned[name]):
        yield Premise("locks", f"of {named(other)}", "other pins")
    if gone := [name for name in old.planned_cells if name not in new.planned_cells]:
        yield Premise("planned cells", named(gone), "no longer planned")
    if added := [name for name in new.planned_cells if name not in old.planned_cells]:
        yield Premise("planned cells", "not planned", named(added))


# Groups of equal changes


def groups(old: Report, new: Report, changes: Iterable[CaseChange], same: set[Key]) -> list[Group]:
    """Return the decided changes, grouped by equality, in the order of triage, the widest first.

    Cells are consecutive unless an unchanged cell is between them; cells without an observation are skipped.
    """
    of = {changed.key: changed for changed in changes if changed.kind != "undecided"}
    runs: dict[tuple[str, tuple[str, ...]], list[Key]] = {}
    for track in tracks(old, new):
        for case in dict.fromkeys(each[1:] for each in of):
            there = [each for each in ((cell, *case) for cell in track) if each in of or each in same]
            for alike, run in groupby(there, key=lambda each: _alike(of.get(each))):
                if alike:
                    found = list(run)
                    runs.setdefault((alike, tuple(cell for cell, *_ in found)), []).append(found[0])
    made = []
    for (_, cells), firsts in runs.items():
        first, cases = of[firsts[0]], tuple((issue, case) for _, issue, case in firsts)
        words = _counted([of[(cell, *case)] for cell in cells for case in cases]) if _is_whole(first) else str(first)
        made.append(Group(first.kind, cells, cases, words, first))
    return sorted(made, key=lambda group: (KINDS.index(group.kind), -len(group.cells) * len(group.cases)))


def tracks(old: Report, new: Report) -> list[list[str]]:
    """Return the cells of both reports in order: the line by date, and each arm by the version of its moved package."""
    line: list[CellRow] = []
    arms: dict[tuple[str, ...], list[CellRow]] = {}
    for cell in {cell.id: cell for cell in (*new.cells, *old.cells)}.values():
        held = (f"{name} {version}" for name, version in cell.holds.items() if name != cell.moves)
        (line if cell.kind == "line" else arms.setdefault((cell.moves, *held), [])).append(cell)
    line.sort(key=lambda cell: cell.released_on)
    for cells in arms.values():
        cells.sort(key=lambda cell: Version(cell.holds[cell.moves]))
    return [[cell.id for cell in cells] for cells in (line, *arms.values())]


def _is_whole(found: CaseChange) -> bool:
    """Return True if the observation is new or gone; such changes are grouped whatever they show."""
    return found.kind in ("new", "gone")


def _alike(found: CaseChange | None) -> str:
    """Return the text by which changes are equal; empty without a change."""
    return "" if found is None else found.kind + ("" if _is_whole(found) else f" {found}")


def _counted(changes: Iterable[CaseChange]) -> str:
    """Return the number of new or gone observations by verdict: `12 clear, 3 affected`."""
    verdicts = Counter(side.verdict for changed in changes if (side := changed.now or changed.before))
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())


# The changes that compat.json keeps


def since(before: Report, now: Report) -> SinceRow | None:
    """Return the changes since `before`, or None if it reports on something else.

    Neither report may be a shard, and each must share more than half of its observations with the other. So a new
    release or issue counts as a change, but a report on one cell does not follow one on all cells. If nothing changed,
    return the changes that `before` lists since its own predecessor.
    """
    keys = [{key(row) for row in report.observations} for report in (before, now)]
    are_whole = before.shard is None and now.shard is None
    if not are_whole or 2 * len(keys[0] & keys[1]) <= max(map(len, keys)):
        return None
    found = diff(before, now, whole=True)
    return row(found) if found.groups or before.since is None else before.since


def row(found: ReportDiff) -> SinceRow:
    """Return a difference as compat.json has it: counts of everything, and the first groups."""
    changes = [
        ChangeRow(
            kind=group.kind,
            first=group.cells[0],
            last=group.cells[-1],
            cell_count=len(group.cells),
            cases=[f"{issue}/{case}" for issue, case in group.cases[:MAX_CASES]],
            case_count=len(group.cases),
            words=clipped(group.words),
        )
        for group in found.groups[:MAX_CHANGES]
    ]
    return SinceRow(
        generated_at=found.old.generated_at,
        coverage=found.old.coverage,
        counts=dict(found.counts),
        changes=changes,
        left_out=len(found.groups) - len(changes),
    )
