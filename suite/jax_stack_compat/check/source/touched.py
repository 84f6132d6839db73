"""Cases that concern a source tree: their touches, and the uses that meet them. Pure.

A touch is a name, the first parameters of a call, and a condition, an expression of Python:
`jax.numpy.round(a, decimals) if decimals >= 38`.

- a parameter stands for its argument; `given(x)` is true if there is one;
- `len`, `min`, `max`, `abs`, `sorted` and `type` are known, and a name of the stack is a text: "jax.numpy.float16". So
  are a builtin type, "builtins.bool", and a scalar type of NumPy, "numpy.bool_";
- `form(x)` is the function or method that the argument calls, "jax.numpy.where", "min" or "astype"; "compare" for a
  comparison, "newaxis" for `x[..., None]`, "-" for `-x`, "*" for a product or quotient, "lambda"; else "". A variable
  has the form of its one value;
- `uses("jax.new_ref")` is open if the project uses a name, else false; `without("jax.new_ref")` is true if it does not
  use it, else false;
- `string_annotations` is true if the file has `from __future__ import annotations`;
- `seen(x > 255)` is true if the condition in it is true, and false if it is open;
- `unseen` is open: the case depends on more than code shows;
- `shows("no-tree-map")` is true if the case shows one of these behaviours on the stack, and open without one stack;
- `within("jax.numpy.where")` is true if the use is a part of an argument of such a call, or stands in a `with` block of
  it, or in a function that the named one decorates, or gets by its name in the same file. In another function it is
  open if the project uses the name. Names of other packages, "builtins.isinstance", ".register" for a method, generics
  (`Optional[…]`), "[]" for what is indexed, "[int]" and "[str]" for what is indexed by such a literal, and bases before
  the use in a list of bases count, too; for a method, what made its object.

A member of a class with a condition, `jax.Array.round(decimals) if decimals >= 38`, also concerns that attribute of an
object whose class is unknown, if the condition is met: this is possible at most. A power is a call of `__pow__`.

`import flax.nnx` is a library, or a module of one, that does not import: a line that imports it fails for certain, if
there is no condition or it is met.

A comparison with a missing argument is false. If an argument is not a literal, the condition is open. A condition on an
array of literals, `jnp.array([0.0, 1.0])`, is true if it is true for one element; the array's `type` is not known. A
variable stands for its one value if that is a literal, or a JAX array of literals.
"""

from __future__ import annotations

import ast
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

from jax_stack_compat.check.knowledge import Knowledge, KnownCase
from jax_stack_compat.check.source.uses import MISSING, OPEN, UNSEEN, Call, Use, has_unseen, literal

_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")
_KEYWORD = re.compile(r"(?P<name>[\w.]+)\((?P<keyword>\w+)=\)")
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le},
    **{ast.Gt: operator.gt, ast.GtE: operator.ge},
    **{ast.In: lambda one, other: _is_in(one, other), ast.NotIn: lambda one, other: not _is_in(one, other)},
}
_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    **{"len": len, "min": min, "max": max, "abs": abs, "type": lambda value: type(value).__name__},
    "sorted": lambda values: type(values)(sorted(values)),
}
_WORDS = frozenset(
    {*_FUNCTIONS, "given", "uses", "string_annotations", "form", "within", "without", "shows", "seen", "unseen"}
)
_SIGNS = frozenset({"within", "seen"})
IMPORT = "import "
# Classes whose names are not capitalised, with a dot.
_CLASSES = ("jax.custom_jvp.", "jax.custom_vjp.")


