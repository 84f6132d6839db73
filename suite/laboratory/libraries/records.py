"""What a library did beside a release: raw, as it was seen, with the pins of its stack and a key.

A record holds under a key: the code that runs in the cell, the task and the import name, and the pair.
"""

from __future__ import annotations

import ast
import hashlib
import json
import lzma
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from jax_stack_compat.base.errors import usable
from jax_stack_compat.base.fields import Moment, PackageName, VersionText
from jax_stack_compat.base.files import PACKAGES, REPORTS, STATE, FileModel, dump, read
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.environments.library_call import Failure, LibrarySeen
from jax_stack_compat.libraries.judge import Ran
from laboratory.libraries import stacks, table
from laboratory.libraries.stacks import LibraryPair
from laboratory.sources.syntax import canonical

FOLDER = STATE / "libraries"
PACKED = REPORTS / "published" / "libraries.jsonl.xz"
_CODE = PACKAGES / "jax_stack_compat" / "cell" / "library.py"


class LibraryRecord(FileModel):
    """What a library did in one stack. With `held`, other packages stayed as in the nearest stack that works.

    `failures` has the modules that do not import, the library's own first; `task` is the failure of the task. `ended`
    is how the process ended if it did not end well, and `during` the step in which it did.
    """

    key: str
    library: PackageName
    release: VersionText
    package: PackageName
    version: VersionText
    as_of: Moment
    held: bool = False
    conflict: str = ""
    pins: Mapping[PackageName, VersionText] = {}
    modules: int = 0
    failures: tuple[Failure, ...] = ()
    task: Failure | None = None
    ended: str = ""
    during: str = ""

    @property
    def ran(self) -> Ran:
        """What is judged of it."""
        seen = LibrarySeen(self.modules, list(self.failures), self.task, self.ended, self.during)
        return Ran(self.package, self.version, seen, self.pins, self.conflict, self.held)

    @property
    def is_telling(self) -> bool:
        """True if it tells of the stack: it ran, and the library did not lack a package that nothing requires."""
        first = self.failures[0] if self.failures else None
        return not self.conflict and not (first and first.lacks and first.name == table.module(self.library))

    @property
    def pair(self) -> LibraryPair:
        """The pair that it is of."""
        return LibraryPair(self.library, self.release, self.package, self.version)


def key(pair: LibraryPair, *, held: bool = False) -> str:
    """Return the key of a pair's record. Raises BadFile."""
    library = table.load()[pair.library]
    runs = [library.task, table.module(pair.library), stacks.python(pair.library, pair.release), _code()]
    told = json.dumps([asdict(pair), *runs, *(["held"] if held else [])])
    return hashlib.sha256(told.encode()).hexdigest()[:16]


@cache
def _code() -> str:
    """Return a hash of the cell's code, on which its format, comments and docstrings have no influence."""
    tree = ast.parse(_CODE.read_text(encoding="utf-8"))
    return hashlib.sha256(canonical(tree).encode()).hexdigest()


def _path(pair: LibraryPair, *, held: bool) -> Path:
    return FOLDER / pair.library / f"{pair.release}+{pair.package}-{pair.version}{'+held' * held}.json"


def find(pair: LibraryPair, *, held: bool = False) -> LibraryRecord | None:
    """Return the record of a pair under its key, of this machine or else of the published file. Raises BadFile."""
    here = _path(pair, held=held)
    known = [read(LibraryRecord, here)] if here.exists() else []
    known += [packed for packed in [_packed().get((pair, held))] if packed]
    return next((record for record in known if record.key == key(pair, held=held)), None)


def keep(record: LibraryRecord) -> None:
    """Write a record to this machine's state. Raises OSError."""
    write(_path(record.pair, held=record.held), dump(record.model_dump(mode="json", exclude_defaults=True)))


@cache
def _packed() -> Mapping[tuple[LibraryPair, bool], LibraryRecord]:
    return {(record.pair, record.held): record for record in load()} if PACKED.exists() else {}


def load() -> list[LibraryRecord]:
    """Return the published records. Raises BadFile."""
    with usable(PACKED, "nox -s libraries"):
        lines = lzma.decompress(PACKED.read_bytes()).decode().splitlines()
        return [LibraryRecord.model_validate_json(line) for line in lines]


def pack(records: Iterable[LibraryRecord]) -> None:
    """Write the published records, in the order of their pairs."""
    rows = sorted((record.model_dump(mode="json", exclude_defaults=True) for record in records), key=_order)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write(PACKED, lzma.compress(text.encode(), preset=9))


def _order(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (*(row[name] for name in ("library", "release", "package", "version")), str(row.get("held", "")))
