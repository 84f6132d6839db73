"""jax.jit and lax.fori_loop run a function's side effects during tracing

JAX runs a function's Python code to trace it, and later calls run the traced program. So tracing, and not a call, reads
a global (`global_value`), appends to a list (`appended`) and advances an iterator (`iterator`). JAX's FAQ documents
this for globals and `print`. The sharp bits also warn of iterators (jax#3567), and say that JAX does not guarantee how
impure functions behave.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround


def global_value() -> tuple[str, str]:
    """Does a function under jax.jit see the new value of a global that has changed?"""
    import jax

    scale = {"now": 1.0}
    scaled = jax.jit(lambda x: x * scale["now"])
    scaled(2.0)
    scale["now"] = 5.0
    found = float(scaled(2.0))
    return "as-traced" if found == 2.0 else "as-changed", f"{found}"


def by_argument() -> None:
    """A jitted function uses a value passed as an argument, and a loop uses numbers from an array."""
    import jax
    import jax.numpy as jnp

    assert float(jax.jit(lambda x, scale: x * scale)(2.0, 5.0)) == 10.0
    numbers = jnp.arange(10)
    assert int(jax.lax.fori_loop(0, 5, lambda i, total: total + numbers[i], 0)) == 10


def scaled_and_summed(rows: Any, scale: Any) -> Any:
    """Add up the rows by index in a loop, and scale the sum by two values in turn."""
    import jax
    import jax.numpy as jnp

    scaled = jax.jit(lambda x, scale: x * scale)
    total = jax.lax.fori_loop(0, len(rows), lambda i, total: total + rows[i], jnp.zeros_like(rows[0]))
    return jnp.stack([scaled(total, scale), scaled(total, scale + scale)])


def numpy_scaled_and_summed(rows: Any, scale: Any) -> Any:
    """Add up the rows and scale the sum by two values with NumPy."""
    import numpy as np

    total = rows.sum(0, dtype=rows.dtype)
    return np.stack([total * scale, total * (scale + scale)])


def appended() -> tuple[str, str]:
    """How often does a function under jax.jit append to a list in two calls?"""
    import jax

    seen: list[int] = []

    def append(x: float) -> float:
        seen.append(1)
        return x

    jitted = jax.jit(append)
    jitted(1.0), jitted(2.0)
    return "as-traced" if len(seen) == 1 else "as-changed", f"{len(seen)} in two calls"


def by_callback() -> None:
    """A jitted function that appends to a list through jax.debug.callback appends at each call."""
    import jax

    seen: list[int] = []

    def append(x: float) -> float:
        jax.debug.callback(lambda: seen.append(1), ordered=True)
        return x

    jitted = jax.jit(append)
    jitted(1.0), jitted(2.0)
    jax.effects_barrier()
    assert len(seen) == 2


def in_a_loop() -> None:
    """Ordered callbacks receive each row of a float16 matrix, in loops with and without jit and in two scans."""
    import jax
    import jax.numpy as jnp

    rows = jnp.arange(6, dtype=jnp.float16).reshape(3, 2)
    seen: list[Any] = []

    def add(i: Any, total: Any) -> Any:
        jax.debug.callback(seen.append, rows[i], ordered=True)
        return total + rows[i]

    def total(start: Any) -> Any:
        return jax.lax.fori_loop(0, 3, add, start).sum()

    for f in (total, jax.jit(total)):
        f(jnp.zeros(2, jnp.float16))
    for _ in range(2):
        jax.lax.scan(lambda total, i: (add(i, total), i), jnp.zeros(2, jnp.float16), jnp.arange(3))
    jax.effects_barrier()
    assert [row.tolist() for row in seen] == [[0, 1], [2, 3], [4, 5]] * 4


def iterator() -> tuple[str, str]:
    """What does jax.lax.fori_loop return after five iterations if its body adds next(iterator)?"""
    import jax

    numbers = iter(range(10))
    found = int(jax.lax.fori_loop(0, 5, lambda i, total: total + next(numbers), 0))
    return "as-traced" if found == 0 else "as-changed", f"{found}, and not {sum(range(5))}"


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        docs="jax:notebooks/Common_Gotchas_in_JAX.html#pure-functions "
        "jax:faq.html#jit-changes-the-behavior-of-my-function",
        discussion="jax#1348 jax#3567",
    ),
    touches=("tracing", "side effects"),
    control=by_argument,
    behaviours={"as-traced": "documented", "as-changed": "different"},
    rules=(Rule("as-traced", "", "the sharp bits"),),
    workaround=Workaround(
        "Pass changing numbers as arguments and sequences as arrays; a Python `if` cannot use them.",
        by_argument,
        elsewhere=Elsewhere(
            scaled_and_summed,
            numpy_scaled_and_summed,
            ("float32 matrix, float32 scalar", "int32 vector, int32 scalar", "float16 square, zero float16 scalar"),
        ),
    ),
    cases=(
        Case(global_value),
        Case(
            appended,
            workaround=Workaround(
                "On one device, outside grad and vmap, call jax.debug.callback(f, x, ordered=True), then "
                "jax.effects_barrier().",
                by_callback,
                elsewhere=in_a_loop,
            ),
        ),
        Case(iterator),
    ),
)
