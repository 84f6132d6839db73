"""Data that one job of a release day hands to the next: taken by name, and checked, so that no code is taken.

A job that ran foreign releases may hand on anything. Its artifact is unpacked into a folder of its own; from there, or
from a tar archive, the files below are taken into the tree and the state, and no others.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import stat
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from rich.console import Console

from jax_stack_compat.base.errors import BadFile, Failed, Fault
from jax_stack_compat.base.files import ROOT, FileModel, parse
from jax_stack_compat.base.printable import printable
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.judge.record import Record
from jax_stack_compat.judge.wording import named
from jax_stack_compat.stack import lock
from jax_stack_compat.stack.releases import Snapshot
from laboratory.records import records
from laboratory.records.records import Status
from laboratory.run.sizes import Sizes

# In bytes: for one file, once unpacked, and for all files.
_MOST, _MOST_IN_ALL = 64 * 2**20, 2**31
_MOST_FILES = 200_000
_NAME = r"[a-z0-9]+(?:[.+_-][a-z0-9]+)*"
_RECORDS = "state/records/"

Check = Callable[[bytes, Path], object]


@dataclass(frozen=True)
class Handed:
    """A file that was handed on: its path in the tree or, under `state/records`, in the state, and its content."""

    name: str
    content: bytes

    @property
    def is_record(self) -> bool:
        """True if it is a record or a status."""
        return self.name.startswith(_RECORDS)

    @property
    def path(self) -> Path:
        """The path to write."""
        return records.RECORDS / self.name.removeprefix(_RECORDS) if self.is_record else ROOT / self.name


def _of(model: type[FileModel]) -> Check:
    return lambda content, path: parse(model, content.decode(), path)


def _lock(content: bytes, path: Path) -> object:
    return lock.parse(content.decode(), path)


def _record(content: bytes, path: Path) -> object:
    record = parse(Record, content.decode(), path)
    if (record.cell, record.issue, record.case) != (path.parts[-3], path.parts[-2], path.stem):
        raise ValueError(f"it is the record of {record.cell}/{record.issue}/{record.case}")
    return record


def _status(content: bytes, path: Path) -> object:
    status = parse(Status, content.decode(), path)
    if status.cell != path.parts[-2]:
        raise ValueError(f"it is the status of {status.cell}")
    return status


def _unpacked(content: bytes, _: Path) -> object:
    return json.loads(_text(content))


def _unpacked_lines(content: bytes, _: Path) -> object:
    return [json.loads(line) for line in _text(content).splitlines()]


def _text(content: bytes) -> bytes:
    with lzma.open(BytesIO(content)) as stream:
        text = stream.read(_MOST + 1)
    if len(text) > _MOST:
        raise ValueError("it unpacks to too much")
    return text


# By path; the first that matches counts.
KINDS: tuple[tuple[re.Pattern[str], Check], ...] = tuple(
    (re.compile(pattern), check)
    for pattern, check in (
        (r"suite/jax_stack_compat/stack/releases\.json", _of(Snapshot)),
        (rf"suite/jax_stack_compat/stack/locks/{_NAME}\.txt", _lock),
        (r"suite/laboratory/run/sizes\.json", _of(Sizes)),
        (rf"{_RECORDS}{_NAME}/cell\.json", _status),
        (rf"{_RECORDS}{_NAME}/{_NAME}/{_NAME}\.json", _record),
        (rf"reports/published/(?:names|numbers)/{_NAME}\.json", lambda content, _: json.loads(content)),
        (rf"reports/published/(?:names/{_NAME}|numbers)\.json\.xz", _unpacked),
        (rf"reports/published/numbers/{_NAME}\.csv", lambda content, _: content.decode()),
        (
            r"suite/laboratory/libraries/releases\.json|reports/published/libraries\.json",
            lambda content, _: json.loads(content),
        ),
        (r"reports/published/libraries\.jsonl\.xz", _unpacked_lines),
    )
)


def receive(handed: Sequence[Path], *, console: Console) -> None:
    """Take the data from folders and tar archives. Raises BadFile, Failed, OSError; then nothing was taken.

    Files with other names are left out and listed, and so are records that cannot be read: their cases run again.
    """
    taken: list[Handed] = []
    left: list[str] = []
    faults: list[Fault] = []
    for file in _bounded(each for place in handed for each in _files(place)):
        check = next((check for pattern, check in KINDS if pattern.fullmatch(file.name)), None)
        why = [Fault(file.path, "file", "has no name that is handed on")] if check is None else _faults(check, file)
        if not why:
            taken.append(file)
        elif check is None or file.is_record:
            left.append(file.name)
        else:
            faults += why
    if faults:
        raise BadFile(faults)
    for file in taken:
        _put(file)
    console.print(f"{len(taken):,} files of data taken", soft_wrap=True)
    if left:
        told = named([printable(name) for name in left])
        console.print(f"{len(left):,} files left out, which are no data of a release day: {told}", soft_wrap=True)


def _faults(check: Check, file: Handed) -> list[Fault]:
    try:
        check(file.content, file.path)
    except BadFile as error:
        return error.faults
    except (ValueError, EOFError, RecursionError, lzma.LZMAError) as error:
        return [Fault(file.path, "file", str(error))]
    return []


def _put(file: Handed) -> None:
    path = file.path
    if not file.is_record:
        write(path, file.content)
        return
    # `write` would wait for the disk with each of some ten thousand records.
    new = path.with_suffix(".new")
    new.parent.mkdir(parents=True, exist_ok=True)
    new.write_bytes(file.content)
    new.replace(path)


def _bounded(files: Iterator[Handed]) -> Iterator[Handed]:
    left = _MOST_IN_ALL
    for number, file in enumerate(files):
        left -= len(file.content)
        if left < 0 or number >= _MOST_FILES:
            raise Failed("what was handed on is larger than a release day's data: nothing was taken")
        yield file


def _files(place: Path) -> Iterator[Handed]:
    """Yield the regular files of a folder or a tar archive; links and devices are left out. Raises Failed, OSError."""
    if place.is_dir():
        for folder, _, names in os.walk(place):
            for path in (Path(folder, name) for name in sorted(names)):
                found = path.lstat()
                if stat.S_ISREG(found.st_mode):
                    yield Handed(path.relative_to(place).as_posix(), _read(path, found.st_size))
        return
    try:
        with tarfile.open(place, "r:") as archive:
            for member in archive:
                if member.isreg() and not member.issparse() and (stream := archive.extractfile(member)) is not None:
                    yield Handed(member.name, stream.read(_bound(member.name, member.size)))
    except tarfile.TarError as error:
        raise Failed(f"{place} is neither a folder nor a tar archive: {error}") from error


def _read(path: Path, size: int) -> bytes:
    _bound(str(path), size)
    return path.read_bytes()


def _bound(name: str, size: int) -> int:
    if size > _MOST:
        raise Failed(f"{printable(name)} is larger than a release day's data: nothing was taken")
    return size
