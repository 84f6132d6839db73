"""The uses of the stack in a source tree: what each names, where, under which conditions and with which arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from suite.check.source.conditions import Condition
from suite.check.source.written import Call

# An import of a module, a `from` import, or a name with its attributes.
How: TypeAlias = Literal["import", "from", "name"]


@dataclass(frozen=True)
class Place:
    """A place in a source: lines and columns start at 1, and are 0 without a source.

    `path` is from its repository on. `text` is the line. `ignored` are the ids of issues that the code ignores there,
    `*` for all.
    """

    path: str = ""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    text: str = ""
    ignored: frozenset[str] = frozenset()

    @property
    def at(self) -> tuple[str, int, int]:
        """The path, the line and the column."""
        return self.path, self.line, self.column

    def ignores(self, id: str) -> bool:
        """Return True if the code ignores an issue here."""
        return not self.ignored.isdisjoint((id, "*"))


NOWHERE = Place()


class Thing(NamedTuple):
    """A dotted name of the stack that a name stands for; its first `bound` parts exist if the import works."""

    name: str
    bound: int

    @property
    def package(self) -> str:
        """The package that it is in."""
        return self.name.partition(".")[0]


@dataclass(frozen=True)
class Use:
    """A name of the stack in a source; of the `things` that it may be, it is one. Imports ask for all parts of it."""

    things: tuple[Thing, ...]
    how: How
    place: Place = NOWHERE
    guards: tuple[Condition, ...] = ()
    call: Call | None = None
    string_annotations: bool = False

    @property
    def package(self) -> str:
        """The package of all things that it may be; empty if these are of several."""
        packages = {thing.package for thing in self.things}
        return packages.pop() if len(packages) == 1 else ""

    @property
    def whole(self) -> Use:
        """The use, as if all parts of its names must exist."""
        return replace(self, things=tuple(Thing(thing.name, 0) for thing in self.things), call=None)


class Unread(NamedTuple):
    """A file or cell that could not be read, and why; `mentions` if it names a package that is looked for."""

    path: str
    why: str
    mentions: bool = True


@dataclass(frozen=True)
class Usage:
    """The uses in a source tree, its unread parts, the number of read files, and the skipped folders.

    `marks` are words of settings that it contains.
    """

    uses: tuple[Use, ...]
    unread: tuple[Unread, ...]
    files: int
    marks: frozenset[str] = frozenset()
    skipped: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names of the stack that it uses; `jax_enable_x64` if it mentions that."""
        found = {thing.name for use in self.uses if use.how == "name" for thing in use.things}
        return frozenset({*found, "jax_enable_x64"} if self.marks else found)
