"""The scopes of a Python text, the bindings of its names, and the objects that names refer to.

Imports, plain assignments and conditional expressions are followed. An origin is a dotted name, or
`path/to/module:name` for a relative import.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeAlias, TypeVar

from jax_stack_compat.packages import WALKED

# None means: the object is unknown.
Origins: TypeAlias = frozenset[str | None]
T = TypeVar("T")
OPAQUE: Origins = frozenset({None})
# Code that people write has a few; a name with thousands of values, or of parts, takes quadratic time.
_MAX_ORIGINS, _MAX_PARTS = 100, 30
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ABSENT = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError"})
_ANYTHING = frozenset({"Exception", "BaseException"})
# Modules that check releases, or call functions.
_HELPERS = ("packaging", "importlib", "functools", "typing", "inspect")


@dataclass
class Bound:
    """A binding of a name: an import, a value, a definition, or none of these if it is not followed.

    If a name is a part of a value, such as an element of a list in a loop, its definition is the whole value. `tests`
    are the tests of the enclosing `if`s, and `tries` are the enclosing `try`s that catch a missing name.
    """

    origin: str | None = None
    value: ast.expr | None = None
    definition: ast.AST | None = None
    tests: tuple[ast.expr, ...] = ()
    tries: tuple[ast.Try | ast.TryStar, ...] = ()
    origins: Origins | None = None

    @property
    def parts(self) -> list[ast.AST]:
        """The value or the definition, if there is one."""
        return [part for part in (self.value, self.definition) if part]

    @property
    def is_followed(self) -> bool:
        """True if it is an import, or has a value or a definition; a parameter has neither."""
        return self.origin is not None or bool(self.parts)


@dataclass
class Scope:
    """A scope and the bindings of its names."""

    kind: Literal["module", "class", "function"]
    above: Scope | None
    bound: dict[str, list[Bound]] = field(default_factory=dict)
    elsewhere: set[str] = field(default_factory=set)

    def module(self) -> Scope:
        """Return the scope of the module."""
        return self.above.module() if self.above else self

    def of(self, name: str) -> tuple[Scope, list[Bound]] | None:
        """Return the scope that binds a name, and its bindings."""
        scope: Scope | None = self
        while scope:
            if name in scope.elsewhere:
                scope = scope.module()
            if name in scope.bound and (scope.kind != "class" or scope is self):
                return scope, scope.bound[name]
            scope = scope.above
        return None


class Settled(Generic[T]):
    """A cache of the objects that names refer to: thousands of lines may bind and read a name."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Sequence[Bound], T]] = {}
        self._depth = 0

    def of(self, bound: Sequence[Bound], find: Callable[[], T]) -> T:
        """Return the result for these bindings; call `find` if it is not cached."""
        key = id(bound), len(bound)
        if key in self._known:
            return self._known[key][1]
        self._depth += 1
        found = find()
        self._depth -= 1
        # If names are defined by each other, cache none before all are resolved.
        if not self._depth:
            self._known[key] = bound, found
        return found


