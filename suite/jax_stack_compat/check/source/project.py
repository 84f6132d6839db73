"""Resolution of names that the modules of a source tree import from each other. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from jax_stack_compat.check.source.conditions import FREE, All, AnyOf, Condition, Mixed, Named, Not
from jax_stack_compat.check.source.reader import Read
from jax_stack_compat.check.source.scopes import Origins
from jax_stack_compat.check.source.uses import Thing

# `a = a.b` in two modules that import each other never ends.
_MAX_PARTS = 20


class Index:
    """The modules of a tree: paths without suffix, and the dotted names that import them."""

    def __init__(self, paths: Collection[str]) -> None:
        """Take the paths of Python files below the folder."""
        self.modules = {module(path) for path in paths}
        packages = {module(path) for path in paths if path.rpartition("/")[2] == "__init__.py"}
        self.folders = {path.rpartition("/")[0] for path in self.modules}
        dotted: dict[str, set[str]] = {}
        for path in self.modules:
            parts = path.split("/")
            for start in range(len(parts)):
                # A top-level module is in a folder that is not a package.
                if "/".join(parts[:start]) not in packages:
                    dotted.setdefault(".".join(parts[start:]), set()).add(path)
        self.dotted = {name: of.pop() for name, of in dotted.items() if len(of) == 1}
        self.tops = frozenset(name.partition(".")[0] for name in self.dotted)

    def has(self, path: str) -> bool:
        """Return True if a path is a module, or a folder with modules."""
        return path in self.modules or path in self.folders

    def find(self, name: str) -> tuple[str, str] | None:
        """Return the module that a dotted name begins with, and the rest of the name."""
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            if path := self.dotted.get(".".join(parts[:end])):
                return path, ".".join(parts[end:])
        return None


class Project:
    """A resolver that follows names through imports between the project's modules."""

    def __init__(self, index: Index, reads: Mapping[str, Read], packages: Collection[str]) -> None:
        """Take the modules that were read, by path."""
        self.index, self.reads, self.packages = index, reads, packages
        self._known: dict[str, frozenset[Thing | None]] = {}
        self._conditions: dict[str, Condition] = {}

    def things(self, origins: Origins, rest: str) -> frozenset[Thing | None]:
        """Return the objects that a name with its attributes may refer to; None means: unknown."""
        found: set[Thing | None] = set()
        for origin in origins:
            if origin is None:
                found.add(None)
            elif rest and origin.endswith(":"):
                found |= self._thing(f"{origin}{rest[1:]}")
            elif ":" in origin or origin.partition(".")[0] not in self.packages:
                found |= self._thing(f"{origin}{rest}")
            else:
                found.add(Thing(origin + rest, origin.count(".") + 1))
        return frozenset(found)

    def condition(self, of: Condition) -> Condition:
        """Replace the names of other modules in a condition by the conditions that they refer to."""
        match of:
            case Named(origin):
                if origin not in self._conditions:
                    self._conditions[origin] = FREE
                    self._conditions[origin] = self._named(origin)
                return self._conditions[origin]
            case Not(inner):
                return Not(self.condition(inner))
            case All(inner) | AnyOf(inner) | Mixed(inner):
                return type(of)(tuple(map(self.condition, inner)))
        return of

    def _named(self, origin: str) -> Condition:
        for path, name in self._places(origin):
            export = self.reads[path].exports.get(name) if path in self.reads else None
            if export:
                return self.condition(export.condition)
        return FREE

    def _places(self, origin: str) -> Iterator[tuple[str, str]]:
        base, _, name = origin.rpartition(":")
        found = (base, name) if ":" in origin else self.index.find(origin)
        while found and found[1]:
            path, rest = found
            yield path, rest
            first, _, after = rest.partition(".")
            found = (_below(path, first), after) if self.index.has(_below(path, first)) else None

    def _thing(self, origin: str) -> frozenset[Thing | None]:
        if origin.count(".") > _MAX_PARTS:
            return frozenset({None})
        if origin not in self._known:
            # Ends cycles of modules that import each other's names.
            self._known[origin] = frozenset()
            self._known[origin] = self._followed(origin)
        return self._known[origin]

    def _followed(self, origin: str) -> frozenset[Thing | None]:
        for path, names in self._places(origin):
            first, dot, rest = names.partition(".")
            read = self.reads.get(path)
            if read and first in read.exports:
                return self.things(read.exports[first].origins, dot + rest)
            if read and not self.index.has(_below(path, first)):
                starred = [self.things(frozenset({star}), f".{names}") for star in read.stars]
                if starred:
                    return frozenset().union(*starred)
        return frozenset({None})


def module(path: str) -> str:
    """Return a file's module as a path; for a package's `__init__.py`, the package's folder."""
    folder, _, name = path.removesuffix(".py").rpartition("/")
    return folder if name == "__init__" else _below(folder, name)


def _below(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name
