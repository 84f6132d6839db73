"""A Python text → the wanted names in it, as LibCST's scopes resolve them, and where each stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple

import libcst as cst
from libcst.helpers import get_full_name_for_node as full_name
from libcst.metadata import (
    Assignment,
    BaseAssignment,
    BuiltinAssignment,
    CodePosition,
    ExpressionContextProvider,
    ImportAssignment,
    PositionProvider,
    Scope,
    ScopeProvider,
)

from suite.check.source.wanted import Wanted, canonical

# Their first argument is called with their keywords.
_PARTIAL = {"functools.partial", "jax.tree_util.Partial", "equinox.Partial"}
_ABSENT = {"ImportError", "ModuleNotFoundError", "AttributeError"}
_ANYTHING = {"Exception", "BaseException"}
_VERSION = {"__version__", "__version_info__", "version"}
_VERSION_READERS = ("importlib.metadata.version", "importlib_metadata.version", "packaging.version")


class Found(NamedTuple):
    """A wanted name where it stands: line and column from 1, and the line its statement begins at."""

    name: str
    line: int
    column: int
    statement: int
    guarded: bool


def found(code: str, wanted: Wanted) -> list[Found]:
    """Every use of what is wanted. Raises SyntaxError, and RecursionError where it is nested too deep."""
    try:
        module = cst.parse_module(code)
    except cst.ParserSyntaxError as error:
        raise SyntaxError(f"LibCST cannot parse line {error.raw_line}") from error
    return _Reader(module, wanted).found()


class _Scopes(ScopeProvider):
    """LibCST's scopes, without the walk over every blank that providers make together: half of the time."""

    def __init__(self) -> None:
        super().__init__()
        self.contexts = ExpressionContextProvider()
        self.all: dict[Scope, None] = {}

    @classmethod
    def of(cls, module: cst.Module) -> list[Scope]:
        scopes = cls()
        scopes.contexts.visit_Module(module)
        scopes.visit_Module(module)
        return list(scopes.all)

    def set_metadata(self, node: cst.CSTNode, value: object) -> None:
        if isinstance(value, Scope):
            self.all[value] = None

    def get_metadata(self, key: object, node: cst.CSTNode, default: object = None) -> Any:
        return self.contexts.get_metadata(ExpressionContextProvider, node, default)


