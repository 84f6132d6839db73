"""Conditions on a release in the expressions of a Python text."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Sequence

from jax_stack_compat.base.spelling import is_version
from jax_stack_compat.check.source.conditions import (
    FREE,
    NEVER,
    SIGNS,
    UNKNOWN,
    All,
    AnyOf,
    Condition,
    Has,
    Kind,
    Mixed,
    Named,
    Not,
    VersionTest,
    asks,
)
from jax_stack_compat.check.source.scopes import Bound, Origins, Scope, ScopeNames, Settled, chain_of
from jax_stack_compat.packages import HELD

_VERSION = frozenset({"__version__", "__version_info__"})
_METADATA = ("importlib.metadata.version", "importlib_metadata.version")
_READERS = (*_METADATA, "importlib.util.find_spec", "inspect.signature")
_PARSERS = frozenset({"packaging.version.Version", "packaging.version.parse"})
_WORD = re.compile(r"\w+")
_TYPING = frozenset({"typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING"})


class Asking:
    """A reader of conditions, which resolves the names in them."""

    def __init__(self, names: ScopeNames) -> None:
        self.names = names
        self._known: dict[int, Condition] = {}
        self._settled = Settled[Condition]()

    def condition(self, scope: Scope, node: ast.expr) -> Condition:
        """Return the condition on the release that an `if` test expresses."""
        if id(node) not in self._known:
            self._known[id(node)] = FREE
            self._known[id(node)] = self._asked(scope, node)
        return self._known[id(node)]

    def _asked(self, scope: Scope, node: ast.expr) -> Condition:
        if isinstance(node, ast.BoolOp):
            of = tuple(self.condition(scope, value) for value in node.values)
            return All(of) if isinstance(node.op, ast.And) else AnyOf(of)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return Not(self.condition(scope, node.operand))
        if isinstance(node, ast.Compare) and (compared := self._compared(scope, node)):
            return compared
        if isinstance(node, ast.Call) and (has := self._hasattr(scope, node)):
            return has
        if isinstance(node, ast.Name):
            return self.named(scope, node.id)
        if isinstance(node, ast.Attribute) and (chain := chain_of(node)):
            return self._imported(self.names.of_value(scope, node)) if scope.of(chain[0]) else FREE
        return self._mixed(scope, node)

    def named(self, scope: Scope, name: str) -> Condition:
        """Return the condition that is the value of a name."""
        found = scope.of(name)
        if not found:
            return FREE
        at, bound = found
        return self._settled.of(bound, lambda: self._bound(at, bound))

    def _bound(self, at: Scope, bound: Sequence[Bound]) -> Condition:
        if len(bound) == 1 and not bound[0].tests and not self._is_tried(at, bound[0]):
            [one] = bound
            if one.value is not None:
                return self.condition(at, one.value)
            if one.definition is not None:
                return UNKNOWN if _reads_version(one.definition) else FREE
            return self._imported(self.names.origins(at, bound))
        telling = any(
            self._is_tried(at, binding)
            or any(asks(self.condition(at, test)) for test in binding.tests)
            or (binding.value is not None and asks(self.condition(at, binding.value)))
            for binding in bound
        )
        return UNKNOWN if telling else FREE

    def _is_tried(self, at: Scope, binding: Bound) -> bool:
        """Return True if a release may lack what an enclosing `try` tries."""
        return any(self.depends(at, *node.body) for node in binding.tries)

    def depends(self, scope: Scope, *nodes: ast.AST) -> bool:
        """Return True if code may depend on a release of the stack; an attribute of a parameter does not.

        The values and definitions of names are followed.
        """
        ahead = [(scope, node) for node in nodes]
        followed: set[int] = set()
        while ahead:
            at, node = ahead.pop()
            for inner in ast.walk(node):
                if self._may_differ(at, inner):
                    return True
                found = at.of(inner.id) if isinstance(inner, ast.Name) else None
                if found and id(found[1]) not in followed:
                    followed.add(id(found[1]))
                    ahead += [(found[0], part) for binding in found[1] for part in binding.parts]
        return False

    def _may_differ(self, scope: Scope, node: ast.AST) -> bool:
        """Return True if a node imports or names a module of the stack or the project, or is a call with unknowns."""
        match node:
            case ast.Import(names):
                return any(self.names.is_on_stack(alias.name) for alias in names)
            case ast.ImportFrom():
                return self.names.is_on_stack(self.names.base(node))
            case ast.Constant(str(text)):
                return self._is_of_stack(text)
            case ast.Name(name):
                found = scope.of(name)
                if found is None:
                    return not hasattr(builtins, name)
                return any(binding.origin and self.names.is_on_stack(binding.origin) for binding in found[1])
            case ast.Call():
                named = (scope.of(inner.id) for inner in ast.walk(node) if isinstance(inner, ast.Name))
                return any(not binding.is_followed for found in named if found for binding in found[1])
        return False

    def _is_of_stack(self, text: str) -> bool:
        """Return True if a text begins with the name of a package of the stack, or of a module of the project."""
        word = _WORD.match(text)
        return word is not None and (word[0] in HELD or self.names.is_on_stack(word[0]))

    def _imported(self, origins: Origins) -> Condition:
        if len(origins) != 1:
            return FREE
        [origin] = origins
        if origin in _TYPING:
            return NEVER
        return Named(origin) if origin and (":" in origin or origin.partition(".")[0] in self.names.own) else FREE

    def _compared(self, scope: Scope, node: ast.Compare) -> Condition | None:
        if len(node.ops) != 1:
            return None
        left, right, sign = node.left, node.comparators[0], type(node.ops[0]).__name__
        turned = {"Lt": "Gt", "LtE": "GtE", "Gt": "Lt", "GtE": "LtE"}.get(sign, sign)
        for here, there, how in ((left, right, sign), (right, left, turned)):
            version, to = self._version(scope, here), self._literal(scope, there)
            if version and to and how in SIGNS and version[1] == to[0]:
                return VersionTest(version[0], version[1], how, to[1])
        return None

    def _version(self, scope: Scope, node: ast.expr) -> tuple[str, Kind] | None:
        """If an expression is a package's version, return the package and the version's form."""
        if isinstance(node, ast.Name) and (found := scope.of(node.id)) and len(found[1]) == 1 and found[1][0].value:
            return self._version(found[0], found[1][0].value)
        if isinstance(node, ast.Call) and len(node.args) == 1:
            called = self.names.of_value(scope, node.func)
            if called <= _PARSERS and called:
                inner = self._version(scope, node.args[0])
                return (inner[0], "version") if inner and inner[1] == "text" else None
            name = node.args[0]
            is_known = isinstance(name, ast.Constant) and name.value in self.names.stack
            if called and called <= {*_METADATA} and is_known:
                return str(ast.literal_eval(name)), "text"
        for origin in self.names.of_value(scope, node) if isinstance(node, ast.Name | ast.Attribute) else ():
            package, _, rest = (origin or "").partition(".")
            if package in self.names.stack and rest in _VERSION:
                return package, "text" if rest == "__version__" else "numbers"
        return None

    def _literal(self, scope: Scope, node: ast.expr) -> tuple[Kind, str | tuple[int, ...]] | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return "text", node.value
        if isinstance(node, ast.Tuple) and all(
            isinstance(element, ast.Constant) and type(element.value) is int for element in node.elts
        ):
            return "numbers", ast.literal_eval(node)
        if isinstance(node, ast.Call) and len(node.args) == 1 and self.names.of_value(scope, node.func) <= _PARSERS:
            inner = self._literal(scope, node.args[0])
            if inner and inner[0] == "text" and is_version(str(inner[1]).removeprefix("v")):
                return "version", inner[1]
        return None

    def _hasattr(self, scope: Scope, node: ast.Call) -> Condition | None:
        if not (isinstance(node.func, ast.Name) and node.func.id == "hasattr" and len(node.args) == 2):
            return None
        of, name = self.names.of_value(scope, node.args[0]), node.args[1]
        if any(each and each.partition(".")[0] in self.names.stack for each in of):
            known = [each for each in of if each]
            is_plain = len(known) == len(of) and isinstance(name, ast.Constant)
            return Has(tuple(sorted(known)), str(name.value)) if is_plain else UNKNOWN  # type: ignore[attr-defined]
        return None

    def _mixed(self, scope: Scope, node: ast.AST) -> Condition:
        """Return the condition of any other expression: UNKNOWN if it calls `hasattr` or reads a version."""
        named: list[Condition] = []
        others: set[ast.AST] = set()
        for inner in ast.walk(node):
            if inner in others:
                continue
            if isinstance(inner, ast.Call) and self._is_other(scope, inner):
                others.add(inner.func)
            if isinstance(inner, ast.Call) and self._hasattr(scope, inner):
                return UNKNOWN
            if isinstance(inner, ast.Name):
                named.append(self.named(scope, inner.id))
            elif isinstance(inner, ast.Attribute):
                named.append(self._imported(self.names.of_value(scope, inner)))
            if isinstance(inner, ast.Name | ast.Attribute) and any(map(self._tells, self.names.of_value(scope, inner))):
                return UNKNOWN
        return _mixture(named)

    def _is_other(self, scope: Scope, node: ast.Call) -> bool:
        """Return True for a call such as `find_spec("tensorflow")`, which asks for a package outside the stack."""
        match node.args:
            case [ast.Constant(str(text))]:
                called = self.names.of_value(scope, node.func)
                is_reader = all(origin and origin.startswith(_READERS) for origin in called)
                return bool(called) and is_reader and not self._is_of_stack(text)
        return False

    def _tells(self, origin: str | None) -> bool:
        parts = (origin or "").split(".")
        return (origin or "").startswith(_READERS) or (parts[0] in self.names.stack and not _VERSION.isdisjoint(parts))

    def decorated(self, scope: Scope, decorators: Sequence[ast.expr]) -> Condition:
        """Return the condition of decorators such as `pytest.mark.skipif(jax.__version__ < "0.5")`."""
        parts: list[ast.AST] = []
        for each in decorators:
            if isinstance(each, ast.Call):
                parts += [*each.args, *each.keywords]
            elif isinstance(each, ast.Name) and (found := scope.of(each.id)) and (value := found[1][0].value):
                parts.append(value)
        return _mixture([self._mixed(scope, part) for part in parts])


def _mixture(of: Sequence[Condition]) -> Condition:
    asked = tuple(each for each in of if asks(each))
    return Mixed(asked) if asked else FREE


def _reads_version(node: ast.AST) -> bool:
    """Return True if a function may check a release: it reads the version of some package."""
    return any(
        isinstance(inner, ast.Attribute)
        and (inner.attr in _VERSION or (inner.attr == "version" and "metadata" in ast.dump(inner.value)))
        for inner in ast.walk(node)
    )
