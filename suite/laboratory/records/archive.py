"""The records behind the published report, packed beside it, so that publishing a new issue runs only that issue.

`reports/published/records/` has a file for each issue, `<issue>.jsonl.xz`, and `_cells.jsonl.xz`: for each cell its
status, its lock and the installed packages. An unpacked record is like any other: its case is cached if its key agrees
with the tree.

A line of an issue's file has the fields that some records share, with null for a record's own values. Then follows a
list for each of these records: its cell, and its own values, in the order of the nulls.

    [{"cell": null, …, "attempts": [{"parts": …, "seconds": null}]}, ["jax-0.4.31", "2026-11-22T05:20:43Z", 0.091], …]

A new release adds a stream of xz to each file, whose beginning stays, so that git stores only the stream. With 58,591
records of 186 issues in 553 cells, the archive has 1.7 MB. To a repacked history, a new issue with its 168 records adds
31 kB, check.json and COMPAT.md included. A new jax in 44 cells adds 236 kB; with its names, numbers and locks, 689 kB.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from jax_stack_compat.base.errors import BadFile, Fault, shown
from jax_stack_compat.base.files import REPORTS, FileModel, content, replace_all
from jax_stack_compat.base.spelling import identifier
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.judge.record import AGAIN
from jax_stack_compat.stack import lock, plan
from jax_stack_compat.stack.lock import Lock
from jax_stack_compat.stack.plan import Cell
from laboratory.records import keys, records
from laboratory.records.records import Status

FOLDER = REPORTS / "published" / "records"
_SUFFIX = ".jsonl.xz"
# No issue's id begins with an underscore.
_CELLS = f"_cells{_SUFFIX}"
# The archive has 65 MiB today, and is read into memory.
_MOST = 512 * 2**20
# The fields that all valid records of a cell share.
_OF_CELL = ("cell", "lock", "packages")
# The fields in which records with the same result differ.
_OF_RECORD = ("started_at", "import_errors", "unforkable", "seconds", "peak_rss_mib")
# Cell, issue and case.
Name = tuple[str, str, str]


class CellLine(FileModel):
    """A cell in the archive."""

    status: Status
    lock: str
    packages: dict[str, str | None]


class PackedRecord(NamedTuple):
    """A record as packed: the JSON that it shares with others, its key there, and its own values."""

    shared: str
    key: dict[str, Any]
    own: Sequence[Any]


def pack(cells: Iterable[Cell], folder: Path = FOLDER) -> int:
    """Pack the records and statuses of these cells into `folder`; return the number of records.

    A record is left out if its case is not in the tree, or its key is not the tree's. Files whose records change are
    written, all or none. Raises BadFile, OSError.
    """
    there, cells_there = load(folder)
    of_cells: list[CellLine] = []
    of_issues: dict[str, dict[Name, PackedRecord]] = {}
    for cell in sorted(cells, key=lambda each: each.id):
        status = records.status(cell.id)
        if status is None:
            continue
        pinned = lock.load(cell)
        of_cells.append(CellLine(status=status, lock=pinned.sha256, packages=dict(pinned.pins)))
        # Each run of a cell rewrites its status, so an equal status means unchanged records.
        same = of_cells[-1] == cells_there.get(cell.id)
        for entry in catalogue.entries():
            for case in entry.issue.cases:
                name = cell.id, entry.issue.id, case.id
                known = there.get(name) if same else None
                if known is None or not holds(known.key, cell, entry, case):
                    known = _of_disk(cell, entry, case, pinned)
                if known is not None:
                    of_issues.setdefault(entry.issue.id, {})[name] = known
    old: dict[str, dict[Name, PackedRecord]] = {}
    for name, known in there.items():
        old.setdefault(name[1], {})[name] = known
    contents = {
        f"{issue}{_SUFFIX}": _content(folder / f"{issue}{_SUFFIX}", found, old.get(issue, {}))
        for issue, found in of_issues.items()
    }
    text = "".join(f"{_line(each.model_dump(mode='json'))}\n" for each in of_cells)
    contents[_CELLS] = lzma.compress(text.encode()) if text != _text(folder / _CELLS) else None
    # Keep the records of issues whose modules cannot be read.
    kept = {*contents, *(f"{issue}{_SUFFIX}" for issue in catalogue.unread())}
    gone = {path.name for path in folder.glob(f"*{_SUFFIX}")} - kept
    replace_all(folder, {name: content for name, content in contents.items() if content is not None}, gone)
    return sum(map(len, of_issues.values()))


def _content(path: Path, found: Mapping[Name, PackedRecord], old: Mapping[Name, PackedRecord]) -> bytes | None:
    """Return the new content of an issue's file; None if its records are there already.

    If all records of the file stay, what is new follows as another stream of xz: git stores only that.
    """
    stay = all(found.get(name) == packed for name, packed in old.items())
    new = {name: packed for name, packed in found.items() if name not in old} if stay else found
    if not new:
        return None
    groups: dict[str, list[list[Any]]] = {}
    for (cell, _, _), packed in new.items():
        groups.setdefault(packed.shared, []).append([cell, *packed.own])
    lines = (f"[{shared},{','.join(map(_line, rows))}]\n" for shared, rows in sorted(groups.items()))
    return (path.read_bytes() if stay and old else b"") + lzma.compress("".join(lines).encode())


def unpack(folder: Path = FOLDER) -> int:
    """Write the files that the archive has and this machine lacks; return how many. Raises BadFile, OSError.

    A record of older code is replaced if the packed one is of the tree's.
    """
    there, cells = load(folder)
    cases = {(entry.issue.id, case.id): (entry, case) for entry in catalogue.entries() for case in entry.issue.cases}
    planned = {cell.id: cell for cell in plan.cells()}
    lacking = 0
    for (cell, issue, case), packed in there.items():
        path, line = records.path_of(cell, issue, case), cells[cell]
        if path.exists():
            known = cell in planned and cases.get((issue, case))
            if not known or not _replaces(packed, line, path, planned[cell], *known):
                continue
        whole = record(packed, line, folder)
        # `atomic.write` would wait for the disk with each record. Another process may unpack, too.
        new = path.with_suffix(f".{uuid4().hex}")
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
        new.replace(path)
        lacking += 1
    for cell, line in cells.items():
        if not (records.RECORDS / cell / "cell.json").exists():
            records.write_status(line.status)
            lacking += 1
    return lacking


def _replaces(packed: PackedRecord, line: CellLine, path: Path, cell: Cell, entry: Entry, case: Case) -> bool:
    """Return True if a packed record is of the tree's lock and code, and the one at `path` is not."""
    wanted = lock.load(cell).sha256
    if line.lock != wanted or not holds(packed.key, cell, entry, case):
        return False
    try:
        key = json.loads(path.read_bytes())["key"]
        return not (key["lock"] == wanted and holds({**key, "lock": None}, cell, entry, case))
    except (ValueError, LookupError, TypeError):
        # Another command names the file and the fault.
        return False


