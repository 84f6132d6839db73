"""What a jitted function does beside computing happens once, as it is traced: globals, lists and iterators, by design

    f = jax.jit(lambda x: x * scale["now"])
    f(2.0); scale["now"] = 5.0; f(2.0)      # still with the first scale
    lax.fori_loop(0, 5, lambda i, total: total + next(numbers), 0)    # 0: one number, five times

JAX runs the Python of a function to write down what it computes, and then runs what was written. A global is read, a
list appended to, an iterator advanced while that is done, and not again: the FAQ and the sharp bits have it.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def global_value() -> tuple[str, str]:
    """Does a jitted function see a global that has changed?"""
    import jax

    scale = {"now": 1.0}
    scaled = jax.jit(lambda x: x * scale["now"])
    scaled(2.0)
    scale["now"] = 5.0
    found = float(scaled(2.0))
    return "as-traced" if found == 2.0 else "as-changed", f"{found}"


def by_argument() -> None:
    """What is passed is used: values as arguments, numbers as an array."""
    import jax
    import jax.numpy as jnp

    assert float(jax.jit(lambda x, scale: x * scale)(2.0, 5.0)) == 10.0
    numbers = jnp.arange(10)
    assert int(jax.lax.fori_loop(0, 5, lambda i, total: total + numbers[i], 0)) == 10


def appended() -> tuple[str, str]:
    """How often does a jitted function append to a list in two calls?"""
    import jax

    seen: list[int] = []

    def append(x: float) -> float:
        seen.append(1)
        return x

    jitted = jax.jit(append)
    jitted(1.0), jitted(2.0)
    return "as-traced" if len(seen) == 1 else "as-changed", f"{len(seen)} in two calls"


def iterator() -> tuple[str, str]:
    """What does a loop sum that takes the next of an iterator five times?"""
    import jax

    numbers = iter(range(10))
    found = int(jax.lax.fori_loop(0, 5, lambda i, total: total + next(numbers), 0))
    return "as-traced" if found == 0 else "as-changed", f"{found}, and not {sum(range(5))}"


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        docs="jax:notebooks/Common_Gotchas_in_JAX.html#pure-functions "
        "jax:faq.html#jit-changes-the-behavior-of-my-function"
    ),
    touches=("tracing", "side effects"),
    control=by_argument,
    behaviours={"as-traced": "documented", "as-changed": "different"},
    rules=(Rule("as-traced", "", "the sharp bits"),),
    workaround=Workaround("Pass it as an argument; an effect is jax.debug.callback's, or io_callback's.", by_argument),
    cases=(Case(global_value), Case(appended), Case(iterator)),
)
