"""The gradient of jnp.where is NaN if the unused branch's is not finite

`grad` multiplies the zero cotangent of the unused branch by the branch's derivative, infinity or NaN; the FAQ documents
this, with the workaround (jax#1052). Forward mode gives 0 (`jvp`, jax#654). `lax.cond` also gives 0, even if `vmap`
turns it into a select, where jax#5658 stops the gradient (`cond_under_vmap`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import GRADIENTS, MAPS, Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def where() -> tuple[str, str]:
    """Is jax.grad of jnp.where(x > 0, jnp.sqrt(x), 0) equal to 0 at 0 and at -1?"""
    import jax
    import jax.numpy as jnp

    gradient = jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0))
    return compare([gradient(0.0), gradient(-1.0)], [0.0, 0.0])


def the_branch_taken() -> None:
    """The gradient of jnp.where is correct at 4, where sqrt is used; at 0, lax.cond without vmap gives 0."""
    import jax
    import jax.numpy as jnp

    assert float(jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0))(4.0)) == 0.25
    assert float(jax.grad(lambda x: jax.lax.cond(x > 0, jnp.sqrt, jnp.zeros_like, x))(0.0)) == 0.0


def where_inside() -> None:
    """With a second jnp.where inside, as in the FAQ, jnp.sqrt gets no point without a derivative."""
    import jax
    import jax.numpy as jnp

    def f(x: object) -> object:
        return jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0)  # type: ignore[operator]

    got = jax.grad(lambda x: jnp.sum(f(x)))(jnp.array([0.0, -1.0, 4.0]))
    assert got.tolist() == [0.0, 0.0, 0.25]


def roots(x: Any) -> Any:
    """Return the gradient of jnp.where and jnp.sum(where=), with a second jnp.where inside."""
    import jax
    import jax.numpy as jnp

    def f(x: Any) -> Any:
        root = jnp.sqrt(jnp.where(x > 0, x, 1.0))
        return jnp.sum(jnp.where(x > 0, root, 0.0)) + jnp.sum(root, where=x > 0)

    return jax.grad(f)(x)


def slopes_of_roots(x: Any) -> Any:
    """Return twice the derivative of the square root where x > 0, and 0 elsewhere."""
    import numpy as np

    return np.where(x > 0, 1 / np.sqrt(np.where(x > 0, x, 1)), 0)


def sum_with_where() -> tuple[str, str]:
    """Is jax.grad of jnp.sum(jnp.sqrt(x), where=x > 0) equal to 0 where x is 0?"""
    import jax
    import jax.numpy as jnp

    got = jax.grad(lambda x: jnp.sum(jnp.sqrt(x), where=x > 0))(jnp.array([0.0, 4.0]))
    return compare(got, [0.0, 0.25])


def cond_under_vmap() -> tuple[str, str]:
    """Is jax.grad through lax.cond under vmap 0 where the branch of zeros is taken?"""
    import jax
    import jax.numpy as jnp

    f = jax.vmap(lambda x: jax.lax.cond(x > 0, jnp.sqrt, jnp.zeros_like, x))
    return compare(jax.grad(lambda x: jnp.sum(f(x)))(jnp.array([0.0, 4.0])), [0.0, 0.25])


def jvp() -> tuple[str, str]:
    """Does jax.jvp of jnp.where(x > 0, jnp.sqrt(x), 0) give the derivative 0 at 0 and at -1?"""
    import jax
    import jax.numpy as jnp

    def derivative(x: float) -> object:
        return jax.jvp(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0), (x,), (1.0,))[1]

    return compare([derivative(0.0), derivative(-1.0)], [0.0, 0.0])


_INPUTS = ("float32 matrix", "float16 vector", "zero float32 vector", "float32 scalar", "float32 empty")
_RIGHT = (Rule("agrees"),)

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#347 jax#1052 jax#654",
        change="jax#5658",
        docs="jax:faq.html#gradients-contain-nan-where-using-where",
    ),
    control=the_branch_taken,
    rules=(Rule("differs", "", "the FAQ documents the NaN"),),
    workaround=Workaround(
        "Put a second where inside: sqrt(where(x > 0, x, 1)).",
        where_inside,
        elsewhere=Elsewhere(roots, slopes_of_roots, _INPUTS, rtol=1e-3),
    ),
    cases=(
        Case(where, touches=(f"jax.numpy.where(condition, x) if given(x) and {GRADIENTS}",)),
        Case(
            sum_with_where,
            touches=(f"jax.numpy.sum(a, axis, dtype, out, keepdims, initial, where) if given(where) and {GRADIENTS}",),
        ),
        Case(cond_under_vmap, rules=_RIGHT, touches=(f"jax.lax.cond if {MAPS} and {GRADIENTS}",)),
        Case(
            jvp,
            rules=_RIGHT,
            touches=("jax.numpy.where(condition, x) if given(x) and uses('jax.jvp', 'jax.jacfwd', 'jax.linearize')",),
        ),
    ),
)
