"""Two reports → what the one shows that the other did not, by observation, and what else was run. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import get_args

from packaging.version import Version

from suite.errors import Exit
from suite.judge.table import GLYPHS, GOOD, UNDECIDED
from suite.report.model import CellRow, ChangeKind, Observation, Report
from suite.report.shard_faults import named

KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Change:
    """One case in one cell that shows something other than before; None where there is no such observation."""

    kind: ChangeKind
    before: Observation | None
    now: Observation | None

    @property
    def key(self) -> Key:
        """The cell, issue and case."""
        return key(self.now or self.before)

    def __str__(self) -> str:
        """Both sides in a few words, as `✗ bypassed → ◐ attribute-error`."""
        return f"{told(self.before)} → {told(self.now)}"


@dataclass(frozen=True)
class Premise:
    """Something that was not the same in the two runs, and so may be the cause of any change."""

    what: str
    before: str
    now: str


@dataclass(frozen=True)
class Group:
    """The same change over consecutive cells, in every case where it is just that: one cause, told once."""

    kind: ChangeKind
    cells: tuple[str, ...]
    cases: tuple[tuple[str, str], ...]
    words: str
    first: Change

    @property
    def size(self) -> int:
        """How many observations it stands for."""
        return len(self.cells) * len(self.cases)


@dataclass(frozen=True)
class Diff:
    """What differs between two reports: what was run, then what was seen."""

    old: Report
    new: Report
    premises: tuple[Premise, ...]
    changes: tuple[Change, ...]
    groups: tuple[Group, ...]

    @property
    def counts(self) -> Mapping[ChangeKind, int]:
        """How many observations there are of each kind, in the order of triage."""
        kinds = Counter(each.kind for each in self.changes)
        return {kind: kinds[kind] for kind in KINDS}


def diff(old: Report, new: Report) -> Diff:
    """What `new` shows that `old` did not. Both are taken at their word; neither is judged anew."""
    before, now = ({key(each): each for each in report.observations} for report in (old, new))
    found = {
        each: change(before.get(each), now.get(each))
        # In the order of the new report; what is gone, in that of the old one.
        for each in dict.fromkeys([*now, *before])
    }
    changes = sorted(filter(None, found.values()), key=lambda each: KINDS.index(each.kind))
    same = {each for each in found if found[each] is None and now[each].verdict not in UNDECIDED}
    return Diff(old, new, tuple(premises(old, new)), tuple(changes), tuple(groups(old, new, changes, same)))


def exit_code(found: Diff) -> Exit:
    """1 only where something is worse: what is new, flaky or was not run is no regression."""
    return Exit.UNEXPECTED if found.counts["regressed"] else Exit.AS_EXPECTED


def change(before: Observation | None, now: Observation | None) -> Change | None:
    """What became of one case; None where it shows what it did.

    Worse is a bad verdict after a good one, and a workaround that held and fails; where one thing got better and
    another worse, it is worse.
    """
    sides = [each for each in (before, now) if each is not None]
    if len(sides) == 2 and what(sides[0]) == what(sides[1]):
        return None
    if any(each.verdict in UNDECIDED for each in sides):
        return Change("spurious", before, now)
    if before is None or now is None:
        return Change("new" if before is None else "gone", before, now)
    was_good, is_good = before.verdict in GOOD, now.verdict in GOOD
    workarounds = before.workaround, now.workaround
    if before.behaviour is not None and before.behaviour == now.behaviour and workarounds[0] == workarounds[1]:
        # The table says something else of what is the same.
        return Change("changed", before, now)
    if (was_good and not is_good) or workarounds == ("holds", "fails"):
        return Change("regressed", before, now)
    if (is_good and not was_good) or workarounds == ("fails", "holds"):
        return Change("fixed", before, now)
    return Change("changed", before, now)


def key(each: Observation | None) -> Key:
    """What an observation is of: cell, issue and case."""
    return (each.cell, each.issue, each.case) if each else ("", "", "")


def what(each: Observation) -> tuple[str, str, str]:
    """What is compared of an observation: not its costs, nor the words of its evidence."""
    workaround = each.workaround if each.workaround in ("holds", "fails") else ""
    return each.verdict, each.behaviour or each.reason or "", workaround


def tally(counts: Mapping[ChangeKind, int]) -> str:
    """The counts, all of them, each time; what is spurious apart."""
    *told, spurious = (f"{counts.get(kind, 0)} {kind}" for kind in KINDS)
    return f"{', '.join(told)}; {spurious}"


def told(each: Observation | None) -> str:
    """An observation in a few words: `✗ bypassed, workaround holds`."""
    if each is None:
        return "nothing"
    workaround = f", workaround {each.workaround}" if each.workaround in ("holds", "fails") else ""
    reason = f" [{each.reason}]" if each.behaviour is None and each.reason else ""
    return f"{GLYPHS[each.verdict]} {each.behaviour or each.verdict}{reason}{workaround}"


# What was run


def premises(old: Report, new: Report) -> Iterator[Premise]:
    """Whatever else differs: issues, probe, platform, suite, locks, and which cells were planned."""
    plain: dict[str, Callable[[Report], str]] = {
        "suite": lambda report: report.suite_version,
        "probe": lambda report: report.probe_sha256[:12],
        **{f"platform {name}": _platform(name) for name in ("system", "machine", "cpu", "device")},
        "shard": lambda report: report.shard or "none: all of it",
    }
    for name, of in plain.items():
        if of(old) != of(new):
            yield Premise(name, of(old) or "not known", of(new) or "not known")
    sources = [{issue.id: issue.source_sha256[:12] for issue in report.issues} for report in (old, new)]
    locks = [{cell.id: cell.lock_sha256[:12] for cell in report.cells} for report in (old, new)]
    for name in sources[0].keys() | sources[1].keys():
        # Of an issue that only one of them ran, the observations are told as new or gone.
        if name in sources[0] and name in sources[1] and sources[0][name] != sources[1][name]:
            yield Premise(f"source of {name}", sources[0][name], sources[1][name])
    if other := sorted(name for name in locks[0].keys() & locks[1].keys() if locks[0][name] != locks[1][name]):
        yield Premise("locks", f"of {named(other)}", "other pins")
    planned = [report.planned_cells for report in (old, new)]
    if gone := [name for name in planned[0] if name not in set(planned[1])]:
        yield Premise("planned cells", named(gone), "no longer planned")
    if added := [name for name in planned[1] if name not in set(planned[0])]:
        yield Premise("planned cells", "not planned", named(added))


def _platform(name: str) -> Callable[[Report], str]:
    return lambda report: str(getattr(report.platform, name))


# One cause, told once


def groups(old: Report, new: Report, changes: Iterable[Change], same: set[Key]) -> list[Group]:
    """The changes that are not spurious, equal ones together, in the order of triage, the widest first.

    Cells are consecutive where no cell between them shows what it did before; one that shows nothing parts nothing.
    """
    of = {each.key: each for each in changes if each.kind != "spurious"}
    cases = dict.fromkeys((issue, case) for _, issue, case in of)
    runs: dict[tuple[ChangeKind, str, tuple[str, ...]], dict[tuple[str, str], Change]] = {}
    for cells in tracks(old, new):
        for case in cases:
            seen = [(cell, of.get((cell, *case))) for cell in cells if {(cell, *case)} & (of.keys() | same)]
            for (kind, words), run in groupby(seen, key=lambda each: _alike(each[1])):
                if kind is not None:
                    found = list(run)
                    first = found[0][1]
                    assert first is not None
                    runs.setdefault((kind, words, tuple(cell for cell, _ in found)), {})[case] = first
    made = [
        Group(kind, cells, tuple(first), words or _counted(kind, cells, first, of), next(iter(first.values())))
        for (kind, words, cells), first in runs.items()
    ]
    return sorted(made, key=lambda each: (KINDS.index(each.kind), -each.size))


def tracks(old: Report, new: Report) -> list[list[str]]:
    """The cells of both reports in their order: the line by its days, and each arm by the releases that it moves."""
    rows = {cell.id: cell for cell in (*new.cells, *old.cells)}
    found: dict[tuple[str, ...], list[CellRow]] = {}
    for cell in rows.values():
        held = (
            () if cell.kind == "line" else (cell.moves, *(f"{n} {v}" for n, v in cell.holds.items() if n != cell.moves))
        )
        found.setdefault((cell.kind, *held), []).append(cell)
    for (kind, *_), cells in found.items():
        cells.sort(
            key=(lambda cell: cell.released_on) if kind == "line" else (lambda cell: Version(cell.holds[cell.moves]))
        )
    return [[cell.id for cell in cells] for cells in found.values()]


def _alike(each: Change | None) -> tuple[ChangeKind | None, str]:
    """What makes changes equal: what is new or gone is so together, whatever it shows."""
    if each is None:
        return None, ""
    return each.kind, "" if each.kind in ("new", "gone") else str(each)


def _counted(kind: ChangeKind, cells: Sequence[str], cases: Iterable[tuple[str, str]], of: Mapping[Key, Change]) -> str:
    """What is new or gone, by verdict: `12 clear, 3 affected`."""
    sides = (of[(cell, *case)] for cell in cells for case in cases)
    verdicts = Counter(side.verdict for each in sides if (side := each.now if kind == "new" else each.before))
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
