"""The work on a cell: the planned cases, the cases left without a record, and the probe's tasks."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from suite.catalogue.catalogue import Entry
from suite.cell.issue import Case
from suite.judge import rules
from suite.judge.table import RETRIED
from suite.records import alike, keys, records
from suite.records.records import Status
from suite.records.seen import read_ahead, seen
from suite.run.probe_call import Task
from suite.run.schedule import costs
from suite.stack import lock
from suite.stack.lock import Lock
from suite.stack.plan import Cell


@dataclass(frozen=True)
class Work:
    """The work on a cell, and its approximate seconds on one core.

    `cases` are all cases planned in the cell. After `ask`, `left` are the cases without a valid record, and `before` is
    the cell's last status. `lent` is the number of cases that another cell runs for this one.
    """

    cell: Cell
    entries: Sequence[Entry]
    seconds: float
    pinned: Lock
    cases: Sequence[tuple[Entry, Case]]
    left: Sequence[tuple[Entry, Case]] = ()
    before: Status | None = None
    lent: int = 0


def planned(cell: Cell, entries: Sequence[Entry], seconds: float = 0.0) -> Work:
    """Return all work on a cell. An unplanned stack is resolved if it has no lock. Raises BadFile, Unresolvable."""
    return Work(cell, entries, seconds, lock.obtain(cell), [(of, case) for of in entries for case in of.cases(cell)])


def ask(work: Work, *, fresh: bool = False, confirm: bool = False) -> Work:
    """Find the cases left: those without a valid record; with `fresh`, all; none if the cell is unavailable.

    With `confirm`, a record is valid if it has more than one attempt. Raises BadFile.
    """
    cell, before = work.cell, records.status(work.cell.id)
    if cell.unavailable is not None:
        return replace(work, before=before)
    left = [both for both in work.cases if fresh or not known(cell, *both, work.pinned, confirm=confirm)]
    if not (left or (before and before.device)):
        # A run killed early leaves records but no device in its status.
        left = list(work.cases[-1:])
    return replace(work, left=left, before=before)


def ask_all(works: Sequence[Work], *, fresh: bool) -> list[Work]:
    """Find the cases left in several cells, and estimate their seconds.

    Records are read on all cores. Raises BadFile.
    """
    if not fresh:
        read_ahead((work.cell, work.pinned, work.cases) for work in works if work.cell.unavailable is None)
    asked = [ask(work, fresh=fresh) for work in works]
    return [replace(work, seconds=sum(costs.of(*both).seconds for both in work.left)) for work in asked]


def claim(work: Work, claimed: set[Hashable]) -> Work:
    """Claim the cases that no other cell runs for this one, and drop the others. Row zero runs in each cell."""
    mine = []
    for entry, case in work.left:
        name = (entry.issue.id, case.id, alike.met(work.cell, case.needs, work.pinned.pins))
        if entry.issue.row_zero or name not in claimed:
            claimed.add(name)
            mine.append((entry, case))
    if work.left and not (mine or (work.before and work.before.device)):
        # Only a run in the cell shows the device.
        mine = [work.left[-1]]
    return replace(work, left=mine, lent=len(work.left) - len(mine))


def orders(work: Work, *, confirm: bool = False) -> list[Task]:
    """Return the probe's tasks for the cases left."""
    return [task(work.cell, *both, work.pinned, confirm=confirm) for both in work.left]


def task(cell: Cell, entry: Entry, case: Case, pinned: Lock, *, confirm: bool = False) -> Task:
    """Return the probe's task for a case in a cell."""
    rule = rules.expected(case, pinned.pins)
    return Task(
        entry,
        case,
        keys.key(entry, case, pinned.sha256, cell.python),
        # The probe makes one attempt only if the attempt shows the expected behaviour.
        rule.behaviour if rule and not confirm else None,
        records.path_of(cell.id, entry.issue.id, case.id),
        cost=costs.of(entry, case),
    )


def begin(work: Work, *, fresh: bool) -> None:
    """Set aside the records of a fresh run's cases; in any other run, restore the ones that were not replaced."""
    records.settle(work.cell.id, back=not fresh)
    if fresh:
        records.set_aside(work.cell.id, work.cases)


def known(cell: Cell, entry: Entry, case: Case, pinned: Lock, *, confirm: bool = False) -> bool:
    """Return True if a valid record exists, so that the case need not run again.

    A failed run's case is tried again. A case is also tried again if its single attempt does not show the behaviour
    that the present rules expect.
    """
    record = seen(cell, entry, case, pinned)
    if record is None:
        return False
    rule = rules.expected(case, pinned.pins)
    seen_as_ruled = record.behaviour is not None and rule is not None and record.behaviour == rule.behaviour
    as_expected = seen_as_ruled or record.verdict == "blocked"
    if (confirm or not as_expected) and not record.confirmed:
        return False
    return record.verdict not in RETRIED
