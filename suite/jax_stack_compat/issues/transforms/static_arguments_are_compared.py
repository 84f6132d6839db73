"""jit traces again for each new lambda or partial as a static argument

Static arguments are keys of jit's cache: `jax.jit` needs their `__hash__` and `__eq__`, and traces again for another
value, as its documentation says. Two lambdas count as different values, and so do two partials of one function
(`new_partials`). If equal numbers of different types are given by position, `jax.jit` treats them as different values
(`equal_numbers`), as the changelog says, but not within a tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def _traces(values: Sequence[Any]) -> tuple[str, str]:
    """Count the traces of a jitted function that gets each of `values` as its static argument."""
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
    """How often does jax.jit trace in three calls, each with a new lambda as a static argument?"""

    def add(number: float) -> Callable[[float], float]:
        return lambda x: x + number

    return _traces([add(1.0), add(1.0), add(1.0)])


def equal_tuples() -> None:
    """jax.jit traces once for equal tuples as the static argument."""
    assert _traces([(1, 2), (1, 2), tuple(range(1, 3))])[0] == "once"


def one_object() -> None:
    """jax.jit traces once for the same function, the same partial, equal tuples, and equal numbers of one type."""

    def add(x: float) -> float:
        return x + 1.0

    once = partial(pow, 2)
    assert _traces([add, add, add])[0] == "once"
    assert _traces([once, once, once])[0] == "once"
    assert _traces([(2,), (2,)])[0] == "once"
    assert _traces([float(1), float(True)])[0] == "once"


def functions_by_keyword() -> None:
    """jax.jit traces once each for a function, a partial, a tuple and a number that a loop passes by keyword."""
    import jax
    import jax.numpy as jnp

    traced = []

    def apply(x: jax.Array, static: Any) -> jax.Array:
        traced.append(static)
        return static(x) if callable(static) else x * jnp.asarray(static, x.dtype)

    jitted = jax.jit(apply, static_argnames="static")
    double, x = partial(jnp.multiply, 2), jnp.array([[1, 2], [3, 4]], jnp.float16)
    for static, wanted in ((jnp.square, x * x), (double, 2 * x), ((2, 3), x * jnp.array([2, 3])), (4.0, 4 * x)):
        before = len(traced)
        for _ in range(3):
            assert (jitted(x, static=static) == wanted).all()
        assert len(traced) == before + 1
    assert jax.vmap(lambda row: jitted(row, static=double))(x).tolist() == [[2, 4], [6, 8]]
    assert jax.grad(lambda x: jitted(x, static=jnp.square))(3.0) == 6.0


def new_partials() -> tuple[str, str]:
    """How often does jax.jit trace in three calls, each with a new functools.partial(pow, 2)?"""
    return _traces([partial(pow, 2), partial(pow, 2), partial(pow, 2)])


def equal_numbers() -> tuple[str, str]:
    """How often does jax.jit trace in three calls with 1, 1.0 and True, by position, as a static argument?"""
    return _traces([1, 1.0, True])


def a_list() -> tuple[str, str]:
    """Does jax.jit take a list as a static argument?"""
    return _traces([[2], [2]])


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        docs=(
            "jax:_autosummary/jax.jit.html jax:jit-compilation.html#marking-arguments-as-static "
            "jax:changelog.html#jaxlib-0-1-76-jan-27-2022"
        ),
        discussion="jax#9273 jax#2813",
    ),
    touches=("jax.jit(static_argnums=)", "jax.jit(static_argnames=)"),
    known_by=r"Non-hashable static arguments",
    control=equal_tuples,
    behaviours={"each-time": "documented", "once": "different", "other": "different"},
    rules=(Rule("each-time"),),
    workaround=Workaround(
        "Make the function once, before the loop.",
        one_object,
        elsewhere=functions_by_keyword,
    ),
    cases=(
        Case(new_lambdas),
        Case(new_partials),
        Case(
            equal_numbers,
            workaround=Workaround(
                "Convert the number to one type, int if it is a length: f(x, int(n)).",
                one_object,
                elsewhere=functions_by_keyword,
            ),
        ),
        Case(
            a_list,
            behaviours={"each-time": "different", "once": "different"},
            rules=(Rule("refused"),),
            signatures={
                "refused": Signature("ValueError", "Non-hashable static arguments are not supported", everyday=True)
            },
            workaround=Workaround(
                "Pass a tuple of hashable items; within a tuple, 1 and 1.0 are equal.",
                one_object,
                elsewhere=functions_by_keyword,
            ),
        ),
    ),
)
