"""The difference between a report and its predecessor, as compat.json keeps it. Pure."""

from __future__ import annotations

from suite.report.compare.diff import ReportDiff, diff, key
from suite.report.markup import clipped
from suite.report.model import ChangeRow, Report, SinceRow

# A new release changes a handful of things; the front page needs no more.
MAX_CHANGES = 40
MAX_CASES = 6


def since(before: Report, now: Report) -> SinceRow | None:
    """Return the changes since `before`, or None if it reports on something else.

    If nothing changed, return the changes that `before` lists since its own predecessor.
    """
    if not comparable(before, now):
        return None
    found = diff(before, now)
    return row(found) if found.groups or before.since is None else before.since


def comparable(before: Report, now: Report) -> bool:
    """Return True if neither report is a shard and each shares more than half of its observations with the other.

    So a new release or issue counts as a change, but a report on one cell does not follow one on all cells.
    """
    if before.shard is not None or now.shard is not None:
        return False
    keys = [{key(row) for row in report.observations} for report in (before, now)]
    return 2 * len(keys[0] & keys[1]) > max(map(len, keys))


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