class _Positions(PositionProvider):
    """LibCST's positions, without that walk."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__()
        self._gen_impl(module)

    def start(self, node: cst.CSTNode) -> CodePosition:
        return self.get_metadata(_Positions, node).start


class _Reader:
    def __init__(self, module: cst.Module, wanted: Wanted) -> None:
        self.wanted = wanted
        self.module = module
        self.scopes = _Scopes.of(module)
        self.parents = dict(_parents(module))
        self.stars = [
            full_name(node.module)
            for node in self.parents
            if isinstance(node, cst.ImportFrom) and isinstance(node.names, cst.ImportStar) and node.module
        ]
        # Every `jax.numpy.pad`, whole, and what its first name is bound by. An annotation in quotes is none.
        bound = {
            self._whole(access.node): access.referents
            for scope in self.scopes
            for access in scope.accesses
            if isinstance(access.node, cst.Name | cst.Attribute)
        }
        # LibCST keeps them in sets. Their order matters where names are bound by each other: it is the walk's.
        places = {node: place for place, node in enumerate(self.parents)}
        self.bound: dict[cst.CSTNode, Collection[BaseAssignment]] = {
            chain: sorted(bound[chain], key=lambda each: places.get(getattr(each, "node", chain), -1))
            for chain in sorted(bound, key=lambda each: places.get(each, -1))
        }
        self.names: dict[cst.CSTNode, frozenset[str]] = {}
        for chain in self.bound:
            self._names(chain)
        self.conditions = set(self._conditions())

    def found(self) -> list[Found]:
        uses = {*self._named(), *self._by_keyword(), *self._imported()}
        if not uses:
            return []
        start = _Positions(self.module).start
        return [
            Found(
                name,
                start(node).line,
                start(node).column + 1,
                start(self._statement(node)).line,
                self._is_guarded(node),
            )
            for name, node in uses
        ]

    def _named(self) -> Iterator[tuple[str, cst.CSTNode]]:
        for chain, names in self.names.items():
            for home in {home for name in names for home in self.wanted.within(name)}:
                yield from ((each, chain) for each in self.wanted.names.get(home, ()))

    def _by_keyword(self) -> Iterator[tuple[str, cst.CSTNode]]:
        for chain, names in self.names.items():
            call = self._call_of(chain)
            for argument in call.args if call and names else ():
                if argument.keyword is not None:
                    for home in map(canonical, names):
                        keys = self.wanted.keywords.get((home, argument.keyword.value), ())
                        yield from ((each, argument) for each in keys)

    def _call_of(self, chain: cst.CSTNode) -> cst.Call | None:
        """The call that a function gets its keywords by: its own, or that of a `partial` of it."""
        parent = self.parents[chain]
        if isinstance(parent, cst.Call):
            return parent if parent.func is chain else None
        call = self.parents[parent] if isinstance(parent, cst.Arg) else None
        if isinstance(call, cst.Call) and call.args[0] is parent and not parent.keyword and not parent.star:
            return call if self.names.get(call.func, frozenset()) & _PARTIAL else None
        return None

    def _imported(self) -> Iterator[tuple[str, cst.CSTNode]]:
        """What is imported and then not used here: another module may."""
        for scope in self.scopes:
            for each in scope.assignments:
                if isinstance(each, ImportAssignment) and not each.references:
                    for name in each.get_qualified_names_for(each.name):
                        for home in self.wanted.within(name.name):
                            yield from ((asked, each.as_name) for asked in self.wanted.names.get(home, ()))

    def _whole(self, node: cst.CSTNode) -> cst.CSTNode:
        while isinstance(above := self.parents[node], cst.Attribute) and above.value is node:
            node = above
        return node

    def _names(self, chain: cst.CSTNode) -> frozenset[str]:
        """What a chain is of what was imported, by every assignment that may have bound its first name."""
        if chain in self.names:
            return self.names[chain]
        # Until it is known: names that are bound by each other are nothing.
        self.names[chain] = frozenset()
        name = full_name(chain) or ""
        rest = name[len(name.partition(".")[0]) :]
        assigned = self.bound[chain]
        known = set[str]()
        for each in assigned:
            if isinstance(each, ImportAssignment):
                known |= {found.name for found in each.get_qualified_names_for(name)}
            elif isinstance(each, Assignment) and (value := self._value(each.node)) in self.bound:
                known |= {other + rest for other in self._names(value)}
        if all(isinstance(each, BuiltinAssignment) for each in assigned):
            known |= {f"{module}.{name}" for module in self.stars}
        self.names[chain] = frozenset(known)
        return self.names[chain]

    def _value(self, target: cst.CSTNode) -> cst.CSTNode:
        """What `name = value` assigns, or the target where it is no such thing."""
        above = self.parents.get(target)
        if isinstance(above, cst.AssignTarget):
            above = self.parents[above]
        return (isinstance(above, cst.Assign | cst.AnnAssign) and above.value) or target

    def _conditions(self) -> Iterator[cst.CSTNode]:
        """The `if`s whose test asks for the release, or for what it has, itself or by names that were given that."""
        users = defaultdict[cst.CSTNode, list[cst.CSTNode]](list)
        for chain, assigned in self.bound.items():
            for each in assigned:
                if isinstance(each, Assignment):
                    users[each.node].append(chain)
        ahead = [chain for chain, names in self.names.items() if self._is_telling(chain, names)]
        seen = set(ahead)
        while ahead:
            node = ahead.pop()
            while not isinstance(node, cst.BaseStatement | cst.Lambda):
                above = self.parents[node]
                if isinstance(above, cst.If | cst.IfExp) and above.test is node:
                    yield above
                if isinstance(above, cst.Assign | cst.AnnAssign):
                    targets = above.targets if isinstance(above, cst.Assign) else [above]
                    new = {user for each in targets for user in users[each.target]} - seen
                    seen |= new
                    ahead += new
                node = above

    def _is_telling(self, chain: cst.CSTNode, names: Collection[str]) -> bool:
        packages = {*self.wanted.packages, "jax", "jaxlib"}
        ours = [parts for parts in (name.split(".") for name in names) if parts[0] in packages]
        if any(not _VERSION.isdisjoint(parts) for parts in ours):
            return True
        argument = self.parents[chain]
        call = self.parents[argument] if isinstance(argument, cst.Arg) else None
        if ours and isinstance(call, cst.Call) and call.args[0] is argument and full_name(call.func) == "hasattr":
            return True
        return any(name == each or name.startswith(f"{each}.") for name in names for each in _VERSION_READERS)

    def _statement(self, node: cst.CSTNode) -> cst.CSTNode:
        while not isinstance(node, cst.BaseStatement):
            node = self.parents[node]
        return node

    def _is_guarded(self, node: cst.CSTNode) -> bool:
        while node in self.parents:
            above = self.parents[node]
            if above in self.conditions:
                return True
            if isinstance(above, cst.Try | cst.TryStar) and node is not above.finalbody:
                caught = {name for each in above.handlers for name in _caught(each)}
                # What is done in its stead, where something is absent, is guarded as well.
                if isinstance(node, cst.ExceptHandler | cst.ExceptStarHandler):
                    if not _ABSENT.isdisjoint(_caught(node)):
                        return True
                elif not (_ABSENT | _ANYTHING).isdisjoint(caught):
                    return True
            node = above
        return False


def _caught(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> list[str]:
    """The last parts of the names of what a clause catches."""
    kind = handler.type
    if kind is None:
        return ["BaseException"]
    each = [element.value for element in kind.elements] if isinstance(kind, cst.Tuple) else [kind]
    return [(full_name(one) or "").rpartition(".")[2] for one in each]


def _parents(module: cst.Module) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """Every node with the one above it. As ParentNodeProvider has it, in a tenth of its time."""
    ahead: list[cst.CSTNode] = [module]
    while ahead:
        above = ahead.pop()
        for name in _children(type(above)):
            value = getattr(above, name)
            for node in value if isinstance(value, list | tuple) else (value,):
                if _is_node(node.__class__):
                    yield node, above
                    ahead.append(node)


@cache
def _children(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind) if "whitespace" not in each.name)


@cache
def _is_node(kind: type[object]) -> bool:
    return issubclass(kind, cst.CSTNode)
