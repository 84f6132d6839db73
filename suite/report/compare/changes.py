"""A report and the one before it → what compat.json keeps of the difference: rows, and no more than fit. Pure."""

from __future__ import annotations

from suite.report.compare.diff import Diff, diff, key
from suite.report.markup import clipped
from suite.report.model import ChangeRow, Report, SinceRow

# A new release changes a handful of things; what changes more is no matter for a first screen.
MOST = 40
CASES = 6


def since(before: Report, now: Report) -> SinceRow | None:
    """What changed since `before`; nothing where that is no earlier report of the same.

    Where nothing did, what `before` had to say of the report before it still holds, and is kept.
    """
    if not comparable(before, now):
        return None
    found = diff(before, now)
    return row(found) if found.groups or before.since is None else before.since


def comparable(before: Report, now: Report) -> bool:
    """Whether two reports are of whole runs of the same: more than half of what either has, the other has too.

    So a new release, or a new issue, is told as that; and one cell that is run after all of them, as nothing.
    """
    if before.shard is not None or now.shard is not None:
        return False
    keys = [{key(each) for each in report.observations} for report in (before, now)]
    return 2 * len(keys[0] & keys[1]) > max(map(len, keys))


def row(found: Diff) -> SinceRow:
    """A difference as compat.json has it: the counts are of all of it, and of its groups there are the first."""
    changes = [
        ChangeRow(
            kind=group.kind,
            first=group.cells[0],
            last=group.cells[-1],
            cell_count=len(group.cells),
            cases=[f"{issue}/{case}" for issue, case in group.cases[:CASES]],
            case_count=len(group.cases),
            words=clipped(group.words),
        )
        for group in found.groups[:MOST]
    ]
    return SinceRow(
        generated_at=found.old.generated_at,
        coverage=found.old.coverage,
        counts=dict(found.counts),
        changes=changes,
        left_out=len(found.groups) - len(changes),
    )
