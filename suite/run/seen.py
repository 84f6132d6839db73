"""What the records show, judged: a file is read and judged once, however many cells and reports it counts in."""

from __future__ import annotations

import os
from dataclasses import dataclass

from suite.cell.issue import Case
from suite.judge import verdicts
from suite.judge.record import Record, Where
from suite.judge.verdicts import Judged
from suite.judge.wording import not_imported
from suite.run import records
from suite.run.catalogue import Entry
from suite.stack.lock import Lock
from suite.stack.plan import Cell


@dataclass(frozen=True, slots=True)
class Seen:
    """A record, judged, without its texts. `cell` is the one that the case ran in."""

    cell: str
    judged: Judged
    confirmed: bool
    attempts: int
    seconds: float
    peak_rss_mib: int
    platform: Where
    not_imported: str | None


# Whoever replaces a file or writes to it changes one of these.
_Stamp = tuple[int, int, int, int]
# What an answer was decided by, besides the file.
_Grounds = tuple[str, str, str, int]

_SEEN: dict[str, tuple[_Stamp, _Grounds, Case, Seen | None]] = {}
_PLATFORMS: dict[str, tuple[_Stamp | None, str]] = {}


def seen(cell: Cell, entry: Entry, case: Case, pinned: Lock) -> Seen | None:
    """Return what the record in force of a case shows. Raises BadFile."""
    return records.first(cell, entry, case, pinned, _of_cell)


def shown(case: Case, record: Record) -> Seen:
    """Return what a record of a case shows."""
    last = record.attempts[-1]
    return Seen(
        cell=record.cell,
        judged=verdicts.judge(case, record.attempts),
        confirmed=verdicts.confirmed(record.attempts),
        attempts=len(record.attempts),
        seconds=last.seconds,
        peak_rss_mib=last.peak_rss_mib,
        platform=record.machine.platform,
        not_imported=not_imported(last.parts["reproducer"]),
    )


def _of_cell(cell: Cell, entry: Entry, case: Case, pinned: Lock) -> Seen | None:
    path = f"{records.RECORDS}/{cell.id}/{entry.issue.id}/{case.id}.json"
    if (stamp := _stamp(path)) is None:
        return None
    platform = _platform(cell.id)
    grounds = pinned.sha256, platform, cell.python, id(case)
    known = _SEEN.get(path)
    if known is None or known[:2] != (stamp, grounds):
        record = records.of_cell(cell, entry, case, pinned, platform)
        # While a case is kept here, no other has its id.
        known = _SEEN[path] = stamp, grounds, case, shown(case, record) if record else None
    return known[3]


def _platform(cell: str) -> str:
    path = f"{records.RECORDS}/{cell}/cell.json"
    stamp, known = _stamp(path), _PLATFORMS.get(path)
    if known is None or known[0] != stamp:
        status = records.status(cell)
        known = _PLATFORMS[path] = stamp, status.platform if status else ""
    return known[1]


def _stamp(path: str) -> _Stamp | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - some hundred thousand times
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size
