"""Which names of the stack a source tree uses, and where.

Names are followed through the imports and plain assignments of one text, scope by scope. Not followed, and so not
found: relative imports and what the project's own modules export again, attributes of objects, `getattr`,
annotations in quotes, arguments passed by position or by `**`.
"""

from __future__ import annotations

import multiprocessing
import os
import re
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from suite.check.source.sieve import sieved
from suite.check.source.sources import BEYOND, Source, Text, Unread, files, text, why
from suite.check.source.wanted import Wanted, is_untold
from suite.errors import Failed

# So many files take longer than processes take to start; more processes than that wait for the disk.
_MANY = 40
_WORKERS = 8

_IGNORE = re.compile(r"#\s*compat:\s*ignore(?:\[(?P<ids>[^\]]*)\])?")


@dataclass(frozen=True)
class Use:
    """A wanted name that stands in a source, as it was asked for; line and column from 1.

    `ignored` are the ids of the issues that the code says not to tell of here, `*` for all.
    """

    name: str
    path: str
    line: int
    column: int
    ignored: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Usage:
    """What a source tree uses of what was wanted.

    `guarded` are uses that the code itself makes depend on the release: an except clause, `hasattr`, a version test.
    `untold` are the wanted names that code can use without naming them: members of classes, private names, areas.
    """

    found: tuple[Use, ...]
    guarded: tuple[Use, ...]
    unread: tuple[Unread, ...]
    untold: tuple[str, ...]
    files: int


def uses(folder: Path, wanted: Collection[str]) -> Usage:
    """What the Python below `folder`, or in that one file, uses of `wanted`.

    Raises Misused where nothing is there, Failed where a process that reads has ended.
    """
    there = list(files(folder))
    read = [_of_file(each, Wanted.of(wanted)) for each in there] if len(there) < _MANY else _side_by_side(there, wanted)
    return Usage(
        _sorted(use for each in read for use, guarded in each.uses if not guarded),
        _sorted(use for each in read for use, guarded in each.uses if guarded),
        tuple(sorted(fault for each in read for fault in each.unread)),
        tuple(sorted(filter(is_untold, set(wanted)))),
        sum(each.whole for each in read),
    )


class _Read(NamedTuple):
    """What one file says: its uses, each with whether it is guarded; and whether any of it could be read."""

    uses: list[tuple[Use, bool]]
    unread: list[Unread]
    whole: bool


def _side_by_side(there: list[Source | Unread], wanted: Collection[str]) -> list[_Read]:
    workers = min(os.cpu_count() or 1, _WORKERS)
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        try:
            return list(pool.map(partial(_of_file, wanted=Wanted.of(wanted)), there, chunksize=8))
        except BrokenProcessPool as error:
            raise Failed("a process that read the source has ended: give --source less of it at a time") from error


def _of_file(source: Source | Unread, wanted: Wanted) -> _Read:
    here, unread = (None, [source]) if isinstance(source, Unread) else text(source)
    if here is None:
        return _Read([], unread, False)
    try:
        return _Read(list(_in_text(here, wanted)), unread, True)
    except BEYOND as error:
        return _Read([], [*unread, Unread(here.name, why(error))], False)


def _in_text(here: Text, wanted: Wanted) -> Iterator[tuple[Use, bool]]:
    left = sieved(here.code, wanted)
    if left is None:
        return
    # Half a second, for those alone who ask for it.
    from suite.check.source import scopes

    lines = here.code.split("\n")
    for each in scopes.found(left.code, wanted):
        number = left.numbers[each.line - 1]
        path, line = here.place(number)
        ignored = _ignored(lines[number - 1]) | _ignored(lines[left.numbers[each.statement - 1] - 1])
        yield Use(each.name, path, line, each.column, ignored), each.guarded


def _ignored(line: str) -> frozenset[str]:
    marks = list(_IGNORE.finditer(line))
    if any(mark["ids"] is None for mark in marks):
        return frozenset({"*"})
    return frozenset(each.strip() for mark in marks for each in mark["ids"].split(",")) - {""}


def _sorted(found: Iterable[Use]) -> tuple[Use, ...]:
    return tuple(sorted(found, key=lambda each: (each.path, each.line, each.column, each.name)))
