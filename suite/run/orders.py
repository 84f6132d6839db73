"""What a probe is asked for: the tasks of a cell, each with its key, its record's path and its cost."""

from __future__ import annotations

from suite.catalogue.catalogue import Entry
from suite.cell.issue import Case
from suite.judge import rules
from suite.records import keys, records
from suite.run.left import Work
from suite.run.probe_call import Task
from suite.run.schedule import costs
from suite.stack.lock import Lock
from suite.stack.plan import Cell


def tasks(work: Work, *, confirm: bool = False) -> list[Task]:
    """Return what a probe is asked for about each case that is left."""
    return [task(work.cell, *both, work.pinned, confirm=confirm) for both in work.left]


def task(cell: Cell, entry: Entry, case: Case, pinned: Lock, *, confirm: bool = False) -> Task:
    """Return what the probe is asked for about a case in a cell."""
    rule = rules.expected(case, pinned.pins)
    return Task(
        entry,
        case,
        keys.key(entry, case, pinned.sha256, cell.python),
        # The probe is content with one attempt where it sees what is expected.
        rule.behaviour if rule and not confirm else None,
        records.path_of(cell.id, entry.issue.id, case.id),
        cost=costs.of(entry, case),
    )
