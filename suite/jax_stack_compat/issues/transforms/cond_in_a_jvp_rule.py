"""jax.grad raises if vmap batches a lax.cond over tangents in a JVP rule

If `vmap` batches the predicate, `lax.cond` applies `stop_gradient` to its operands and becomes a select (jax#5658). In
a `custom_jvp` rule, a tangent is one of these operands, and `stop_gradient` has no transpose (jax#22011, jax#39219).
`lax.switch` fails in the same way (`switch`). Lineax adds a transpose when it is imported (lineax#100), and the
gradient then exists (`with_lineax`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import (
    GRADIENTS,
    MAPS,
    Case,
    Elsewhere,
    Issue,
    Rule,
    Signature,
    Upstream,
    Workaround,
    compare,
)


def cond() -> tuple[str, str]:
    """Does jax.grad differentiate a batch through a custom_jvp rule that has a lax.cond?"""
    import jax
    import jax.numpy as jnp

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def f(x: jax.Array) -> jax.Array:
        return jnp.where(x > 0, x, 2.0 * x)

    @f.defjvp  # type: ignore[untyped-decorator]
    def rule(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
        (x,), (t,) = primals, tangents
        return f(x), jax.lax.cond(x > 0, lambda: t, lambda: 2.0 * t)

    got = jax.grad(lambda x: jnp.sum(jax.vmap(f)(x)))(jnp.array([-1.0, 4.0]))
    return compare(got, [2.0, 1.0])


def mapped_gradient() -> None:
    """With lax.cond in a custom_jvp rule, vmap of grad and an unbatched grad give the gradient."""
    import jax
    import jax.numpy as jnp

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def f(x: jax.Array) -> jax.Array:
        return jnp.where(x > 0, x, 2.0 * x)

    @f.defjvp  # type: ignore[untyped-decorator]
    def rule(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
        (x,), (t,) = primals, tangents
        return f(x), jax.lax.cond(x > 0, lambda: t, lambda: 2.0 * t)

    assert jax.vmap(jax.grad(f))(jnp.array([-1.0, 4.0])).tolist() == [2.0, 1.0]
    assert float(jax.grad(f)(-1.0)) == 2.0


def coefficient() -> None:
    """A jnp.where in the tangent's factor has a transpose: a square root's gradient is 0 at 0 and at -1."""
    import jax
    import jax.numpy as jnp

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def root(x: jax.Array) -> jax.Array:
        return jnp.sqrt(jnp.maximum(x, 0.0))

    @root.defjvp  # type: ignore[untyped-decorator]
    def rule(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
        (x,), (t,) = primals, tangents
        return root(x), t * jnp.where(x > 0, 0.5 / jnp.sqrt(x), 0.0)

    assert jax.grad(lambda x: jnp.sum(jax.vmap(root)(x)))(jnp.array([-1.0, 0.0, 4.0])).tolist() == [0.0, 0.0, 0.25]


def leaky(x: Any) -> Any:
    """Differentiate a leaky ReLU whose custom_jvp rule multiplies the tangent by a jnp.where."""
    import jax
    import jax.numpy as jnp

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def f(x: Any) -> Any:
        return jnp.where(x > 0, x, 0.25 * x)

    @f.defjvp  # type: ignore[untyped-decorator]
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return f(x), t * jnp.where(x > 0, 1.0, 0.25).astype(x.dtype)

    return jax.grad(lambda x: jnp.sum(jax.vmap(f)(x)))(x)


def leaky_slope(x: Any) -> Any:
    """Return 1 where x is positive, else 0.25."""
    import numpy as np

    return np.where(x > 0, 1, 0.25)


def switch() -> tuple[str, str]:
    """Does jax.grad differentiate a batch through a custom_jvp rule that has a lax.switch?"""
    import jax
    import jax.numpy as jnp

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def f(x: jax.Array) -> jax.Array:
        return jnp.where(x > 0, x, 2.0 * x)

    @f.defjvp  # type: ignore[untyped-decorator]
    def rule(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
        (x,), (t,) = primals, tangents
        return f(x), jax.lax.switch(jnp.where(x > 0, 0, 1), [lambda: t, lambda: 2.0 * t])

    got = jax.grad(lambda x: jnp.sum(jax.vmap(f)(x)))(jnp.array([-1.0, 4.0]))
    return compare(got, [2.0, 1.0])


def with_lineax() -> tuple[str, str]:
    """Does jax.grad differentiate a batch through a custom_jvp rule that has a lax.cond, with Lineax imported?"""
    import jax
    import jax.numpy as jnp
    import lineax  # noqa: F401

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def f(x: jax.Array) -> jax.Array:
        return jnp.where(x > 0, x, 2.0 * x)

    @f.defjvp  # type: ignore[untyped-decorator]
    def rule(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
        (x,), (t,) = primals, tangents
        return f(x), jax.lax.cond(x > 0, lambda: t, lambda: 2.0 * t)

    got = jax.grad(lambda x: jnp.sum(jax.vmap(f)(x)))(jnp.array([-1.0, 4.0]))
    return compare(got, [2.0, 1.0])


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="jax#22011 jax#39219", attempt="jax#39453", discussion="jax#5658 patrick-kidger/lineax#100"
    ),
    touches=(f"jax.lax.cond if within('.defjvp', '.defjvps') and {MAPS} and {GRADIENTS}",),
    control=mapped_gradient,
    rules=(Rule("no-transpose", "", "jax#39219 is open"),),
    workaround=Workaround(
        "With constant slopes, multiply the tangent: t * jnp.where(x > 0, 1.0, 2.0).",
        coefficient,
        elsewhere=Elsewhere(
            leaky, leaky_slope, ("float32 vector", "float16 vector", "zero float32 vector", "float32 empty")
        ),
    ),
    behaviours={"agrees": "clear", "differs": "different"},
    signatures={"no-transpose": Signature("NotImplementedError", "for 'stop_gradient' not implemented")},
    cases=(
        Case(cond),
        Case(switch, touches=(f"jax.lax.switch if within('.defjvp', '.defjvps') and {MAPS} and {GRADIENTS}",)),
        Case(
            with_lineax,
            rules=(Rule("no-transpose", "lineax<0.0.6"), Rule("agrees", "", "patrick-kidger/lineax#100")),
            needs=("jax", "lineax"),
        ),
    ),
)