@dataclass(frozen=True)
class Touch:
    """A name of the stack, or an area; for a call, its first parameters and a condition on them."""

    name: str
    parameters: tuple[str, ...] = ()
    keyword: str = ""
    condition: ast.expr | None = None

    @property
    def shown(self) -> str:
        """The name, with its keyword: `jax.jit(inline=)`."""
        return f"{self.name}({self.keyword}=)" if self.keyword else self.name

    @property
    def is_import(self) -> bool:
        """True if the import itself fails."""
        return self.name.startswith(IMPORT)

    @property
    def is_member(self) -> bool:
        """True for a member of a class."""
        parts = self.name.split(".")
        member = any(one[:1].isupper() and not two[:1].isupper() for one, two in pairwise(parts))
        return member or self.name.startswith(_CLASSES)

    @property
    def method(self) -> str:
        """For a member of a class with a condition, its own name; else empty."""
        return self.name.rpartition(".")[2] if self.is_member and self.condition is not None else ""

    @property
    def is_untold(self) -> bool:
        """True if code can use it without naming it: an area, a private name or a member of a class."""
        if self.is_import or self.method:
            return False
        parts = self.name.split(".")
        return not _NAME.fullmatch(self.name) or self.is_member or any(part.startswith("_") for part in parts)


@cache
def touch(text: str) -> Touch:
    """Parse a touch. Raises ValueError if its condition is invalid."""
    if keyed := _KEYWORD.fullmatch(text):
        return Touch(keyed["name"], keyword=keyed["keyword"])
    head, _, condition = text.partition(" if ")
    if not condition:
        return Touch(head)
    name, _, inside = head.partition("(")
    parameters = tuple(each.strip() for each in inside.removesuffix(")").split(",") if each.strip())
    try:
        parsed = ast.parse(condition, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{text!r}: {error.msg}") from error
    named = {each.id for each in ast.walk(parsed) if isinstance(each, ast.Name)}
    if strange := sorted(named - _WORDS - {*parameters}):
        raise ValueError(f"{text!r}: {', '.join(strange)} is not one of its parameters")
    return Touch(name, parameters, condition=parsed)


def touched(use: Use, names: Collection[str]) -> list[str]:
    """Return the names in `names` that a use names, or that are a prefix of its name.

    An import alone is a use only of `import …`, and a method only of members of that name, which have a dot first.
    """
    parts = [thing.name.split(".") for thing in use.things]
    if use.how == "method":
        return sorted({f".{each[-1]}" for each in parts}.intersection(names))
    before = "" if use.how == "name" else IMPORT
    prefixes = {before + ".".join(each[:end]) for each in parts for end in range(2 - bool(before), len(each) + 1)}
    return sorted(prefixes.intersection(names))


def meets(touch: Touch, use: Use, uses: Collection[str], behaviour: str = "") -> bool | None:
    """Return True if a use meets a touch, False if it cannot, and None if the code does not show it.

    `uses` are the names that the project uses, and `behaviour` is the case's on the stack; empty if there is no stack.
    """
    if use.how == "method":
        return None if _is_met(touch, use.call, use, uses, behaviour) else False
    if touch.is_import and touch.condition is None:
        return True
    call = use.call if any(thing.name == touch.name for thing in use.things) else None
    if touch.keyword:
        return None if call and touch.keyword in call.keywords else False
    return _is_met(touch, call, use, uses, behaviour)


def narrows(touch: Touch, use: Use, uses: Collection[str], behaviour: str = "") -> bool:
    """Return True if the code shows a part of a touch's condition, where `meets` finds the whole of it open."""
    if use.how == "method" or touch.keyword:
        return True
    call = use.call if any(thing.name == touch.name for thing in use.things) else None
    if touch.condition is None:
        return False
    calls = call.by_element() if call else [None]
    return any(_Asked(touch, each, use, uses, behaviour).shows_part(touch.condition) for each in calls)


def _is_met(touch: Touch, call: Call | None, use: Use, uses: Collection[str], behaviour: str) -> bool | None:
    """Return the value of a touch's condition, None without one: true if it is true of one element of the arrays."""
    if touch.condition is None:
        return None
    calls = call.by_element() if call else [None]
    found = {_Asked(touch, each, use, uses, behaviour).truth(touch.condition) for each in calls}
    return next((value for value in (True, None) if value in found), False)


@dataclass(frozen=True)
class _Asked:
    """A touch of a case, and the one place in the source where its condition is evaluated."""

    touch: Touch
    call: Call | None
    use: Use
    uses: Collection[str]
    behaviour: str

    def truth(self, node: ast.expr) -> bool | None:
        """Return the value of a condition, None if it is open."""
        match node:
            case ast.BoolOp(op, values):
                of = [self.truth(each) for each in values]
                ends = isinstance(op, ast.Or)
                return ends if ends in of else None if None in of else not ends
            case ast.UnaryOp(ast.Not(), operand):
                inner = self.truth(operand)
                return None if inner is None else not inner
            case ast.Name("unseen"):
                return None
            case ast.Call(ast.Name("seen"), [condition]):
                return self.truth(condition) is True
            case ast.Name("string_annotations"):
                return self.use.string_annotations
            case ast.Call(ast.Name("uses"), names):
                # The project uses the name, but perhaps not here.
                return None if any(ast.literal_eval(name) in self.uses for name in names) else False
            case ast.Call(ast.Name("without"), names):
                return not any(ast.literal_eval(name) in self.uses for name in names)
            case ast.Call(ast.Name("shows"), names):
                return self.behaviour in map(ast.literal_eval, names) if self.behaviour else None
            case ast.Call(ast.Name("within"), names):
                wanted = {ast.literal_eval(name) for name in names}
                if not self.use.within.isdisjoint(wanted):
                    return True
                return None if self.use.inside and not wanted.isdisjoint(self.uses) else False
            case ast.Call(ast.Name("given"), [ast.Name(name)]):
                value = self.written(name)
                return None if value is OPEN else value is not MISSING
            case ast.Compare(left, ops, others):
                return _compared(ops, [self.value(each) for each in (left, *others)])
        value = self.value(node)
        return value is not MISSING and bool(value) if not has_unseen(value) else None

    def shows_part(self, node: ast.expr) -> bool:
        """Return True if the code shows a part of an open condition, or only other places of the project can show it.

        A missing argument, or one that differs from a value, is not a part.
        """
        match node:
            case ast.BoolOp(ast.And(), values):
                truths = [(self.truth(each), each) for each in values]
                if any(truth is False for truth, _ in truths):
                    return False
                is_shown = any(self.is_sign(each) for truth, each in truths if truth)
                return is_shown or all(self.shows_part(each) for truth, each in truths if truth is None)
            case ast.BoolOp(ast.Or(), values):
                return any(self.shows_part(each) for each in values)
            case ast.Call(ast.Name("uses")):
                return self.truth(node) is None
        return False

    def is_sign(self, node: ast.expr) -> bool:
        """Return True if a true condition is about what the code has at this place."""
        match node:
            case ast.BoolOp(_, values):
                return any(self.truth(each) and self.is_sign(each) for each in values)
            case ast.Compare(left, [*_, op]):
                return not isinstance(op, ast.NotEq | ast.NotIn) and self.value(left) != ""
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _SIGNS

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression here."""
        match node:
            case ast.Name(name):
                return self.written(name)
            case ast.Call(ast.Name("form"), [ast.Name(name)]):
                return self.form(name)
            case ast.Call(ast.Name("type"), [ast.Name(name)]) if self.call and self.form(name):
                # An array's element has a value here, but another type.
                return UNSEEN
            case ast.Call(ast.Name(name), [argument]):
                value = self.value(argument)
                if value in (MISSING, OPEN, UNSEEN) or (name not in ("len", "type") and has_unseen(value)):
                    return value if value is MISSING else UNSEEN
                try:
                    return _FUNCTIONS[name](value)
                except (TypeError, ValueError):
                    return UNSEEN
        return literal(node)

    def form(self, name: str) -> Any:
        """Return the form of the argument for a parameter."""
        return self.call.form(name, self.touch.parameters.index(name)) if self.call else OPEN

    def written(self, name: str) -> Any:
        """Return the argument for a parameter."""
        return self.call.written(name, self.touch.parameters.index(name)) if self.call else OPEN


def _is_in(one: Any, others: Any) -> bool:
    """Return True if a value is among others: 1 is not True here, though Python has them equal."""
    if isinstance(others, str):
        return one in others
    return any(one == each and isinstance(one, bool) == isinstance(each, bool) for each in others)


def _compared(ops: list[ast.cmpop], values: list[Any]) -> bool | None:
    if MISSING in values:
        return False
    if any(map(has_unseen, values)):
        # What a list is seen to hold is in it, whatever the rest of it is.
        shown = isinstance(ops[0], ast.In) and not has_unseen(values[0]) and isinstance(values[1], tuple | list)
        return True if shown and values[0] in values[1] else None
    try:
        return all(_COMPARED[type(op)](*two) for op, two in zip(ops, pairwise(values), strict=True))
    except TypeError:
        return None


@dataclass(frozen=True)
class Met:
    """A use that a case concerns: `likely` if it meets the case's condition, `narrowed` if it shows a part of it."""

    use: Use
    name: str
    likely: bool
    narrowed: bool
    certain: bool = False

    @property
    def rank(self) -> tuple[bool, bool, bool]:
        """The order of what is known of a use: the most at the end."""
        return self.certain, self.likely, self.narrowed


def touches(case: KnownCase) -> list[Touch]:
    """Return what a case touches; for a function with a keyword, only the keyword."""
    found = [touch(text) for text in case.touches]
    keyed = {each.name for each in found if each.keyword}
    return [each for each in found if each.keyword or each.name not in keyed]


def is_untold(case: KnownCase) -> bool:
    """Return True if code can meet a case without naming what the case touches."""
    found = touches(case)
    return all(each.is_untold for each in found) or any(each.is_untold and "." in each.name for each in found)


def methods(knowledge: Knowledge) -> frozenset[str]:
    """Return the methods that cases touch."""
    of_all = (each.method for case in knowledge.cases.values() for each in touches(case))
    return frozenset(filter(None, of_all))


class Concern:
    """The uses in a source tree, by the names that cases touch; `names` are all names that the tree uses."""

    def __init__(self, uses: Iterable[Use], names: frozenset[str], knowledge: Knowledge) -> None:
        self.names = names
        of_all = [each for case in knowledge.cases.values() for each in touches(case)]
        wanted = frozenset([each.name for each in of_all] + [f".{each.method}" for each in of_all if each.method])
        self.touched: dict[str, list[Use]] = defaultdict(list)
        for use in uses:
            for name in touched(use, wanted):
                self.touched[name].append(use)

    def met(self, case: KnownCase, behaviour: str = "") -> list[Met]:
        """Return the uses that a case concerns, also where the code ignores it, in order of place.

        `behaviour` is what the case shows on the stack.
        """
        found: dict[tuple[str, int, int], Met] = {}
        for wanted in touches(case):
            also = self.touched.get(f".{wanted.method}", ()) if wanted.method else ()
            # A tree may have one use a hundred thousand times.
            known: dict[Use, Met | None] = {}
            for use in (*self.touched.get(wanted.name, ()), *also):
                if use.anywhere not in known:
                    known[use.anywhere] = self._one(wanted, use.anywhere, behaviour)
                met, at = known[use.anywhere], use.place.at
                if met and (at not in found or met.rank > found[at].rank):
                    found[at] = replace(met, use=use)
        return [found[at] for at in sorted(found)]

    def _one(self, wanted: Touch, use: Use, behaviour: str) -> Met | None:
        holds = meets(wanted, use, self.names, behaviour)
        if holds is False:
            return None
        narrowed = bool(holds) or narrows(wanted, use, self.names, behaviour)
        return Met(use, wanted.shown, bool(holds), narrowed, certain=wanted.is_import and bool(holds))
