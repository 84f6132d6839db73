"""The work on a cell: the planned cases, the cases left without a record that counts, and the probe's tasks."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.environments.task import Task
from jax_stack_compat.judge import rules
from jax_stack_compat.judge.verdict_table import RETRIED
from jax_stack_compat.stack import lock
from jax_stack_compat.stack.lock import Lock
from jax_stack_compat.stack.plan import Cell
from laboratory.records import alike, keys, records
from laboratory.records.records import Status
from laboratory.records.seen import seen


@dataclass(frozen=True)
class Work:
    """The work on a cell.

    `cases` are all cases planned in the cell. A `fresh` run leaves none of them out. With `confirm`, a record is valid
    if it has more than one attempt. After `ask`, `left` are the cases without a valid record, and `before` is the
    cell's last status. `lent` is the number of cases that another cell runs for this one.
    """

    cell: Cell
    entries: Sequence[Entry]
    pinned: Lock
    cases: Sequence[tuple[Entry, Case]]
    fresh: bool = False
    confirm: bool = False
    left: Sequence[tuple[Entry, Case]] = ()
    before: Status | None = None
    lent: int = 0


def planned(cell: Cell, entries: Sequence[Entry], *, fresh: bool = False, confirm: bool = False) -> Work:
    """Return all work on a cell. An unplanned stack is resolved if it has no lock. Raises BadFile, Unresolvable."""
    cases = [(entry, case) for entry in entries for case in entry.cases(cell)]
    return Work(cell, entries, lock.obtain(cell), cases, fresh, confirm)


def ask(work: Work) -> Work:
    """Find the cases left; none if the cell is unavailable. Raises BadFile."""
    before = records.status(work.cell.id)
    if work.cell.unavailable is not None:
        return replace(work, before=before)
    left = [both for both in work.cases if work.fresh or not known(work, *both)]
    if not (left or (before and before.device)):
        # A run killed early leaves records but no device in its status.
        left = list(work.cases[-1:])
    return replace(work, left=left, before=before)


def known(work: Work, entry: Entry, case: Case) -> bool:
    """Return True if a valid record exists, so that the case need not run again. Raises BadFile.

    A failed run's case is tried again. A case is also tried again if its single attempt does not show the behaviour
    that the present rules expect.
    """
    record = seen(work.cell, entry, case, work.pinned)
    if record is None or record.judged.verdict in RETRIED:
        return False
    rule = rules.expected(case, work.pinned.pins)
    as_ruled = rule is not None and record.judged.behaviour == rule.behaviour
    return record.confirmed or (not work.confirm and (as_ruled or record.judged.verdict == "blocked"))


def take(work: Work, claimed: set[Hashable]) -> Work:
    """Begin a reserved cell's run: ask what is left now, and claim the cases that no other cell runs for this one.

    Row zero and the cases of a fresh run run in each cell. Raises BadFile, OSError.
    """
    records.begin(work.cell.id, work.cases, fresh=work.fresh)
    work = ask(work)
    if work.fresh:
        return work
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


def orders(work: Work) -> list[Task]:
    """Return the probe's tasks for the cases left."""
    # The probe makes one attempt only if the attempt shows the expected behaviour.
    ruled = [None if work.confirm else rules.expected(case, work.pinned.pins) for _, case in work.left]
    return [
        Task(
            entry,
            case,
            rule.behaviour if rule else None,
            records.path_of(work.cell.id, entry.issue.id, case.id),
            keys.key(entry, case, work.pinned.sha256, work.cell.python),
        )
        for (entry, case), rule in zip(work.left, ruled, strict=True)
    ]
