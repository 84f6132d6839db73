"""Jitted functions with a host callback dispatch warm calls in Python

JAX dispatches a warm call of a jitted function in C++. If the function had a host callback, each call missed the C++
dispatch cache and ran JAX's Python, without tracing again (jax#39289). jax#31341 gives functions with
`jax.pure_callback` the C++ path. Executables with effects, such as `io_callback`, `jax.debug.callback` or
`jax.debug.print`, still miss the cache (jax#39289).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream


def _dispatched(function: Callable[[Any], Any]) -> tuple[str, str]:
    """Count how many of five warm calls of the jitted function reach JAX's Python."""
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
    """Is a warm call of a jitted function with jax.pure_callback dispatched in C++?"""
    import jax
    import numpy as np

    return _dispatched(lambda x: jax.pure_callback(lambda x: np.asarray(x) * 2, x, x))


def plain() -> None:
    """A warm call of a jitted function without a callback is dispatched in C++."""
    assert _dispatched(lambda x: x * 2)[0] == "in-cpp"


def io_callback() -> tuple[str, str]:
    """Is a warm call of a jitted function with io_callback dispatched in C++?"""
    import numpy as np
    from jax.experimental import io_callback as callback

    return _dispatched(lambda x: callback(lambda x: np.asarray(x) * 2, x, x))


def debug_callback() -> tuple[str, str]:
    """Is a warm call of a jitted function with jax.debug.callback dispatched in C++?"""
    import jax

    return _dispatched(lambda x: (jax.debug.callback(lambda x: None, x), x * 2)[1])


def debug_print() -> tuple[str, str]:
    """Is a warm call of a jitted function with jax.debug.print dispatched in C++?"""
    import jax

    return _dispatched(lambda x: (jax.debug.print("x is {x}", x=x), x * 2)[1])


_JITTED = " if uses('jax.jit', 'equinox.filter_jit', 'flax.nnx.jit')"

ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="jax#31319 lineax#169 jax#39289", fix="jax#31341"),
    control=plain,
    behaviours={"in-python": "affected", "in-cpp": "clear"},
    rules=(Rule("in-python", "", "jax#39289"),),
    cases=(
        Case(
            pure_callback,
            rules=(Rule("in-python", "jax<0.7.2"), Rule("in-cpp", "", "jax#31341")),
            touches=(f"jax.pure_callback{_JITTED}",),
        ),
        Case(io_callback, touches=(f"jax.experimental.io_callback{_JITTED}",)),
        Case(debug_callback, touches=(f"jax.debug.callback{_JITTED}",)),
        Case(debug_print, touches=(f"jax.debug.print{_JITTED}",)),
    ),
)