def record(packed: PackedRecord, line: CellLine, folder: Path = FOLDER) -> dict[str, Any]:
    """Return a packed record of a cell as its file on disk has it. Raises BadFile if values are missing."""
    shared = json.loads(packed.shared)
    of_cell = {"cell": line.status.cell, "lock": line.lock, "packages": line.packages}
    try:
        found: dict[str, Any] = _filled(shared, of_cell, iter(packed.own))
    except StopIteration as error:
        cut = f"{line.status.cell}/{shared['case']} is cut short"
        raise BadFile([_fault(folder / f"{shared['issue']}{_SUFFIX}", cut)]) from error
    return found


def load(folder: Path) -> tuple[dict[Name, PackedRecord], dict[str, CellLine]]:
    """Return the records and the cells of an archive. Raises BadFile with every fault in it."""
    found: dict[Name, PackedRecord] = {}
    cells: dict[str, CellLine] = {}
    faults: list[Fault] = []
    left = _MOST
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        try:
            # Texts may contain other line ends, so split at newlines only.
            unpacked = _text(path, left) or ""
            left -= len(unpacked)
            for line in filter(None, unpacked.split("\n")):
                if path.name == _CELLS:
                    cell = CellLine.model_validate_json(line)
                    cells[cell.status.cell] = cell
                    continue
                shared, *rows = json.loads(line)
                text = _line(shared)
                # The ids become paths, so check them.
                issue, case = identifier(shared["issue"]), identifier(shared["case"])
                if len(set(map(len, rows))) > 1:
                    raise ValueError(f"a record of {issue}/{case} is cut short")
                for cell_id, *own in rows:
                    found[cell_id, issue, case] = PackedRecord(text, shared["key"], own)
        except (lzma.LZMAError, OSError, EOFError, ValueError, LookupError, TypeError, RecursionError) as error:
            faults.append(_fault(path, f"{type(error).__name__}: {error}"))
    if not faults and (lost := {cell for cell, _, _ in found} - cells.keys()):
        faults.append(Fault(folder / _CELLS, "archive", f"has no {min(lost)}, but has records of it"))
    if faults:
        raise BadFile(faults)
    return found, cells


