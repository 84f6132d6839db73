"""A jitted function with a callback is dispatched by Python on every call: with pure_callback up to jax 0.7.1

    f = jax.jit(lambda x: jax.pure_callback(np.sin, x, x))
    f(x); f(x)    # the second call runs no tracing, and yet JAX's Python: `cache_miss`

A warm call of a jitted function is looked up and launched in C++. One with a callback in it never was: each call went
through `cache_miss`, which is told as a miss of a cache and is none; what it costs is the Python, not a compilation.
jax#31319 saw solves with lineax slow down by it; jax#31341, in 0.7.2, gives `pure_callback` the fast path. With
`io_callback`, and with `jax.debug.callback`, on which `jax.debug.print` rests, it is so on every release: an
executable with effects has no entry there (jax#39289, open). Nothing is timed: calls of JAX's Python are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream


def _dispatched(function: Callable[[Any], Any]) -> tuple[str, str]:
    """How many of five warm calls of the jitted function reach JAX's Python."""
    import sys

    import jax
    import jax.numpy as jnp

    jitted, x, seen = jax.jit(function), jnp.arange(3.0), []
    for _ in range(3):
        jax.block_until_ready(jitted(x))
    sys.setprofile(lambda frame, event, _: seen.append(event) if frame.f_code.co_name == "cache_miss" else None)
    for _ in range(5):
        jitted(x)
    sys.setprofile(None)
    calls = seen.count("call")
    return "in-python" if calls else "in-cpp", f"{calls} of 5 warm calls reach JAX's Python"


def pure_callback() -> tuple[str, str]:
    """Is a warm call of a jitted function with a pure_callback dispatched in C++?"""
    import jax
    import numpy as np

    return _dispatched(lambda x: jax.pure_callback(lambda x: np.asarray(x) * 2, x, x))


def plain() -> None:
    """One without a callback is."""
    assert _dispatched(lambda x: x * 2)[0] == "in-cpp"


def io_callback() -> tuple[str, str]:
    """Is one with an io_callback?"""
    import numpy as np
    from jax.experimental import io_callback as callback

    return _dispatched(lambda x: callback(lambda x: np.asarray(x) * 2, x, x))


def debug_callback() -> tuple[str, str]:
    """Is one with a debug callback?"""
    import jax

    return _dispatched(lambda x: (jax.debug.callback(lambda x: None, x), x * 2)[1])


ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="jax#31319 lineax#169 jax#39289", fix="jax#31341"),
    control=plain,
    behaviours={"in-python": "affected", "in-cpp": "clear"},
    rules=(Rule("in-python", "", "jax#39289 is open"),),
    cases=(
        Case(
            pure_callback,
            rules=(Rule("in-python", "jax<0.7.2"), Rule("in-cpp", "", "jax#31341")),
            touches=("jax.pure_callback",),
        ),
        Case(io_callback, touches=("jax.experimental.io_callback",)),
        Case(debug_callback, touches=("jax.debug.callback", "jax.debug.print")),
    ),
)
