"""Records and statuses on disk: one record per case and cell, one status per cell. Nothing here is judged.

The paths are `.suite/records/<cell>/<issue>/<case>.json` and `.suite/records/<cell>/cell.json`. A record counts under
its key, a hash of everything that it depends on. A record whose key differs from the tree's counts as not run. A record
that was set aside as `<case>.aside`, for a new run, also counts as not run.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal, get_args

from jax_stack_compat.base.errors import BadFile, Fault
from jax_stack_compat.base.fields import CellId
from jax_stack_compat.base.files import STATE, FileModel, dump, read
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.judge.record import AGAIN, Record
from jax_stack_compat.stack.lock import Lock
from jax_stack_compat.stack.plan import Cell
from laboratory.records import alike
from laboratory.records.keys import key

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


Stamp = tuple[int, int, int, int]
_STATUSES: dict[str, tuple[Stamp, Status]] = {}


def in_force(cell: Cell, entry: Entry, case: Case, pinned: Lock) -> Record | None:
    """Return the valid record of a case: with the tree's lock, code and probe, on the cell's last platform.

    If the cell has no such record, return the record of another cell with the same packages; the record names its cell.
    Records with other versions than the lock's do not count. An import that failed only once does not count, either,
    since the machine may be at fault. Raises BadFile for a file that is not a record, which may be the user's and is
    not removed.
    """
    places = alike.places(cell, entry, case, pinned)
    return next(filter(None, (of_cell(each, entry, case, held) for each, held in places)), None)


def of_cell(cell: Cell, entry: Entry, case: Case, pinned: Lock) -> Record | None:
    """Return the cell's own record of a case if it counts. Raises BadFile."""
    path = path_of(cell.id, entry.issue.id, case.id)
    if not path.exists():
        return None
    record = read(Record, path)
    wanted = key(entry, case, pinned.sha256, cell.python, platform(cell.id))
    if record.key != wanted or (record.cell, record.issue, record.case) != (cell.id, entry.issue.id, case.id):
        return None
    installed = record.machine.packages
    if any(version != pinned.pins.get(name, version) for name, version in installed.items()):
        return None
    return record if record.machine.remade or not record.fails_to_import else None


@cache
def source_sha256(path: Path) -> str:
    """Return the sha256 of an issue's module."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def path_of(cell: str, issue_id: str, case_id: str) -> Path:
    """Return the path of the record of a case in a cell."""
    # One joinpath is faster than three `/`, for some hundred thousand paths in a plan.
    return RECORDS.joinpath(cell, issue_id, f"{case_id}.json")


def begin(cell: str, cases: Iterable[tuple[Entry, Case]], *, fresh: bool) -> None:
    """Set aside the records of a fresh run's cases; in any other run, restore the ones that were not replaced."""
    settle(cell, back=not fresh)
    for entry, case in cases if fresh else ():
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
    path = f"{RECORDS}/{cell}/cell.json"
    if (now := stamp(path)) is None:
        return None
    if path not in _STATUSES or _STATUSES[path][0] != now:
        _STATUSES[path] = now, read(Status, Path(path))
    return _STATUSES[path][1]


def platform(cell: str) -> str:
    """Return the platform of the cell's last status. Raises BadFile."""
    return last.platform if (last := status(cell)) else ""


def stamp(path: str) -> Stamp | None:
    """Return a value that changes when a file is replaced or written; None without a file."""
    try:
        found = os.stat(path)  # noqa: PTH116 - some hundred thousand times
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size


def write_status(found: Status) -> None:
    """Write a cell's status."""
    write(RECORDS / found.cell / "cell.json", dump(found.model_dump(mode="json")))


def faults() -> list[Fault]:
    """List the unreadable records and statuses, by file and key."""
    found: list[Fault] = []
    for model, paths in ((Status, "*/cell.json"), (Record, "*/*/*.json")):
        for path in sorted(RECORDS.glob(paths)):
            try:
                read(model, path)
            except BadFile as error:
                found += error.faults
    return found