def _fault(path: Path, why: str) -> Fault:
    return Fault(path, "archive", f"{why}; `git checkout -- {shown(path)}` restores it")


def _of_disk(cell: Cell, entry: Entry, case: Case, pinned: Lock) -> PackedRecord | None:
    """Return the record of a case on this machine if its key is the tree's, on any platform."""
    path = records.path_of(cell.id, entry.issue.id, case.id)
    try:
        record = json.loads(path.read_bytes())
        named = (record["cell"], record["issue"], record["case"]) == (cell.id, entry.issue.id, case.id)
        of_lock = (record["key"]["lock"], record["machine"]["packages"]) == (pinned.sha256, pinned.pins)
        own: list[Any] = []
        shared = _split(record, own)
        if not (named and of_lock and holds(shared["key"], cell, entry, case)):
            return None
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError) as error:
        raise BadFile([Fault(path, "record", f"{type(error).__name__}: {error} ({AGAIN})")]) from error
    return PackedRecord(_line(shared), shared["key"], own)


def holds(key: Mapping[str, Any], cell: Cell, entry: Entry, case: Case) -> bool:
    """Return True if a key agrees with the tree's in everything but the lock."""
    # `keys.key` would make a model for each of some hundred thousand records.
    ours = {"lock": None, "issue": keys.case_sha256(entry, case), "probe": keys.probe_sha256()}
    return key == {**ours, "python": cell.python, "platform": key["platform"]}


def _split(found: Any, own: list[Any]) -> Any:
    """Return `found` with null for the values of the cell and of the record; append the record's values to `own`."""
    if isinstance(found, list):
        return [_split(each, own) for each in found]
    if not isinstance(found, dict):
        return found
    own += (value for name, value in found.items() if name in _OF_RECORD)
    return {
        name: None if name in _OF_CELL or name in _OF_RECORD else _split(value, own) for name, value in found.items()
    }


def _filled(shared: Any, of_cell: dict[str, Any], own: Iterator[Any]) -> Any:
    """Reassemble the record that `_split` divided."""
    if isinstance(shared, list):
        return [_filled(each, of_cell, own) for each in shared]
    if not isinstance(shared, dict):
        return shared
    known = {**of_cell, **{name: next(own) for name in shared if name in _OF_RECORD}}
    return {name: known[name] if name in known else _filled(value, of_cell, own) for name, value in shared.items()}


def _text(path: Path, most: int = _MOST) -> str | None:
    """Return the packed records of a file; None without a file. Raises OSError, LZMAError, EOFError, ValueError."""
    if not path.exists():
        return None
    with lzma.open(BytesIO(content(path))) as stream:
        packed = stream.read(most + 1)
    if len(packed) > most:
        raise ValueError(f"together with earlier files, it unpacks to more than {_MOST // 2**20} MiB")
    return packed.decode()


_line = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
