"""The uses of the stack in a source tree: what each names, where, under which conditions and with which arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

from jax_stack_compat.base.printable import printable
from jax_stack_compat.check.source.conditions import Condition
from jax_stack_compat.judge.wording import named

# An import of a module, a `from` import, a name with its attributes, or a call of a method of an unknown object.
How: TypeAlias = Literal["import", "from", "name", "method"]
# Longer literals are not kept.
_MAX_CHARS = 200
# Longer arrays are not evaluated.
_MAX_ELEMENTS = 64
_ARRAYS = frozenset({"jax.numpy.array", "jax.numpy.asarray", "array", "asarray"})
_FILLED = {"jax.numpy.zeros": "0", "jax.numpy.ones": "1"}
_LITERALS = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp)


@dataclass(frozen=True)
class Place:
    """A place in a source: lines and columns start at 1, and are 0 without a source.

    `path` is relative to the file's repository. `text` is the line. `ignored` are the ids of issues that the code
    ignores there, `*` for all.
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
    """A dotted name of the stack; its first `bound` parts exist if the import works."""

    name: str
    bound: int

    @property
    def package(self) -> str:
        """The package that it is in."""
        return self.name.partition(".")[0]


class NoValue(Enum):
    """A marker for an argument without a value."""

    MISSING = "there is no argument"
    UNSEEN = "the argument is not a literal"
    OPEN = "there may be an argument"


MISSING, UNSEEN, OPEN = NoValue.MISSING, NoValue.UNSEEN, NoValue.OPEN


@dataclass(frozen=True)
class Call:
    """The arguments of a call, or of a partial. `open_positions` is True if it has `*`, `open_keywords` if it has `**`.

    `values` has the text of literal arguments, by keyword or place, and `forms` the form of the others; see `form`.
    `elements` has the texts of the elements of arrays of literals, and the text of a variable's one literal.
    """

    positions: int
    keywords: tuple[str, ...]
    open_positions: bool
    open_keywords: bool
    partial: bool = False
    values: tuple[tuple[str, str], ...] = ()
    forms: tuple[tuple[str, str], ...] = ()
    elements: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def by_element(self) -> list[Call]:
        """Return the call with the elements of its arrays in their places: one call for each, all in step.

        Arrays whose lengths do not fit stay unseen.
        """
        length = max((len(texts) for _, texts in self.elements), default=0)
        if not length or any(len(texts) not in (1, length) for _, texts in self.elements):
            return [self]
        at = [tuple((key, texts[place % len(texts)]) for key, texts in self.elements) for place in range(length)]
        return [replace(self, values=self.values + each) for each in at]

    def form(self, name: str, place: int) -> str:
        """Return the form of the argument for a parameter; empty if it has none of the known forms."""
        forms = dict(self.forms)
        return forms.get(name) or forms.get(str(place) if name not in self.keywords else "") or ""

    def written(self, name: str, place: int) -> Any:
        """Return the literal argument for a parameter, or UNSEEN, MISSING or OPEN."""
        if name in self.keywords:
            key = name
        elif self.open_positions:
            return OPEN
        elif place < self.positions:
            key = str(place)
        else:
            return OPEN if self.open_keywords or self.partial else MISSING
        text = dict(self.values).get(key)
        return UNSEEN if text is None else _parsed(text)


