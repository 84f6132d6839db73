"""A source tree → every name of the stack that it uses, where, under which conditions, and with which arguments."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from suite.check.source import reader
from suite.check.source.conditions import UNKNOWN, Condition
from suite.check.source.project import Index, Project, Thing, module
from suite.check.source.reader import Read, Spot
from suite.check.source.sources import (
    BEYOND,
    Skipped,
    Source,
    Text,
    Unread,
    below_repository,
    files,
    mentions,
    text,
    why,
)
from suite.check.source.written import Call
from suite.errors import Failed
from suite.names import query

# The packages whose names are looked for.
PACKAGES = frozenset({"jax", "jaxlib", "equinox", "diffrax", "lineax", "optimistix", "jaxtyping"})
# What stands for a setting wherever it stands, in a text or a name.
MARKS = frozenset({"jax_enable_x64", "enable_x64", "JAX_ENABLE_X64"})
# So many files take longer than processes take to start; more processes than that wait for the disk.
_MANY = 60
_WORKERS = 8

_IGNORE = re.compile(r"#\s*compat:\s*ignore(?:\[(?P<ids>[^\]]*)\])?")
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Use:
    """A name of the stack where it stands; lines and columns from 1.

    `path` is from its repository on. `things` are what it may be, one of them; of a `from` import and an `import`, all
    parts of the name are asked for. `ignored` are the ids of the issues that the code says not to tell of here, `*` for
    all. `text` is its line.
    """

    things: tuple[Thing, ...]
    how: Literal["import", "from", "name"]
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    guards: tuple[Condition, ...] = ()
    call: Call | None = None
    ignored: frozenset[str] = frozenset()
    string_annotations: bool = False
    text: str = ""


@dataclass(frozen=True)
class Usage:
    """The uses of the stack in a source tree, what of it could not be read, and how many files could.

    `marks` are the words of MARKS that stand in it, and `skipped` the folders that were passed over.
    """

    uses: tuple[Use, ...]
    unread: tuple[Unread, ...]
    files: int
    marks: frozenset[str] = frozenset()
    skipped: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names that it uses of the stack; `jax_enable_x64` where it speaks of that."""
        found = {thing.name for each in self.uses if each.how == "name" for thing in each.things}
        return frozenset({*found, "jax_enable_x64"} if self.marks else found)


class _Found(NamedTuple):
    """One file: what it says, if anything of it could be read, and the ids to ignore, by line."""

    source: Source | Unread
    read: Read | None
    unread: list[Unread]
    text: Text | None
    ignored: dict[int, frozenset[str]]
    marks: frozenset[str] = frozenset()
    lines: Mapping[int, str] = {}


def usage(folder: Path, packages: Collection[str] = PACKAGES) -> Usage:
    """Return what the Python below `folder`, or in that one file, uses of `packages`.

    Raises Misused where nothing is there, Failed where a process that reads has ended.
    """
    there: list[Source | Unread] = []
    skipped = list[str]()
    for each in files(folder):
        if isinstance(each, Skipped):
            skipped.append(each.path)
        else:
            there.append(each)
    index = Index([each.name for each in there if isinstance(each, Source) and each.name.endswith(".py")])
    # Python finds the project's own module first.
    paths = {module(each.name): each.name for each in there if isinstance(each, Source)}
    own = {name: paths[path] for name in packages for path in (name, f"src/{name}") if path in paths}
    packages = [name for name in packages if name not in own]
    found: list[_Found] = []
    left, words, marks = there, frozenset(packages), frozenset[str]()
    while left and words:
        read = _all(left, words, packages, index.tops)
        marks = marks.union(*(each.marks for each in read))
        found += [each for each in read if each.read or each.unread or each.text]
        done = {id(each.source) for each in found}
        left = [each for each in left if id(each) not in done]
        # What another module has of the stack is used without a word of it.
        words = frozenset(name for each in read if each.read for name in each.read.exports)
    reads = {module(each.source.name): each.read for each in found if each.read and isinstance(each.source, Source)}
    project = Project(index, reads, packages)
    patched = {
        thing.name
        for each in reads.values()
        for origins, rest in each.patched
        for thing in project.things(origins, rest)
        if thing
    }
    at = below_repository(folder)
    unread = [
        Unread(at + path, f"it is the project's own {name}: no {name} is looked up") for name, path in own.items()
    ]
    for file in found:
        told = not isinstance(file.source, Source) or mentions(file.source, sorted(packages))
        unread += [Unread(at + fault.path, fault.why, told) for fault in file.unread]
    return Usage(
        _sorted(replace(use, path=at + use.path) for each in found for use in _uses(each, project, patched)),
        tuple(sorted(unread)),
        sum(1 for each in there if isinstance(each, Source))
        - sum(1 for each in found if each.unread and not each.read),
        marks,
        tuple(at + each for each in skipped),
    )


