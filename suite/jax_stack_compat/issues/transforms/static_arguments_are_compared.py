"""A static argument must hash, and a new lambda or partial for it in each call traces each time, by design

    f = jax.jit(lambda x, g: g(x), static_argnums=1)
    f(1.0, lambda x: x + 1); f(1.0, lambda x: x + 1)    # traced twice: two lambdas are two values
    f(1.0, [2])                                         # ValueError: Non-hashable static arguments

Static arguments are keys of a cache: hashed, and compared with ==. Two lambdas are never equal, nor are two of
`functools.partial` of one function with the same arguments, so a loop that makes one in each step compiles in each
step. Numbers that are equal but of different types, 1 and 1.0 and True, are kept apart. What is equal by its own
`__eq__` and `__hash__`, as a tuple or a frozen dataclass is, hits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def _traces(values: Sequence[Any]) -> tuple[str, str]:
    """How many of the calls with these static arguments trace."""
    import jax

    traced = []

    def function(x: float, static: Any) -> float:
        traced.append(static)
        return x

    jitted = jax.jit(function, static_argnums=1)
    for value in values:
        jitted(1.0, value)
    told = "once" if len(traced) == 1 else "each-time" if len(traced) == len(values) else "other"
    return told, f"{len(traced)} traces in {len(values)} calls"


def new_lambdas() -> tuple[str, str]:
    """How often is traced that is called with a new lambda each time?"""

    def add(number: float) -> Callable[[float], float]:
        return lambda x: x + number

    return _traces([add(1.0), add(1.0), add(1.0)])


def equal_tuples() -> None:
    """With tuples that are equal: once."""
    assert _traces([(1, 2), (1, 2), tuple(range(1, 3))])[0] == "once"


def one_object() -> None:
    """One function, made once; a tuple for a list; numbers of one type."""

    def add(x: float) -> float:
        return x + 1.0

    once = partial(pow, 2)
    assert _traces([add, add, add])[0] == "once"
    assert _traces([once, once, once])[0] == "once"
    assert _traces([(2,), (2,)])[0] == "once"
    assert _traces([float(1), float(True)])[0] == "once"


def new_partials() -> tuple[str, str]:
    """With a new functools.partial of the same function and arguments?"""
    return _traces([partial(pow, 2), partial(pow, 2), partial(pow, 2)])


def equal_numbers() -> tuple[str, str]:
    """With numbers that are equal, and of different types?"""
    return _traces([1, 1.0, True])


def a_list() -> tuple[str, str]:
    """With a list?"""
    return _traces([[2], [2]])


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(docs="jax:_autosummary/jax.jit.html jax:jit-compilation.html#marking-arguments-as-static"),
    touches=("jax.jit(static_argnums=)", "jax.jit(static_argnames=)"),
    known_by=r"Non-hashable static arguments",
    control=equal_tuples,
    behaviours={"each-time": "documented", "once": "different", "other": "different"},
    rules=(Rule("each-time"),),
    workaround=Workaround("Make the function once, before the loop; give tuples, and numbers of one type.", one_object),
    cases=(
        Case(new_lambdas),
        Case(new_partials),
        Case(equal_numbers),
        Case(
            a_list,
            behaviours={"each-time": "different", "once": "different"},
            rules=(Rule("refused"),),
            signatures={
                "refused": Signature("ValueError", "Non-hashable static arguments are not supported", everyday=True)
            },
        ),
    ),
)
