"""A reader of Python text: the names that it uses of the stack and of its own project, each with place and conditions.

Not followed: attributes of objects, `getattr`, annotations of arguments in quotes.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from jax_stack_compat.check.source.asking import Asking
from jax_stack_compat.check.source.conditions import FREE, UNKNOWN, Condition, Not, asks
from jax_stack_compat.check.source.scopes import (
    ABSENT,
    OPAQUE,
    Bound,
    Origins,
    Scope,
    ScopeNames,
    catches,
    caught,
    chain_of,
    joined,
    stored,
)
from jax_stack_compat.check.source.sources import BEYOND, parsed
from jax_stack_compat.check.source.uses import Call, How, Place, arguments

_IGNORE = re.compile(r"#\s*compat:\s*ignore(?:\[(?P<ids>[^\][#]*)\])?")
# More of a line is not kept.
_MAX_TEXT_CHARS = 1_000
_BUILTIN_TYPES = frozenset({"bool", "int", "float", "complex"})
_SCALARS = frozenset(
    {"bool", "bool_", "float16", "float32", "float64", "complex64", "complex128"}
    | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
)
# Each of these calls its first argument with the remaining arguments.
_PARTIAL = frozenset({"functools.partial", "jax.tree_util.Partial", "equinox.Partial"})


class _Line:
    """A line of a text: its text in an answer, the ids that it ignores, and the columns of its characters.

    A line may have a hundred thousand uses.
    """

    def __init__(self, line: str, *, ignores: bool) -> None:
        self.text = line.strip()[:_MAX_TEXT_CHARS]
        self.ignored = _ignored(line) if ignores else frozenset[str]()
        # The places of the bytes that continue a character.
        self._after = [] if line.isascii() else [at for at, byte in enumerate(_bytes(line)) if byte & 0xC0 == 0x80]

    def column(self, offset: int) -> int:
        """Return the column in characters; Python counts it in bytes."""
        return offset - bisect_left(self._after, offset) + 1


@dataclass(frozen=True)
class Spot:
    """An import, or a name with its attributes. Its place has no path, and its line counts from the start of the text.

    `origins` are the objects that the first name may refer to; for a call of a method of an unknown object, its name.
    `rest` has the attributes after it: `.numpy.pad`. `within` are the functions of the stack around it; see `Use`.
    `functions` are the names of the functions around it, outermost first. With `lazy`, annotations are texts.
    `starred` is True if only an `import *` from one of these packages can define the first name.
    """

    origins: Origins
    rest: str
    how: How
    place: Place
    guards: tuple[Condition, ...]
    call: Call | None = None
    starred: bool = False
    within: frozenset[str] = frozenset()
    functions: tuple[str, ...] = ()
    lazy: bool = False


@dataclass(frozen=True)
class Export:
    """A name that a module defines: its possible origins, and its value if that is a condition on a release."""

    origins: Origins
    condition: Condition


@dataclass(frozen=True)
class Read:
    """The contents of a text: the names that it defines, its `import *` sources, its uses, and names set elsewhere."""

    exports: Mapping[str, Export]
    stars: tuple[str, ...]
    spots: tuple[Spot, ...]
    patched: tuple[tuple[Origins, str], ...]


def read(
    code: str, within: str, packages: Collection[str], own: Collection[str], methods: Collection[str] = ()
) -> Read:
    """Read a text. Raises one of `sources.BEYOND`.

    `within` is the path of its package, and `packages` are the packages to look for. `own` has the top-level names of
    the project's own modules. Calls of `methods` of unknown objects are read, too.
    """
    tree = parsed(code)
    reader = _Reader(code, within, packages, own, methods)
    reader.module(tree)
    exports = {
        name: Export(reader.names.origins(reader.top, each), reader.asking.named(reader.top, name))
        for name, each in reader.top.bound.items()
    }
    return Read(
        {name: each for name, each in exports.items() if each.origins != OPAQUE or asks(each.condition)},
        tuple(reader.names.stars),
        tuple(map(reader.given, reader.spots)),
        tuple(reader.patched),
    )


class _Reader(ast.NodeVisitor):
    def __init__(
        self, code: str, within: str, packages: Collection[str], own: Collection[str], methods: Collection[str]
    ) -> None:
        self.code, self.ignores = code.split("\n"), "compat:" in code
        self.lines: dict[int, _Line] = {}
        self.names = ScopeNames(within, packages, own, has_walrus=":=" in code)
        self.asking = Asking(self.names)
        self.top = Scope("module", None)
        self.scope = self.top
        self.spots: list[Spot] = []
        self.patched: list[tuple[Origins, str]] = []
        self.guards: tuple[Condition, ...] = ()
        self.statement = 1
        self.lazy = False
        self.methods = methods
        self.around: frozenset[str] = frozenset()
        self.functions: tuple[str, ...] = ()
        # The decorator that is read, or was read last.
        self.decorator: ast.expr | None = None
        # The functions of the stack that get a function by its name.
        self.takers: dict[str, set[str]] = {}

    def module(self, tree: ast.Module) -> None:
        self.lazy = any(
            isinstance(each, ast.ImportFrom)
            and each.module == "__future__"
            and any(alias.name == "annotations" for alias in each.names)
            for each in tree.body
        )
        self.names.collect(self.top, tree.body)
        self._block(tree.body)

    def _each(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    @contextmanager
    def _guarded(self, condition: Condition = FREE) -> Iterator[None]:
        """Read a block under a condition; conditions that the block adds end with the block."""
        outside = self.guards
        self._add(condition)
        yield
        self.guards = outside

    def _add(self, condition: Condition) -> None:
        if asks(condition):
            self.guards = (*self.guards, condition)

    def _under(self, condition: Condition, *nodes: ast.AST | None) -> None:
        with self._guarded(condition):
            self._each(nodes)

    def _block(self, body: Sequence[ast.stmt], condition: Condition = FREE) -> None:
        with self._guarded(condition):
            for node in body:
                self.statement = _first(node)
                self.visit(node)
                # If the body of an `if` always returns or raises, the code after it runs only if the test fails.
                if isinstance(node, ast.If) and not node.orelse and _leaves(node.body[-1]):
                    self._add(Not(self.asking.condition(self.scope, node.test)))

    @contextmanager
    def _inside(self, kind: Literal["class", "function"], names: Iterable[str] = ()) -> Iterator[Scope]:
        """Read in a scope of its own, which binds these names."""
        outside = self.scope
        self.scope = Scope(kind, outside, {name: [Bound()] for name in names})
        yield self.scope
        self.scope = outside

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._decorators(node.decorator_list)
        with self._within(*map(self._decorator, node.decorator_list)):
            self._arguments(node.args)
        self._annotation(node.returns)
        decorated = self._condition_of(node.decorator_list)
        by = [self._decorator(each) for each in node.decorator_list]
        with self._inside("function", (each.arg for each in _parameters(node.args))) as inside, self._within(*by):
            self.functions = (*self.functions, node.name)
            self.names.collect(inside, node.body)
            self._block(node.body, decorated)

    visit_AsyncFunctionDef = visit_FunctionDef

    @contextmanager
    def _within(self, *names: str) -> Iterator[None]:
        """Read what is an argument, or the body of one, of calls of these functions."""
        outside, functions = self.around, self.functions
        self.around = outside.union(filter(None, names))
        yield
        self.around, self.functions = outside, functions

    def given(self, spot: Spot) -> Spot:
        """Return a spot with the functions of the stack that get a function around it by its name."""
        takers = [taker for name in spot.functions for taker in self.takers.get(name, ())]
        return replace(spot, within=spot.within.union(takers)) if takers else spot

    def _decorator(self, node: ast.expr) -> str:
        """Return the function of the stack that a decorator calls, also as `partial(jax.jit, …)`."""
        if isinstance(node, ast.Call):
            called = self.names.of_value(self.scope, node.func)
            return self._called(node.args[0] if node.args and called and called <= _PARTIAL else node.func)
        return self._called(node)

    def _called(self, node: ast.expr) -> str:
        """Return the name of a function, class or generic: of any import, of Python, or of a method, `.register`."""
        if isinstance(node, ast.Subscript):
            return self._called(node.value)
        if found := self._named(node):
            return found
        chain = chain_of(node)
        bound = self.scope.of(chain[0]) if chain else None
        if chain and bound and len(bound[1]) == 1 and bound[1][0].origin:
            return f"{bound[1][0].origin}{chain[1]}"
        if isinstance(node, ast.Attribute):
            return f".{node.attr}"
        return f"builtins.{node.id}" if isinstance(node, ast.Name) and not bound else ""

    def visit_BinOp(self, node: ast.BinOp) -> None:
        # A power calls a method of its base.
        if isinstance(node.op, ast.Pow) and "__pow__" in self.methods:
            call = arguments(ast.Call(node.left, [], []), [node.right], self._named, value=self._value)
            self._spot(node, frozenset({"__pow__"}), "", "method", call)
        self._each([node.left, node.right])

    def visit_Subscript(self, node: ast.Subscript) -> None:
        key = type(node.slice.value).__name__ if isinstance(node.slice, ast.Constant) else ""
        with self._within("[]", f"[{key}]"):
            self.visit(node.value)
        with self._within(self._called(node)):
            self.visit(node.slice)

    def _decorators(self, of: Sequence[ast.expr]) -> None:
        for number, each in enumerate(of):
            self.decorator = each
            # A decorator is called with the function or class below it, and its result with those above.
            call = Call(1, (), open_positions=False, open_keywords=False)
            with self._within(*map(self._decorator, of[:number])):
                self._name(each, call)
            self._method(each, call)

    def _condition_of(self, decorators: Sequence[ast.expr]) -> Condition:
        """Return the condition of decorators. Those of the stack skip nothing, whatever their arguments."""
        others = [each for each in decorators if self._decorator(each).partition(".")[0] not in self.names.stack]
        return self.asking.decorated(self.scope, others)

    def _arguments(self, of: ast.arguments) -> None:
        self._each([*of.defaults, *of.kw_defaults])
        for each in _parameters(of):
            self._annotation(each.annotation)

    def _annotation(self, node: ast.expr | None) -> None:
        if node is not None:
            self._under(UNKNOWN if self.lazy else FREE, node)

    def _quoted(self, node: ast.Constant, text: str) -> None:
        """Read an annotation in quotes."""
        try:
            inner = ast.parse(text, mode="eval")
        except BEYOND:
            return
        for each in ast.walk(inner):
            ast.copy_location(each, node)
        lazy, self.lazy = self.lazy, True
        self._under(UNKNOWN, inner)
        self.lazy = lazy

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._decorators(node.decorator_list)
        for number, base in enumerate(node.bases):
            # A class has those of its bases around it that come first.
            with self._within(*map(self._called, node.bases[:number])):
                self.visit(base)
        self._each(node.keywords)
        decorated = self._condition_of(node.decorator_list)
        with self._inside("class") as inside:
            self.names.collect(inside, node.body)
            self._block(node.body, decorated)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._arguments(node.args)
        with self._inside("function", (each.arg for each in _parameters(node.args))), self._within():
            self.visit(node.body)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self.visit(node.generators[0].iter)
        names = (name for each in node.generators for name in stored(each.target))
        with self._inside("function", names):
            for number, each in enumerate(node.generators):
                self._each([*([each.iter] if number else []), *each.ifs])
            self._each([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        condition = self.asking.condition(self.scope, node.test)
        self._block(node.body, condition)
        self._block(node.orelse, Not(condition))

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        condition = self.asking.condition(self.scope, node.test)
        self._under(condition, node.body)
        self._under(Not(condition), node.orelse)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Read `and` and `or`: an operand is evaluated only if those before it are true (`and`) or false (`or`)."""
        with self._guarded():
            for each in node.values:
                self.visit(each)
                condition = self.asking.condition(self.scope, each)
                self._add(condition if isinstance(node.op, ast.And) else Not(condition))

    def visit_Try(self, node: ast.Try | ast.TryStar) -> None:
        absent = UNKNOWN if catches(node) and self.asking.depends(self.scope, *node.body) else FREE
        self._block(node.body, absent)
        for handler in node.handlers:
            # The code for releases that lack something.
            self._each([handler.type])
            self._block(handler.body, absent if ABSENT & {*caught(handler.type)} else FREE)
        self._block(node.orelse, absent)
        self._block(node.finalbody)

    visit_TryStar = visit_Try

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        self._each(node.items)
        suppressed = {
            name
            for each in node.items
            if isinstance(call := each.context_expr, ast.Call) and ast.unparse(call.func).endswith("suppress")
            for argument in call.args
            for name in caught(argument)
        }
        entered = [each.context_expr for each in node.items if isinstance(each.context_expr, ast.Call)]
        with self._within(*(self._called(each.func) for each in entered)):
            self._block(node.body, UNKNOWN if ABSENT & suppressed else FREE)

    visit_AsyncWith = visit_With

    def visit_For(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        self._each([node.test] if isinstance(node, ast.While) else [node.target, node.iter])
        self._block(node.body)
        self._block(node.orelse)

    visit_AsyncFor = visit_While = visit_For

    def visit_match_case(self, node: ast.match_case) -> None:
        self._each([node.pattern, node.guard])
        self._block(node.body)

    def visit_Assign(self, node: ast.Assign) -> None:
        with self._within():
            if isinstance(node.value, ast.Lambda):
                self.functions += tuple(name for target in node.targets for name in stored(target))
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        # Python does not evaluate the annotation of a local variable.
        local = self.scope.kind == "function" and isinstance(node.target, ast.Name)
        self._under(UNKNOWN if self.lazy or local else FREE, node.annotation)
        if isinstance(node.annotation, ast.Constant) and isinstance(node.annotation.value, str):
            self._quoted(node.annotation, node.annotation.value)
        self._each([node.target, node.value])

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if self.names.is_ours(alias.name):
                self._spot(alias, frozenset({alias.name}), "", "import")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self.names.base(node)
        if self.names.is_ours(base):
            for alias in node.names:
                star = alias.name == "*"
                origins = frozenset({base if star else joined(base, alias.name)})
                self._spot(alias, origins, "", "import" if star else "from")

    def visit_Call(self, node: ast.Call) -> None:
        self._name(node.func, arguments(node, node.args, self._named, value=self._value))
        inside: list[ast.AST] = [*node.args, *node.keywords]
        if node.args and isinstance(node.func, ast.Name | ast.Attribute):
            called = self.names.of_value(self.scope, node.func)
            if called and called <= _PARTIAL:
                self._name(node.args[0], self._partial(node))
                self._method(node.args[0], self._partial(node))
                inside = inside[1:]
            if isinstance(node.func, ast.Name) and node.func.id == "setattr" and len(node.args) > 1:
                name = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
                if isinstance(name, str):
                    self.patched.append((self.names.of_value(self.scope, node.args[0]), f".{name}"))
        taker = self._called(node.func)
        for each in node.args if taker else ():
            if isinstance(each, ast.Name):
                self.takers.setdefault(each.id, set()).add(taker)
        self._method(node.func, arguments(node, node.args, self._named, value=self._value))
        with self._within(taker):
            self._each(inside)

    def _method(self, node: ast.expr, call: Call) -> None:
        """Read the call of a method whose object may be one of the stack."""
        if isinstance(node, ast.Attribute) and node.attr in self.methods and self._is_unknown(node):
            with self._within(self._made(node.value)):
                self._spot(node, frozenset({node.attr}), "", "method", call)

    def _partial(self, node: ast.Call) -> Call:
        """Return the call that a partial makes of its function. As a decorator it is called with the one below it."""
        if node is self.decorator:
            call = arguments(node, node.args[1:], self._named)
            return replace(call, positions=call.positions + 1)
        return arguments(node, node.args[1:], self._named, partial=True)

    def _is_unknown(self, node: ast.Attribute) -> bool:
        """Return True if an attribute may be one of an array: not of an import, or of what the text defines."""
        if isinstance(node.value, ast.Call):
            return not self._is_known(Bound(value=node.value))
        chain = chain_of(node)
        found = self.scope.of(chain[0]) if chain else None
        return not found or not any(map(self._is_known, found[1]))

    def _value(self, node: ast.expr) -> ast.expr:
        """Return the expression that a name has as its one value, or the expression itself."""
        found = self.scope.of(node.id) if isinstance(node, ast.Name) else None
        return found[1][0].value or node if found and len(found[1]) == 1 else node

    def _made(self, node: ast.expr) -> str:
        """Return the function that makes an object, as the stack names it; empty if the code does not show it."""
        if by := self._decorators_of(node):
            return self._decorator(by[0])
        made = self._value(node)
        return self._called(made.func) if isinstance(made, ast.Call) else ""

    def _decorators_of(self, node: ast.expr) -> Sequence[ast.expr]:
        """Return the decorators of the one function that a name stands for."""
        found = self.scope.of(node.id) if isinstance(node, ast.Name) else None
        definition = found[1][0].definition if found and len(found[1]) == 1 else None
        return definition.decorator_list if isinstance(definition, ast.FunctionDef) else ()

    def _is_known(self, bound: Bound) -> bool:
        """Return True for an import, a definition without decorators, and what a package outside the stack returns."""
        if isinstance(bound.definition, ast.FunctionDef):
            return not bound.definition.decorator_list
        if bound.origin is not None or isinstance(bound.definition, ast.ClassDef):
            return True
        chain = chain_of(bound.value.func) if isinstance(bound.value, ast.Call) else None
        found = self.scope.of(chain[0]) if chain else None
        return bool(found and found[1][0].origin and not self.names.is_ours(found[1][0].origin))

    def _named(self, node: ast.expr) -> str:
        """Return the name that an expression refers to; empty if there may be several."""
        if isinstance(node, ast.Name) and node.id in _BUILTIN_TYPES and not self.scope.of(node.id):
            return f"builtins.{node.id}"
        if isinstance(node, ast.Attribute) and node.attr in _SCALARS and (dtype := self._numpy(node)):
            return dtype
        origins = self.names.of_value(self.scope, node)
        return next(iter(origins)) or "" if len(origins) == 1 else ""

    def _numpy(self, node: ast.Attribute) -> str:
        """Return the name of a scalar type of NumPy; empty for other names."""
        found = self.scope.of(node.value.id) if isinstance(node.value, ast.Name) else None
        is_numpy = found and all(one.origin == "numpy" for one in found[1])
        return f"numpy.{node.attr}" if is_numpy else ""

    def _name(self, node: ast.expr, call: Call | None = None) -> None:
        chain = chain_of(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if call is None and isinstance(node, ast.Attribute) and node.attr in self.methods and self._is_unknown(node):
            self._spot(node, frozenset({node.attr}), "", "method")
        if chain is None:
            self.visit(node.value if isinstance(node, ast.Attribute) else node)
            return
        first, rest = chain
        found = self.scope.of(first)
        if found:
            origins = self.names.origins(*found)
        else:
            origins = frozenset(joined(star, first) for star in self.names.stars if self.names.is_ours(star)) or OPAQUE
        if origins <= OPAQUE:
            return
        if isinstance(getattr(node, "ctx", None), ast.Load):
            starred = not found and all(map(self.names.is_ours, self.names.stars))
            self._spot(node, origins, rest, "name", call, starred=starred)
        elif rest and isinstance(getattr(node, "ctx", None), ast.Store):
            self.patched.append((origins, rest))

    visit_Name = visit_Attribute = _name

    def _spot(
        self,
        node: ast.expr | ast.alias,
        origins: Origins,
        rest: str,
        how: How,
        call: Call | None = None,
        *,
        starred: bool = False,
    ) -> None:
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        line = self._line(node.lineno)
        ignored = line.ignored | self._line(self.statement).ignored
        column, end = line.column(node.col_offset), self._line(end_line).column(end)
        place = Place("", node.lineno, column, end_line, end, line.text, ignored)
        spot = Spot(origins, rest, how, place, self.guards, call, starred, self.around, self.functions, self.lazy)
        self.spots.append(spot)

    def _line(self, number: int) -> _Line:
        if number not in self.lines:
            self.lines[number] = _Line(self.code[number - 1], ignores=self.ignores)
        return self.lines[number]


def _bytes(line: str) -> bytes:
    return line.encode("utf-8", "replace")


def _ignored(line: str) -> frozenset[str]:
    marks = list(_IGNORE.finditer(line))
    if any(mark["ids"] is None for mark in marks):
        return frozenset({"*"})
    return frozenset(id.strip() for mark in marks for id in mark["ids"].split(",")) - {""}


def _parameters(of: ast.arguments) -> list[ast.arg]:
    every = (*of.posonlyargs, *of.args, *of.kwonlyargs, of.vararg, of.kwarg)
    return [each for each in every if each]


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _leaves(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break)
