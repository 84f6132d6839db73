"""Python ends in a segmentation fault where a jitted function outlives its static argument in a WeakKeyDictionary

    cache = weakref.WeakKeyDictionary()
    cache[key] = jitted = jax.jit(run, static_argnums=0)
    jitted(key)      # in jax 0.7.0 the interpreter dies of a signal at exit, after all answers are out

jitted holds its static argument, a function, and the cache holds jitted for as long as that lives. What jaxlib 0.7.0
frees twice is only seen when the interpreter takes its leave: a program that printed the right answers ends with -11.
jax#30517 met it by Equinox, whose filter_jit keeps such caches (equinox#1084), and jaxlib 0.7.1 has it mended.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, MutableMapping
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround

_CACHE: MutableMapping[Callable[..., Any], Any] = weakref.WeakKeyDictionary()


def at_exit() -> tuple[str, str]:
    """Does a program end well that keeps a jitted function by its static argument?"""
    import jax

    def key(_: Any) -> None: ...

    def run(function: Any) -> None: ...

    jitted = _CACHE[key] = jax.jit(run, static_argnums=0)
    jitted(key)
    return "ended", "the call returned, and the interpreter went"


def traced() -> None:
    """A function as a static argument is taken, and kept nowhere."""
    import jax

    assert float(jax.jit(lambda f, x: f(x), static_argnums=0)(abs, -1.0)) == 1.0


def by_name() -> None:
    """A cache by something that the jitted function does not hold: a name."""
    import jax

    cache = {"double": jax.jit(lambda x: 2 * x)}
    assert float(cache["double"](1.0)) == 2.0


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#30517 equinox#1084"),
    touches=("jax.jit(static_argnums=)", "jax.jit(static_argnames=)", "interpreter exit"),
    control=traced,
    behaviours={"ended": "clear", "crashed": "affected"},
    rules=(Rule("crashed", "jaxlib==0.7.0", "jax#30517"), Rule("ended")),
    workaround=Workaround("Keep jitted functions by a name, or in a plain dict.", by_name),
    isolation="fork-and-exit",
    cases=(Case(at_exit),),
)