def _all(
    there: list[Source | Unread], words: frozenset[str], packages: Collection[str], own: frozenset[str]
) -> list[_Found]:
    of = partial(_of_file, words=words, packages=packages, own=own)
    if len(there) < _MANY:
        return [of(each) for each in there]
    workers = min(os.cpu_count() or 1, _WORKERS)
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _end_with_parent) as pool:
        try:
            found = list(pool.map(of, there, chunksize=max(1, min(32, len(there) // (4 * workers)))))
        except BrokenProcessPool as error:
            raise Failed("a process that read the source has ended: give --source less of it at a time") from error
        except BaseException:
            # The pool would wait for all of the files.
            for child in multiprocessing.active_children():
                child.terminate()
            raise
    return [each._replace(source=source) for each, source in zip(found, there, strict=True)]


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, however that ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    # Ctrl-C reaches every process of a terminal: the parent ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _of_file(source: Source | Unread, words: frozenset[str], packages: Collection[str], own: frozenset[str]) -> _Found:
    if isinstance(source, Unread):
        return _Found(source, None, [source], None, {})
    here, unread = text(source)
    if here is None:
        return _Found(source, None, unread, None, {})
    said = frozenset(_WORD.findall(here.code))
    marks = said & MARKS
    if words.isdisjoint(said):
        return _Found(source, None, unread, None, {}, marks)
    at = module(source.name)
    is_package = source.name.rpartition("/")[2] == "__init__.py"
    try:
        read = reader.read(here.code, at if is_package else at.rpartition("/")[0], packages, own)
    except BEYOND as error:
        return _Found(source, None, [*unread, Unread(here.name, why(error))], None, {}, marks)
    lines = here.code.split("\n")
    ignored = {number: ids for number, line in enumerate(lines, 1) if (ids := _ignored(line))}
    said_at = {number: lines[number - 1].strip() for number in {spot.line for spot in read.spots}}
    return _Found(source, read, unread, Text(here.name, "", here.starts), ignored, marks, said_at)


def _uses(found: _Found, project: Project, patched: set[str]) -> Iterator[Use]:
    if not found.read or not found.text:
        return
    for spot in found.read.spots:
        things = project.things(spot.origins, spot.rest)
        if spot.starred:
            things = frozenset(thing and _starred(thing) for thing in things if thing is None or _starred(thing))
        if None in things or not things:
            continue
        known = tuple(sorted(_asked(spot, thing) for thing in things if thing))
        if spot.how != "name" and all(thing.bound for thing in known):
            # It imports from the project what that has from the stack.
            continue
        guards = tuple(map(project.condition, spot.guards))
        if patched and any(
            thing.name == each or thing.name.startswith(f"{each}.") for thing in known for each in patched
        ):
            guards = (*guards, UNKNOWN)
        path, line = found.text.place(spot.line)
        last = found.text.place(spot.end_line)[1]
        ignored = found.ignored.get(spot.line, frozenset()) | found.ignored.get(spot.statement, frozenset())
        place = (path, line, spot.column, last, spot.end_column)
        told = (found.read.string_annotations, found.lines.get(spot.line, ""))
        yield Use(known, spot.how, *place, guards, spot.call, ignored, *told)


def _starred(thing: Thing) -> Thing | None:
    """Return a thing that an `import *` brings where some release has its name: it may be missing from another."""
    name = ".".join(thing.name.split(".")[: thing.bound])
    there = query.life(name) or query.module_life(name)
    return Thing(thing.name, thing.bound - 1) if there else None


def _asked(spot: Spot, thing: Thing) -> Thing:
    """Return a thing as it is asked for: an import from the stack itself asks for the whole name."""
    return Thing(thing.name, 0) if spot.how != "name" and thing.name in spot.origins else thing


def _ignored(line: str) -> frozenset[str]:
    marks = list(_IGNORE.finditer(line))
    if any(mark["ids"] is None for mark in marks):
        return frozenset({"*"})
    return frozenset(each.strip() for mark in marks for each in mark["ids"].split(",")) - {""}


def _sorted(found: Iterable[Use]) -> tuple[Use, ...]:
    return tuple(sorted(found, key=lambda each: (each.path, each.line, each.column, each.things)))
