"""The reading of a source tree: its files, side by side, and every name of the stack that they use."""

from __future__ import annotations

import gc
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from jax_stack_compat.check.source import reader, readers
from jax_stack_compat.check.source.conditions import UNKNOWN
from jax_stack_compat.check.source.project import Index, Project, module
from jax_stack_compat.check.source.reader import Read, Spot
from jax_stack_compat.check.source.sources import BEYOND, Source, Text, below_repository, files, mentions, text, why
from jax_stack_compat.check.source.uses import Thing, Unread, Usage, Use
from jax_stack_compat.names import query
from jax_stack_compat.packages import GUESTS, MODULES, WALKED

_DTYPES = ("bfloat16", "float16", "complex64", "complex128", "int8", "uint8", "int16", "uint16")
# Words, found anywhere in a text, and the names that code with them uses.
MARKS: Mapping[str, str] = {
    **dict.fromkeys(("jax_enable_x64", "enable_x64", "JAX_ENABLE_X64"), "jax_enable_x64"),
    **{name: f"jax.numpy.{name}" for name in _DTYPES},
    **{"wraps": "functools.wraps", "update_wrapper": "functools.update_wrapper", "__wrapped__": "__wrapped__"},
    **{"pickle": "pickle", "signature": "inspect.signature", "AxisType": "jax.sharding.AxisType"},
    **{"jax_pmap_shmap_merge": "jax_pmap_shmap_merge"},
}
_GUESTS = frozenset(MODULES[name] for name in GUESTS)
# Fewer files are read faster than processes start.
_MANY = 60
_WORD = re.compile(r"[^\W\d]\w*")


class _Found(NamedTuple):
    """A file: the source read from it, the parts that could not be read, its marks, and its parts."""

    source: Source
    read: Read | None = None
    unread: Sequence[Unread] = ()
    marks: frozenset[str] = frozenset()
    text: Text | None = None


@contextmanager
def _uncollected() -> Iterator[None]:
    """Read without the collection of cycles: among a million nodes of syntax, it takes a quarter of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_uncollected()
def usage(folder: Path, methods: Collection[str] = ()) -> Usage:
    """Return the uses of the stack in the Python below `folder`, or in that one file.

    Calls of `methods` of unknown objects are read, too.

    Raises Misused if nothing is there, and Failed if a process that reads has ended.
    """
    every = list(files(folder))
    there = [each for each in every if isinstance(each, Source)]
    unread = [each for each in every if isinstance(each, Unread)]
    index = Index([file.name for file in there if file.name.endswith(".py")])
    # Python finds the project's own module first, unless the folder is a package: then its `jax/` is `package.jax`.
    paths = (
        {} if any(file.name == "__init__.py" for file in there) else {module(file.name): file.name for file in there}
    )
    own = {name: paths[path] for name in WALKED for path in (name, f"src/{name}") if path in paths}
    stack = [name for name in WALKED if name not in own]
    packages = [*stack, *(name for name in _GUESTS if not index.has(name) and not index.has(f"src/{name}"))]
    found: list[_Found] = []
    left, words, marks = there, frozenset(packages), frozenset[str]()
    while left and words:
        read = _all(left, words, packages, index.tops, methods)
        marks = marks.union(*(file.marks for file in read))
        found += [file for file in read if file.read or file.unread]
        done = {file.source for file in found}
        left = [file for file in left if file not in done]
        # Other modules can use these names without naming the stack.
        words = frozenset(name for file in read if file.read for name in file.read.exports)
    reads = {module(file.source.name): file.read for file in found if file.read}
    project = Project(index, reads, packages)
    patched = {
        thing.name
        for each in reads.values()
        for origins, rest in each.patched
        for thing in project.things(origins, rest)
        if thing
    }
    unread += [
        Unread(path, f"it is the project's own {name}, so no names of {name} are looked up")
        for name, path in own.items()
    ]
    for file in found:
        if file.unread:
            told = mentions(file.source, sorted(stack))
            unread += [fault._replace(mentions=told) for fault in file.unread]
    at = below_repository(folder)
    uses = [use for file in found for use in _uses(file, project, patched, at)]
    uses.sort(key=lambda use: (*use.place.at, use.things))
    return Usage(
        tuple(use for use in uses if not _is_beside(use)),
        tuple(sorted(fault._replace(path=(at + fault.path).removesuffix("/.")) for fault in unread)),
        len(there) - sum(1 for file in found if file.unread and not file.read),
        marks,
        tuple(at + each for each in every if isinstance(each, str)),
        tuple(filter(_is_beside, uses)),
    )


def _is_beside(use: Use) -> bool:
    return use.how == "method" or any(thing.package in _GUESTS for thing in use.things)


def _all(
    there: list[Source],
    words: frozenset[str],
    packages: Collection[str],
    own: frozenset[str],
    methods: Collection[str],
) -> list[_Found]:
    of = partial(_of_file, words=words, packages=packages, own=own, methods=methods)
    if len(there) < _MANY:
        return list(map(of, there))
    return readers.apart(of, there)


def _of_file(
    source: Source,
    words: frozenset[str],
    packages: Collection[str],
    own: frozenset[str],
    methods: Collection[str],
) -> _Found:
    here, unread = text(source)
    if here is None:
        return _Found(source, unread=unread)
    said = frozenset(_WORD.findall(here.code))
    marks = frozenset(MARKS[word] for word in said & MARKS.keys())
    if words.isdisjoint(said):
        return _Found(source, unread=unread, marks=marks)
    at = module(source.name)
    is_package = source.name.rpartition("/")[2] == "__init__.py"
    try:
        read = reader.read(here.code, at if is_package else at.rpartition("/")[0], packages, own, methods)
    except BEYOND as error:
        return _Found(source, unread=[*unread, Unread(here.name, why(error))], marks=marks)
    return _Found(source, read, unread, marks, replace(here, code=""))


def _uses(found: _Found, project: Project, patched: set[str], at: str) -> Iterator[Use]:
    if not found.read or not found.text:
        return
    for spot in found.read.spots:
        is_method = spot.how == "method"
        things = _methods(spot) if is_method else project.things(spot.origins, spot.rest)
        if spot.starred:
            things = frozenset(thing and _starred(thing) for thing in things if thing is None or _starred(thing))
        if None in things or not things:
            continue
        # An import from the stack itself needs the whole name.
        whole = () if spot.how == "name" else spot.origins
        known = tuple(sorted(Thing(thing.name, 0) if thing.name in whole else thing for thing in things if thing))
        # Skip project imports of names that the project itself imports from the stack.
        if spot.how in ("import", "from") and all(thing.bound for thing in known):
            continue
        guards = tuple(map(project.condition, spot.guards))
        if any(f"{thing.name}.".startswith(f"{name}.") for thing in known for name in patched):
            guards = (*guards, UNKNOWN)
        path, line = found.text.place(spot.place.line)
        end_line = found.text.place(spot.place.end_line)[1]
        place = replace(spot.place, path=at + path, line=line, end_line=end_line)
        yield Use(known, spot.how, place, guards, spot.call, spot.lazy, spot.within, bool(spot.functions))


def _methods(spot: Spot) -> frozenset[Thing | None]:
    return frozenset(Thing(name, 1) for name in spot.origins if name)


def _starred(thing: Thing) -> Thing | None:
    """Return the thing that an `import *` defines, if any release has the name: another release may lack it."""
    if thing.package in _GUESTS:
        return None
    name = ".".join(thing.name.split(".")[: thing.bound])
    return Thing(thing.name, thing.bound - 1) if query.life(name) or query.module_life(name) else None
