"""Python crashes at exit if a static argument keeps its jitted function

A jitted function refers to its static argument. The function and the argument form a cycle if the argument also keeps
the function, as its key in a `WeakKeyDictionary` (`at_exit`) or by an attribute (`held_by_an_attribute`). If nothing
else refers to the cycle, nor to the function under `jax.jit`, Python dies of SIGSEGV or SIGABRT at exit, after the
program's output. jax#30517 calls the crash "some kind of double-free", and says that a later jaxlib fixes it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, MutableMapping
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround

_CACHE: MutableMapping[Callable[..., Any], Any] = weakref.WeakKeyDictionary()


def at_exit() -> tuple[str, str]:
    """Does Python exit cleanly if a `WeakKeyDictionary` maps a static argument to its `jax.jit` function?"""
    import jax

    def key(_: Any) -> None: ...

    def run(function: Any) -> None: ...

    jitted = _CACHE[key] = jax.jit(run, static_argnums=0)
    jitted(key)
    return "ended", "the call returned, and the interpreter went"


def traced() -> None:
    """A jitted function that no other object refers to can take a function as its static argument."""
    import jax

    assert float(jax.jit(lambda f, x: f(x), static_argnums=0)(abs, -1.0)) == 1.0


def plain_dict() -> None:
    """With a plain dict, a program exits with status 0."""
    import subprocess
    import sys

    program = """if True:
        import jax
        cache = {}
        def fill():
            def key(_): ...
            def run(function): ...
            cache[key] = jax.jit(run, static_argnums=0)
            cache[key](key)
        fill()"""
    subprocess.run([sys.executable, "-c", program], check=True)


def options_in_a_dict() -> None:
    """With a plain dict, a program with static tuples and partials, also under vmap and grad, exits with status 0."""
    import subprocess
    import sys

    program = """if True:
        import functools
        import jax
        import jax.numpy as jnp
        cache = {}
        def fill():
            def double(x):
                return 2 * x
            apply = cache[double] = jax.jit(lambda x, options: options[0](x), static_argnames="options")
            assert apply(jnp.arange(3), options=(double, 2)).tolist() == [0, 2, 4]
            part = functools.partial(double)
            call = cache[part] = jax.jit(lambda f, x: f(x), static_argnums=0)
            assert jax.vmap(lambda x: call(part, x))(jnp.ones((2, 3), jnp.float16)).sum() == 12
            assert jax.grad(lambda x: call(part, x))(1.0) == 2.0
        fill()"""
    subprocess.run([sys.executable, "-c", program], check=True)


class _Model:
    """An object that keeps the jitted function to which it is a static argument."""

    jitted: Any


def held_by_an_attribute() -> tuple[str, str]:
    """Does Python exit cleanly if an attribute of a static argument keeps its `jax.jit` function?"""
    import jax

    model = _Model()
    model.jitted = jax.jit(lambda model, x: x, static_argnums=0)
    model.jitted(model, 1.0)
    return "ended", "the call returned, and the interpreter went"


def jitted_once() -> None:
    """With the jitted function outside the object, a program exits with status 0."""
    import subprocess
    import sys

    program = """if True:
        import jax
        class Model: ...
        jitted = jax.jit(lambda model, x: x, static_argnums=0)
        jitted(Model(), 1.0)"""
    subprocess.run([sys.executable, "-c", program], check=True)


def decorated_method() -> None:
    """A program with a method that jax.jit decorates, and a static self, exits with status 0."""
    import subprocess
    import sys

    program = """if True:
        import functools
        import jax
        import jax.numpy as jnp
        class Model:
            @functools.partial(jax.jit, static_argnums=0)
            def double(self, x):
                return 2 * x
        kept = Model()
        for model in (kept, Model()):
            assert model.double(jnp.ones((2, 3), jnp.int32)).sum() == 12
            assert jax.vmap(model.double)(jnp.ones(3)).tolist() == [2, 2, 2]"""
    subprocess.run([sys.executable, "-c", program], check=True)


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#30517", discussion="equinox#1084"),
    touches=("jax.jit(static_argnums=)", "jax.jit(static_argnames=)"),
    control=traced,
    behaviours={"ended": "clear", "crashed": "affected"},
    rules=(Rule("crashed", "jaxlib==0.7.0", "jax#30517"), Rule("ended")),
    isolation="fork-and-exit",
    cases=(
        Case(
            at_exit,
            workaround=Workaround(
                "Keep jitted functions in a module's plain dict, which keeps every key alive.",
                plain_dict,
                elsewhere=options_in_a_dict,
            ),
            touches=("interpreter exit",),
        ),
        Case(
            held_by_an_attribute,
            workaround=Workaround(
                "Jit the function once, outside the object.",
                jitted_once,
                elsewhere=decorated_method,
            ),
            touches=("interpreter exit",),
        ),
    ),
)