@dataclass(frozen=True)
class Use:
    """A name of the stack in a source. It refers to one of `things`. An import needs all parts of its name.

    `within` are the functions of the stack in whose calls it is an argument, or a part of one, and those that get the
    function around it. `inside` is True in a function, which other code may give to others.
    """

    things: tuple[Thing, ...]
    how: How
    place: Place = NOWHERE
    guards: tuple[Condition, ...] = ()
    call: Call | None = None
    string_annotations: bool = False
    within: frozenset[str] = frozenset()
    inside: bool = False

    @property
    def package(self) -> str:
        """The package of all `things`; empty if there are several packages."""
        packages = {thing.package for thing in self.things}
        return packages.pop() if len(packages) == 1 else ""

    @cached_property
    def anywhere(self) -> Use:
        """The same use without its place: a tree may have a use a hundred thousand times."""
        rest = self.call, self.string_annotations, self.within, self.inside
        return Use(self.things, self.how, NOWHERE, self.guards, *rest)

    @cached_property
    def bare(self) -> Use:
        """The same use without its place, surroundings and literals, on which the names and arguments do not depend."""
        call = self.call and replace(self.call, values=(), forms=(), elements=())
        return Use(self.things, self.how, NOWHERE, self.guards, call)

    @property
    def whole(self) -> Use:
        """The same use, but checked as if its import had not succeeded."""
        return replace(self, things=tuple(Thing(thing.name, 0) for thing in self.things), call=None)


class Unread(NamedTuple):
    """A file or cell that could not be read, and why; `mentions` is True if it names a package of the stack."""

    path: str
    why: str
    mentions: bool = True


def not_read(unread: Iterable[Unread], most: int = 2) -> list[str]:
    """Return a sentence on the unread files that mention the stack; empty without any."""
    told = [f"{printable(each.path)} ({printable(each.why)})" for each in unread if each.mentions]
    return [f"Could not read these files, which mention the stack: {named(told, most)}."] * bool(told)


@dataclass(frozen=True)
class Usage:
    """The uses in a source tree, its unread parts, the number of read files, and the skipped folders.

    `beside` are the uses of guests, and calls of methods of unknown objects.

    `marks` are the names of which the tree contains a word, such as `jax_enable_x64`, or a dtype in quotes.
    """

    uses: tuple[Use, ...]
    unread: tuple[Unread, ...]
    files: int
    marks: frozenset[str] = frozenset()
    skipped: tuple[str, ...] = ()
    beside: tuple[Use, ...] = ()

    @property
    def everything(self) -> tuple[Use, ...]:
        """The uses of the stack, and those beside it."""
        return (*self.uses, *self.beside)

    @property
    def names(self) -> frozenset[str]:
        """The names of the stack that the tree uses, and `jax_enable_x64` if the tree mentions it."""
        found = {thing.name for use in self.uses if use.how == "name" for thing in use.things}
        return self.marks.intersection({"jax_enable_x64"}).union(found)

    @property
    def told(self) -> frozenset[str]:
        """The names that the tree uses, also if it only contains their words."""
        return self.names | self.marks


def arguments(
    node: ast.Call,
    positions: Sequence[ast.expr],
    name: Callable[[ast.expr], str],
    *,
    partial: bool = False,
    value: Callable[[ast.expr], ast.expr] = lambda node: node,
) -> Call:
    """Return the arguments of a call; `name` returns the stack's name for an expression, or "".

    `value` returns the expression that a name has as its one value, or the name."""
    by_key = [
        *((str(place), each) for place, each in enumerate(positions)),
        *((keyword.arg, keyword.value) for keyword in node.keywords),
    ]
    written = [(key, each, value(each)) for key, each in by_key if key]
    texts = [(key, _text(each, name)) for key, each, _ in written]
    forms = [(key, form(of, name)) for key, _, of in written]
    elements = [
        (key, _elements(each, of, made, name)) for (key, each, of), (_, made) in zip(written, forms, strict=True)
    ]
    return Call(
        sum(not isinstance(each, ast.Starred) for each in positions),
        tuple(keyword.arg for keyword in node.keywords if keyword.arg),
        any(isinstance(each, ast.Starred) for each in positions),
        any(keyword.arg is None for keyword in node.keywords),
        partial,
        tuple((key, text) for key, text in texts if text),
        tuple((key, of) for key, of in forms if of),
        tuple((key, found) for key, found in elements if found),
    )


