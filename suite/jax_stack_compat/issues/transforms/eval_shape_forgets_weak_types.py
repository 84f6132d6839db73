"""jax.eval_shape of two functions in a row has another dtype than a call of them, up to jax 0.4.31

    half = lambda x: x + jnp.ones(3, "bfloat16")
    half(jnp.asarray(1.0)).dtype                                # bfloat16
    jax.eval_shape(half, jax.eval_shape(jnp.asarray, 1.0))      # float32 up to jax 0.4.31

You'd expect the one that the call has: that is what eval_shape is asked for. `jnp.asarray(1.0)` is of a weak type,
which gives way to an array's, and up to 0.4.31 a `ShapeDtypeStruct` could not say so. jax#23302 has it, found where
Equinox looked for the reason of a retrace, and 0.4.32, which is not on the line run here, gave it a `weak_type`.

Up to 0.4.23 eval_shape traced its function again at each call, of an argument that it had seen too; since 0.4.24 it
asks what `jit` knows (51ef738c86). Code that shows progress by eval_shape, or counts traces, sees one where it saw
many.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def weak_type() -> tuple[str, str]:
    """Has eval_shape of a function of what another gives the dtype of a call of both?"""
    import jax
    import jax.numpy as jnp

    def half(x: jax.Array) -> jax.Array:
        return x + jnp.ones(3, jnp.bfloat16)

    called = half(jnp.asarray(1.0)).dtype
    shaped = jax.eval_shape(half, jax.eval_shape(jnp.asarray, 1.0)).dtype
    return ("agrees" if shaped == called else "differs"), f"{shaped} of eval_shape, {called} of a call"


def strong_type() -> None:
    """Of an array whose dtype is its own eval_shape has the dtype of a call on every release."""
    import jax
    import jax.numpy as jnp

    def half(x: jax.Array) -> jax.Array:
        return x + jnp.ones(3, jnp.bfloat16)

    x = jnp.ones((), jnp.float32)
    assert jax.eval_shape(half, jax.eval_shape(jnp.negative, x)).dtype == half(-x).dtype == jnp.float32


def in_one() -> None:
    """Asked about both in one, it answers as a call does."""
    import jax
    import jax.numpy as jnp

    both = jax.eval_shape(lambda: jnp.asarray(1.0) + jnp.ones(3, jnp.bfloat16))
    assert both.dtype == jnp.bfloat16, both


def traces() -> tuple[str, str]:
    """How often does eval_shape trace a function that it is asked about three times?"""
    import jax
    import jax.numpy as jnp

    seen = []

    def double(x: jax.Array) -> jax.Array:
        seen.append(x)
        return x * 2

    for _ in range(3):
        jax.eval_shape(double, jnp.ones(3))
    return {1: "once", 3: "each-time"}.get(len(seen), "other"), f"{len(seen)} traces for 3 calls"


def of_a_jitted_function() -> None:
    """Of a jitted function it has what jit traced, on every release."""
    import jax
    import jax.numpy as jnp

    seen = []

    def double(x: jax.Array) -> jax.Array:
        seen.append(x)
        return x * 2

    jitted = jax.jit(double)
    for _ in range(3):
        jax.eval_shape(jitted, jnp.ones(3))
    assert len(seen) == 1, seen


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#23302", fix="jax@dd6f0e2e2e jax@51ef738c86"),
    touches=("jax.eval_shape", "jax.ShapeDtypeStruct"),
    control=strong_type,
    cases=(
        Case(
            weak_type,
            rules=(Rule("differs", "jax<0.4.32", "jax#23302"), Rule("agrees", "", "dd6f0e2e2e is of 0.4.32")),
            workaround=Workaround("Ask about both in one: jax.eval_shape(lambda: g(f(x))).", in_one),
        ),
        Case(
            traces,
            behaviours={"each-time": "affected", "once": "clear", "other": "different"},
            rules=(Rule("each-time", "jax<0.4.24"), Rule("once", "", "51ef738c86")),
            workaround=Workaround("Ask about jax.jit(f).", of_a_jitted_function),
        ),
    ),
)