class ScopeNames:
    """A resolver of names: returns the objects that a name may refer to.

    `within` is the path of the text's package, and `packages` are the packages to look for. `own` has the top-level
    names of the project's own modules.
    """

    def __init__(self, within: str, packages: Collection[str], own: Collection[str], *, has_walrus: bool) -> None:
        self.within, self.packages, self.own, self.has_walrus = within, packages, own, has_walrus
        # Only the names of these are known.
        self.stack = frozenset(packages).intersection(WALKED)
        self.stars: list[str] = []
        self._settled = Settled[Origins]()

    def collect(
        self,
        scope: Scope,
        body: Iterable[ast.stmt],
        tests: tuple[ast.expr, ...] = (),
        tries: tuple[ast.Try | ast.TryStar, ...] = (),
    ) -> None:
        """Collect the bindings in a block, without the scopes below."""

        def bind(name: str, **what: ast.AST | str | None) -> None:
            at = scope.module() if name in scope.elsewhere else scope
            at.bound.setdefault(name, []).append(Bound(tests=tests, tries=tries, **what))  # type: ignore[arg-type]

        for node in body:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    first = alias.name.partition(".")[0]
                    bind(alias.asname or first, origin=alias.name if alias.asname else first)
            elif isinstance(node, ast.ImportFrom):
                base = self.base(node)
                for alias in node.names:
                    if alias.name == "*":
                        self.stars.append(base)
                    else:
                        bind(alias.asname or alias.name, origin=joined(base, alias.name))
            elif isinstance(node, _DEFINITIONS):
                bind(node.name, definition=node)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        if node.value is not None:
                            bind(target.id, value=node.value)
                    else:
                        for name in stored(target):
                            bind(name, definition=node.value)
            elif isinstance(node, ast.Global | ast.Nonlocal):
                scope.elsewhere.update(node.names if isinstance(node, ast.Global) else ())
            else:
                for part in ast.iter_child_nodes(node):
                    if not isinstance(part, ast.stmt):
                        for name in stored(part, deep=isinstance(part, ast.withitem | ast.pattern)):
                            bind(name, definition=_whole(node, part))
                for handler in getattr(node, "handlers", ()):
                    if handler.name:
                        bind(handler.name)
            if self.has_walrus:
                for inner in _expressions(node):
                    if isinstance(inner, ast.NamedExpr):
                        bind(inner.target.id, value=inner.value)
            under = (*tests, node.test) if isinstance(node, ast.If) else tests
            within = (*tries, node) if isinstance(node, ast.Try | ast.TryStar) and catches(node) else tries
            for block in _blocks(node):
                self.collect(scope, block, under, within)

    def base(self, node: ast.ImportFrom) -> str:
        """Return the origin of the module that an import takes names from."""
        if not node.level:
            return node.module or ""
        parts = self.within.split("/") if self.within else []
        kept = parts[: len(parts) - node.level + 1] if node.level > 1 else parts
        # The import may lead out of the folder.
        here = "/".join(kept) if node.level - 1 <= len(parts) else "\0"
        return f"{here}:{node.module or ''}"

    def origins(self, scope: Scope, bound: Sequence[Bound]) -> Origins:
        """Return the objects that a name may refer to."""
        return self._settled.of(bound, lambda: self._joined(scope, bound))

    def _joined(self, scope: Scope, bound: Sequence[Bound]) -> Origins:
        found = frozenset(each for one in bound for each in self._origins_of(scope, one))
        return found if len(found) <= _MAX_ORIGINS else OPAQUE

    def _origins_of(self, scope: Scope, bound: Bound) -> Origins:
        if bound.origins is None:
            # This ends the recursion for names that are defined by each other.
            bound.origins = frozenset()
            if bound.origin is not None:
                bound.origins = frozenset({bound.origin}) if self.is_ours(bound.origin) else OPAQUE
            else:
                bound.origins = self.of_value(scope, bound.value)
        return bound.origins

    def of_value(self, scope: Scope, value: ast.expr | None) -> Origins:
        """Return the objects that an expression may refer to."""
        if isinstance(value, ast.Constant) and value.value is None:
            return frozenset()
        if isinstance(value, ast.IfExp):
            return self.of_value(scope, value.body) | self.of_value(scope, value.orelse)
        if isinstance(value, ast.Name | ast.Attribute) and (chain := chain_of(value)):
            first, rest = chain
            found = scope.of(first)
            if found:
                return frozenset(origin and joined(origin, rest[1:]) for origin in self.origins(*found))
        return OPAQUE

    def is_ours(self, origin: str) -> bool:
        """Return True if an origin is followed."""
        return self.is_on_stack(origin) or origin.startswith(_HELPERS)

    def is_on_stack(self, origin: str) -> bool:
        """Return True if an origin is of the stack, of a library on it, or of the project."""
        first = origin.partition(".")[0]
        return ":" in origin or first in self.packages or first in self.own


def joined(origin: str, name: str) -> str:
    """Return an origin extended by a name."""
    if not name:
        return origin
    return f"{origin}{name}" if origin.endswith(":") or not origin else f"{origin}.{name}"


def chain_of(node: ast.expr) -> tuple[str, str] | None:
    """Return the first name of `a.b.c` and the rest with its dots; None if it has too many, or does not begin so."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _MAX_PARTS:
        parts.append(f".{node.attr}")
        node = node.value
    return (node.id, "".join(reversed(parts))) if isinstance(node, ast.Name) else None


def catches(node: ast.Try | ast.TryStar) -> bool:
    """Return True if a `try` catches the error of an absent name."""
    caught_ = {name for handler in node.handlers for name in caught(handler.type)}
    # A clause for all errors guards against absence only if the body has nothing but imports.
    is_import = all(isinstance(each, ast.Import | ast.ImportFrom) for each in node.body)
    return bool(ABSENT & caught_ or (is_import and _ANYTHING & caught_))


def caught(kind: ast.expr | None) -> list[str]:
    """Return the last parts of the class names that a clause catches."""
    if kind is None:
        return ["BaseException"]
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return [one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in kinds]


def stored(node: ast.AST, *, deep: bool = True) -> Iterator[str]:
    """Yield the names that a target binds."""
    for inner in ast.walk(node) if deep else [node]:
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        elif isinstance(inner, ast.MatchAs | ast.MatchStar) and inner.name:
            yield inner.name
        elif isinstance(inner, ast.MatchMapping) and inner.rest:
            yield inner.rest
        elif not deep and isinstance(inner, ast.Tuple | ast.List | ast.Starred):
            yield from stored(inner)


def _whole(node: ast.AST, part: ast.AST) -> ast.expr | None:
    """Return the value from which a loop, a `with` or an assignment such as `+=` binds names."""
    if isinstance(part, ast.withitem):
        return part.context_expr
    if isinstance(node, ast.For | ast.AsyncFor):
        return node.iter
    return node.value if isinstance(node, ast.AugAssign) else None


def _expressions(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield the expressions of a statement, without its blocks and lambdas."""
    ahead: list[ast.AST] = [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt)]
    while ahead:
        inner = ahead.pop()
        yield inner
        if not isinstance(inner, ast.Lambda):
            ahead += [below for below in ast.iter_child_nodes(inner) if not isinstance(below, ast.stmt)]


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a statement that belong to its own scope."""
    if isinstance(node, _DEFINITIONS):
        return
    yield from (getattr(node, name, []) for name in ("body", "orelse", "finalbody"))
    yield from (each.body for name in ("handlers", "cases") for each in getattr(node, name, []))