def form(node: ast.expr, name: Callable[[ast.expr], str]) -> str:
    """Return the form of an expression: the function or method that it calls, or a word for it; else "".

    The words are "compare", "newaxis", "-", "*" and "lambda". A function of the stack has its whole name,
    "jax.numpy.where", and others their last: "min", "astype".
    """
    match node:
        case ast.Call(ast.Name(last) | ast.Attribute(attr=last) as called):
            return name(called) or last
        case ast.Compare() | ast.UnaryOp(ast.Not()):
            return "compare"
        case ast.BinOp(left, ast.BitAnd() | ast.BitOr(), right):
            return "compare" if "compare" in (form(left, name), form(right, name)) else ""
        case ast.BinOp(op=ast.Mult() | ast.Div()) if has_unseen(literal(node)):
            return "*"
        case ast.UnaryOp(ast.Invert(), operand):
            return form(operand, name)
        case ast.UnaryOp(ast.USub(), ast.Name() | ast.Call() | ast.Attribute() | ast.Subscript()):
            return "-"
        case ast.Lambda():
            return "lambda"
        case ast.Subscript(slice=ast.Tuple(elts)) if any(
            isinstance(each, ast.Constant) and each.value is None for each in elts
        ):
            return "newaxis"
    return ""


def _text(node: ast.expr, name: Callable[[ast.expr], str]) -> str:
    if isinstance(node, ast.Name | ast.Attribute):
        found = name(node)
        return repr(found) if found else ""
    text = ast.unparse(node) if isinstance(node, _LITERALS) else ""
    return text if len(text) <= _MAX_CHARS else ""


def _elements(node: ast.expr, value: ast.expr, made: str, name: Callable[[ast.expr], str]) -> tuple[str, ...]:
    """Return the texts of an array's literal elements, or of a variable's literal; nothing if the code may change it.

    `made` is the value's form. A variable's NumPy array may be changed, and so may a list.
    """
    if made in _FILLED:
        return (_FILLED[made],)
    match value:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()) if value is not node:
            return (ast.unparse(value),)
        case ast.Call(called, [array, *dtype], keywords) if made in _ARRAYS:
            if value is not node and not name(called):
                return ()
            texts = tuple(_text(each, name) for each in _flat(array))
            kinds = [*dtype, *(each.value for each in keywords)]
            is_kept = all(_keeps(each, texts) for each in kinds)
            return texts if is_kept and all(texts) and len(texts) <= _MAX_ELEMENTS else ()
    return ()


def _keeps(dtype: ast.expr, elements: Sequence[str]) -> bool:
    """Return True if a dtype keeps fractions, or if it keeps integers and all elements are integers."""
    named = ast.unparse(dtype)
    return "float" in named or ("int" in named and all(each.lstrip("-").isdecimal() for each in elements))


def _flat(node: ast.expr) -> list[ast.expr]:
    """Return the elements of nested lists and tuples."""
    return [part for each in node.elts for part in _flat(each)] if isinstance(node, ast.List | ast.Tuple) else [node]


@cache
def _parsed(text: str) -> Any:
    return literal(ast.parse(text, mode="eval").body)


def literal(node: ast.expr) -> Any:
    """Return the value of an expression; parts that are not literals are UNSEEN."""
    if isinstance(node, ast.Tuple | ast.List):
        if any(isinstance(element, ast.Starred) for element in node.elts):
            return UNSEEN
        parts = [literal(element) for element in node.elts]
        return tuple(parts) if isinstance(node, ast.Tuple) else parts
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _number(node)


def _number(node: ast.expr) -> Any:
    """Return the value of arithmetic on numbers, such as a product or a small power, else UNSEEN."""
    match node:
        case ast.BinOp(left, op, right):
            one, two = literal(left), literal(right)
            if type(one) in (int, float) and type(two) in (int, float):
                match op:
                    case ast.Mult():
                        return one * two
                    case ast.Add():
                        return one + two
                    case ast.Sub():
                        return one - two
                    case ast.Div() if two:
                        return one / two
                    case ast.Pow() if abs(one) <= 10 and abs(two) <= 100:
                        return one**two
    return UNSEEN


def has_unseen(value: Any) -> bool:
    """Return True if a value, or a part of it, is unseen."""
    return value in (UNSEEN, OPEN) or (isinstance(value, tuple | list) and any(map(has_unseen, value)))
