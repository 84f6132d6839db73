"""jit(grad) of a mean over a million dot products is off by a million, or gives one number in every place

    w, ys = jnp.array([1.0, 2.0, 3.0]), jnp.ones((10**6, 3))    # out = w·(y - x) + (y - x)·0·(y - x), then the mean
    jax.jit(jax.grad(mean))(x)    # [-1e-6, -2e-6, -3e-6] with jaxlib 0.4.24 to 0.4.27, [-1, -1, -1] with 0.4.28

You'd expect `-w`, which is what `jax.grad` gives without `jit`, on every release. The dot with the zeros takes no part
in the answer; without it there is no fault. XLA's issue, of May 2024, has the program with what 0.4.28 gives, traced to
a change for oneDNN. jaxlib 0.4.29 is right; its changelog has a fix for matmul fusions that were miscompiled.

Seen in these runs:

- jaxlib 0.4.24 to 0.4.27 are wrong too, otherwise: the gradient is divided by the number of points once more.
- Points that are passed in, and not closed over, go wrong from 0.4.26 to 0.4.28 only.
- A tenth of the points gives the right gradient.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def closed_over() -> tuple[str, str]:
    """Is jit(grad) of the mean over a million points, which the function closes over, the closed form?"""
    import jax
    import jax.numpy as jnp

    w, ys = jnp.array([1.0, 2.0, 3.0]), jnp.ones((10**6, 3))

    def out(difference: jax.Array) -> jax.Array:
        return difference @ w + (difference @ jnp.zeros((3, 3))) @ difference

    gradient = jax.jit(jax.grad(lambda x: jnp.mean(jax.vmap(lambda y: out(y - x))(ys))))
    return compare(gradient(jnp.ones(3)), -w, rtol=1e-3)


def control_fewer() -> None:
    """Of a tenth of the points, and of a million without jit, it is right."""
    import jax
    import jax.numpy as jnp

    w = jnp.array([1.0, 2.0, 3.0])

    def out(difference: jax.Array) -> jax.Array:
        return difference @ w + (difference @ jnp.zeros((3, 3))) @ difference

    for jit, points in ((jax.jit, 10**5), (lambda f: f, 10**6)):
        ys = jnp.ones((points, 3))
        gradient = jax.grad(lambda x, ys=ys: jnp.mean(jax.vmap(lambda y: out(y - x))(ys)))
        assert jnp.allclose(jit(gradient)(jnp.ones(3)), -w, rtol=1e-3), points


def in_parts() -> None:
    """The mean of the gradients of ten equal parts, jitted, is right."""
    import jax
    import jax.numpy as jnp

    w, ys = jnp.array([1.0, 2.0, 3.0]), jnp.ones((10, 10**5, 3))

    def out(difference: jax.Array) -> jax.Array:
        return difference @ w + (difference @ jnp.zeros((3, 3))) @ difference

    gradient = jax.grad(lambda x, part: jnp.mean(jax.vmap(lambda y: out(y - x))(part)))
    mean = jax.jit(lambda x: jax.lax.map(lambda part: gradient(x, part), ys).mean(0))
    assert jnp.allclose(mean(jnp.ones(3)), -w, rtol=1e-3), mean(jnp.ones(3))


def passed_in() -> tuple[str, str]:
    """Is it of points that are passed in?"""
    import jax
    import jax.numpy as jnp

    w, points = jnp.array([1.0, 2.0, 3.0]), jnp.ones((10**6, 3))

    def out(difference: jax.Array) -> jax.Array:
        return difference @ w + (difference @ jnp.zeros((3, 3))) @ difference

    gradient = jax.jit(jax.grad(lambda x, ys: jnp.mean(jax.vmap(lambda y: out(y - x))(ys))))
    return compare(gradient(jnp.ones(3), points), -w, rtol=1e-3)


_AFTER = Rule("agrees", "", "the changelog of 0.4.29 names xla#13301")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="xla#13054", fix="xla#13301"),
    touches=("fused reductions",),
    control=control_fewer,
    workaround=Workaround("Take the gradient of parts of at most 900000 points, or without jit.", in_parts),
    cases=(
        Case(
            closed_over,
            rules=(Rule("differs", "jaxlib>=0.4.24,<0.4.29", "1e-6 of it up to 0.4.27, then -1 thrice"), _AFTER),
        ),
        Case(
            passed_in,
            rules=(Rule("differs", "jaxlib>=0.4.26,<0.4.29", "1e-6 of it up to 0.4.27, then -1 thrice"), _AFTER),
        ),
    ),
)
