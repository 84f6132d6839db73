"""jax.eval_shape lost weak types, and traced its function at each call

A weak type gives way to the dtype of an array. `jax.eval_shape` returned a `ShapeDtypeStruct` that did not record weak
types, so `eval_shape` of the next function could give another dtype than a call (`weak_type`). jax#23302 found the lost
weak type in a search for a retrace; dd6f0e2e2e adds an attribute that records weak types. Before 51ef738c86,
`eval_shape` also did not use jit's tracing cache, and traced at each call (`traces`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def weak_type() -> tuple[str, str]:
    """Does eval_shape(f, eval_shape(jnp.asarray, 1.0)) give the dtype of f(jnp.asarray(1.0))?"""
    import jax
    import jax.numpy as jnp

    def half(x: jax.Array) -> jax.Array:
        return x + jnp.ones(3, jnp.bfloat16)

    called = half(jnp.asarray(1.0)).dtype
    shaped = jax.eval_shape(half, jax.eval_shape(jnp.asarray, 1.0)).dtype
    return ("agrees" if shaped == called else "differs"), f"{shaped} of eval_shape, {called} of a call"


def strong_type() -> None:
    """If the type of x is not weak, eval_shape(f, eval_shape(g, x)) gives the dtype of f(g(x))."""
    import jax
    import jax.numpy as jnp

    def half(x: jax.Array) -> jax.Array:
        return x + jnp.ones(3, jnp.bfloat16)

    x = jnp.ones((), jnp.float32)
    assert jax.eval_shape(half, jax.eval_shape(jnp.negative, x)).dtype == half(-x).dtype == jnp.float32


def in_one() -> None:
    """One eval_shape of two composed functions gives the dtype of a call."""
    import jax
    import jax.numpy as jnp

    both = jax.eval_shape(lambda x: jnp.asarray(x) + jnp.ones(3, jnp.bfloat16), 1.0)
    assert both.dtype == jnp.bfloat16, both


def composed() -> None:
    """One eval_shape of two composed functions gives the dtype and shape of a call, for weak and other types."""
    import jax
    import jax.numpy as jnp

    for number in (0, 2.5, 1j, True):
        for dtype in ("float16", "int8", "float32", "complex64", "bool"):
            for shape in ((), (2, 3), (0,)):

                def both(x: Any, dtype: str = dtype, shape: tuple[int, ...] = shape) -> jax.Array:
                    return jnp.asarray(x) * jnp.ones(shape, dtype)

                for x in (number, jax.ShapeDtypeStruct(shape, dtype)):
                    shaped, called = jax.eval_shape(both, x), both(x if x is number else jnp.ones(shape, dtype))
                    assert (shaped.dtype, shaped.shape) == (called.dtype, called.shape), (shaped, called)


def traces() -> tuple[str, str]:
    """How often do three calls of eval_shape with the same function and shape trace the function?"""
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
    """Three calls of eval_shape with the same jitted function trace the function once."""
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


def jitted_once() -> None:
    """eval_shape traces a jitted function of a tree and a keyword once for each shape; calls reuse the trace."""
    import jax
    import jax.numpy as jnp

    seen = []

    def scale(tree: dict[str, jax.Array], *, factor: jax.Array) -> dict[str, jax.Array]:
        seen.append(tree)
        return {name: x * factor for name, x in tree.items()}

    jitted = jax.jit(scale)
    for shape in ((2, 3), (0,), ()):
        tree = {"weights": jnp.ones(shape, jnp.float16), "count": jnp.zeros(shape, jnp.int32)}
        for _ in range(3):
            got = jax.eval_shape(jitted, tree, factor=jnp.int32(2))
            assert (got["weights"].shape, got["weights"].dtype) == (shape, jnp.float16)
        jitted(tree, factor=jnp.int32(2))
    assert len(seen) == 3, seen


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#23302", fix="jax@dd6f0e2e2e jax@51ef738c86", discussion="equinox#817"),
    control=strong_type,
    cases=(
        Case(
            weak_type,
            rules=(Rule("differs", "jax<0.4.32", "jax#23302"), Rule("agrees", "", "dd6f0e2e2e")),
            workaround=Workaround(
                "Compose the functions in one call: jax.eval_shape(lambda x: g(f(x)), x).", in_one, elsewhere=composed
            ),
            touches=("jax.eval_shape(fun, x) if form(x) == 'jax.eval_shape' and unseen",),
        ),
        Case(
            traces,
            behaviours={"each-time": "affected", "once": "clear", "other": "different"},
            rules=(Rule("each-time", "jax<0.4.24"), Rule("once", "", "51ef738c86")),
            workaround=Workaround(
                "Jit the function once, jitted = jax.jit(f), and pass jitted to eval_shape.",
                of_a_jitted_function,
                elsewhere=jitted_once,
            ),
            touches=("jax.eval_shape",),
        ),
    ),
)
