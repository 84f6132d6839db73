"""What the probe and the driver leave on disk: one record per case and cell, one status per cell.

`.suite/records/<cell>/<issue>/<case>.json`, and `.suite/records/<cell>/cell.json`. Raw: nothing here is judged. A
record holds under its key: what it depends on. Where that no longer agrees with the tree, the record counts as not run.
"""

from __future__ import annotations

import hashlib
import platform
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Literal

from suite.cell.atomic import write
from suite.files import ROOT, STATE, BadFile, Fault, FileModel, dump, read
from suite.judge.record import Key, Record
from suite.run.catalogue import Entry

RECORDS = STATE / "records"


class Status(FileModel):
    """How far a cell got. `reason` is `ran`, or a reason code with the sentence in `detail`."""

    schema_version: Literal[1] = 1
    cell: str
    at: datetime
    verdict: Literal["ran", "unavailable", "conflict", "error"]
    reason: str
    detail: str = ""
    python: str = ""
    platform: str = ""
    device: str = ""


def here() -> str:
    """This machine, as far as an observation depends on it."""
    return f"{platform.system()}-{platform.machine()}"


def key(entry: Entry, lock_sha256: str, python: str, where: str = "") -> Key:
    """What an observation of this issue, under this lock, with this interpreter, here or there, depends on."""
    return Key(
        lock=lock_sha256,
        issue=source_sha256(entry),
        probe=probe_sha256(),
        python=python,
        platform=where or here(),
    )


def source_sha256(entry: Entry) -> str:
    """The sha256 of an issue's module."""
    return _sha256(entry.source)


def probe_sha256() -> str:
    """The sha256 of what runs the issues in a cell."""
    return _sha256(*sorted((ROOT / "suite" / "cell").glob("*.py")))


def path_of(cell: str, issue_id: str, case_id: str) -> Path:
    """Where the record of a case in a cell lies."""
    return RECORDS / cell / issue_id / f"{case_id}.json"


def find(cell: str, entry: Entry, case_id: str, expected: Key) -> Record | None:
    """The record of a case, if there is one and it was made under the key `expected`.

    Raises BadFile where the file is not a record: it is somebody else's, or a disk's fault, and not ours to remove.
    """
    path = path_of(cell, entry.issue.id, case_id)
    if not path.exists():
        return None
    record = read(Record, path)
    return record if record.key == expected else None


def status(cell: str) -> Status | None:
    """How far this cell got when it was last tried. Raises BadFile."""
    path = RECORDS / cell / "cell.json"
    return read(Status, path) if path.exists() else None


def write_status(found: Status) -> None:
    """Put a cell's status on disk."""
    write(RECORDS / found.cell / "cell.json", dump(found.model_dump(mode="json")))


def faults() -> list[Fault]:
    """What is wrong in the records on disk: a file that is not one, by file and key."""
    found: list[Fault] = []
    for path in sorted(RECORDS.glob("*/*/*.json")):
        try:
            read(Record, path)
        except BadFile as error:
            found += [
                Fault(each.path, each.key, f"{each.message} (remove the file to run it again)") for each in error.faults
            ]
    return found


def cells_recorded() -> list[str]:
    """The cells that have been tried."""
    return sorted(path.parent.name for path in RECORDS.glob("*/cell.json"))


@cache
def _sha256(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()
