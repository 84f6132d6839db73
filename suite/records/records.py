"""Records and statuses on disk: one record per case and cell, one status per cell. Nothing here is judged.

The paths are `.suite/records/<cell>/<issue>/<case>.json` and `.suite/records/<cell>/cell.json`. A record counts under
its key, a hash of everything that it depends on. A record whose key differs from the tree's counts as not run. A record
that was set aside as `<case>.aside`, for a new run, also counts as not run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal, get_args

from suite.catalogue.catalogue import Entry
from suite.cell.atomic import write
from suite.cell.issue import Case
from suite.errors import BadFile, Fault
from suite.fields import CellId
from suite.files import STATE, FileModel, dump, read
from suite.judge.record import AGAIN, Record
from suite.records import alike
from suite.records.keys import key
from suite.stack.lock import Lock
from suite.stack.plan import Cell

RECORDS = STATE / "records"
_ASIDE = ".aside"


# From the least to the most cases.
Asked = Literal["bisection", "chosen", "headlines", "all"]
ASKED: tuple[Asked, ...] = get_args(Asked)


class Status(FileModel):
    """A cell's status. `reason` is `ran`, or a reason code explained in `detail`.

    `asked` is the widest plan that ran the cell: reports of a run leave out cells that only a bisection ran.
    """

    mend: ClassVar[str] = AGAIN

    schema_version: Literal[1] = 1
    cell: CellId
    at: datetime
    verdict: Literal["ran", "unavailable", "conflict", "error"]
    reason: str
    detail: str = ""
    python: str = ""
    platform: str = ""
    device: str = ""
    asked: Asked = "all"


def in_force(cell: Cell, entry: Entry, case: Case, pinned: Lock) -> Record | None:
    """Return the valid record of a case: with the tree's lock, code and probe, on the cell's last platform.

    If the cell has no such record, return the record of another cell with the same packages; the record names its cell.
    Records with other versions than the lock's do not count. An import that failed only once does not count, either,
    since the machine may be at fault. Raises BadFile for a file that is not a record, which may be the user's and is
    not removed.
    """
    places = alike.places(cell, entry, case, pinned)
    return next(filter(None, (_of_cell(each, entry, case, held) for each, held in places)), None)


def _of_cell(cell: Cell, entry: Entry, case: Case, pinned: Lock) -> Record | None:
    if not path_of(cell.id, entry.issue.id, case.id).exists():
        return None
    last = status(cell.id)
    return of_cell(cell, entry, case, pinned, last.platform if last else "")


def of_cell(cell: Cell, entry: Entry, case: Case, pinned: Lock, platform: str) -> Record | None:
    """Return the cell's own record of a case if it counts. `platform` is the status's. Raises BadFile."""
    record = read(Record, path_of(cell.id, entry.issue.id, case.id))
    wanted = key(entry, case, pinned.sha256, cell.python, platform)
    if record.key != wanted or (record.cell, record.issue, record.case) != (cell.id, entry.issue.id, case.id):
        return None
    installed = record.machine.packages
    if any(version != pinned.pins.get(name, version) for name, version in installed.items()):
        return None
    return record if record.machine.remade or not fails_to_import(record) else None


def fails_to_import(record: Record) -> bool:
    """Return True if a package that the case needs did not import."""
    return record.attempts[0].parts["reproducer"].outcome.startswith("import-")


def source_sha256(entry: Entry) -> str:
    """Return the sha256 of an issue's module."""
    return _sha256(entry.source)


def path_of(cell: str, issue_id: str, case_id: str) -> Path:
    """Return the path of the record of a case in a cell."""
    # One joinpath is faster than three `/`, for some hundred thousand paths in a plan.
    return RECORDS.joinpath(cell, issue_id, f"{case_id}.json")


def set_aside(cell: str, cases: Iterable[tuple[Entry, Case]]) -> None:
    """Set the records of these cases aside: they no longer count, even without a new record."""
    for entry, case in cases:
        path = path_of(cell, entry.issue.id, case.id)
        if path.exists():
            path.replace(path.with_suffix(_ASIDE))


def settle(cell: str, *, back: bool) -> None:
    """Remove set-aside records that were replaced; with `back`, restore the others."""
    for aside in list((RECORDS / cell).glob(f"*/*{_ASIDE}")):
        path = aside.with_suffix(".json")
        if path.exists():
            aside.unlink()
        elif back:
            aside.replace(path)


def status(cell: str) -> Status | None:
    """Return the cell's last status, or None. Raises BadFile."""
    path = RECORDS / cell / "cell.json"
    return read(Status, path) if path.exists() else None


def write_status(found: Status) -> None:
    """Write a cell's status."""
    write(RECORDS / found.cell / "cell.json", dump(found.model_dump(mode="json")))


def there(cell: Cell, entries: Iterable[Entry]) -> Iterator[Record]:
    """Yield the cell's records of these issues, valid or not. Raises BadFile."""
    for entry in entries:
        for case in entry.issue.cases:
            if (path := path_of(cell.id, entry.issue.id, case.id)).exists():
                yield read(Record, path)


def faults() -> list[Fault]:
    """List the unreadable records and statuses, by file and key."""
    found: list[Fault] = []
    wanted: list[tuple[type[Record] | type[Status], Path]] = [
        *((Status, path) for path in sorted(RECORDS.glob("*/cell.json"))),
        *((Record, path) for path in sorted(RECORDS.glob("*/*/*.json"))),
    ]
    for model, path in wanted:
        try:
            read(model, path)
        except BadFile as error:
            found += error.faults
    return found


@cache
def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
