"""Compiled gradients of a mean over many dot products are wrong on CPUs

XLA replaced matrix products, with the operations after them, by calls to oneDNN. xla#13054 reports `closed_over`, and
names the commit that caused it; JAX's changelog lists the fix, xla#13301. With vectors of 16 numbers, 100,000 points
are enough for a wrong gradient (`sixteen_numbers`). The points of `passed_in` are ones; random points are wrong on an
older release, too.
"""

from __future__ import annotations

from collections.abc import Callable

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def closed_over() -> tuple[str, str]:
    """Is jax.jit(jax.grad(mean)) right for a million points of ones that the function closes over?"""
    import jax
    import jax.numpy as jnp

    w, ys = jnp.array([1.0, 2.0, 3.0]), jnp.ones((10**6, 3))

    def out(difference: jax.Array) -> jax.Array:
        return difference @ w + (difference @ jnp.zeros((3, 3))) @ difference

    gradient = jax.jit(jax.grad(lambda x: jnp.mean(jax.vmap(lambda y: out(y - x))(ys))))
    return compare(gradient(jnp.ones(3)), -w, rtol=1e-3)


def control_fewer() -> None:
    """The gradient is correct for 100,000 points under jit, and for a million points without jit."""
    import jax
    import jax.numpy as jnp

    w = jnp.array([1.0, 2.0, 3.0])

    def out(difference: jax.Array) -> jax.Array:
        return difference @ w + (difference @ jnp.zeros((3, 3))) @ difference

    for jit, points in ((jax.jit, 10**5), (lambda f: f, 10**6)):
        ys = jnp.ones((points, 3))
        gradient = jax.grad(lambda x, ys=ys: jnp.mean(jax.vmap(lambda y: out(y - x))(ys)))
        assert jnp.allclose(jit(gradient)(jnp.ones(3)), -w, rtol=1e-3), points


def random_points() -> None:
    """For random points of 16 and 64 numbers, closed over and passed in, the gradient agrees with its closed form."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    for size, points in ((16, 10**5), (64, 3 * 10**4)):
        w, x, eye = jnp.arange(1.0, size + 1), jnp.ones(size), jnp.eye(size)
        ys = jnp.asarray(np.random.default_rng(0).standard_normal((points, size)), "float32")

        def out(difference: jax.Array, w: jax.Array = w, eye: jax.Array = eye) -> jax.Array:
            return difference @ w + (difference @ eye) @ difference

        def mean(x: jax.Array, ys: jax.Array, out: Callable[[jax.Array], jax.Array] = out) -> jax.Array:
            return jnp.mean(jax.vmap(lambda y: out(y - x))(ys))

        wanted = -w - 2 * (ys.mean(0) - 1)
        np.testing.assert_allclose(jax.jit(jax.grad(mean))(x, ys), wanted, rtol=1e-2, atol=1e-2)
        closed = jax.jit(jax.grad(lambda x, ys=ys, mean=mean: mean(x, ys)))
        np.testing.assert_allclose(closed(x), wanted, rtol=1e-2, atol=1e-2)


def passed_in() -> tuple[str, str]:
    """Is jax.jit(jax.grad(mean)) right for a million points of ones that are passed in?"""
    import jax
    import jax.numpy as jnp

    w, points = jnp.array([1.0, 2.0, 3.0]), jnp.ones((10**6, 3))

    def out(difference: jax.Array) -> jax.Array:
        return difference @ w + (difference @ jnp.zeros((3, 3))) @ difference

    gradient = jax.jit(jax.grad(lambda x, ys: jnp.mean(jax.vmap(lambda y: out(y - x))(ys))))
    return compare(gradient(jnp.ones(3), points), -w, rtol=1e-3)


def sixteen_numbers() -> tuple[str, str]:
    """Is jax.jit(jax.grad(mean)) right for 100,000 points of 16 ones that are passed in?"""
    import jax
    import jax.numpy as jnp

    w, points = jnp.arange(1.0, 17.0), jnp.ones((10**5, 16))

    def out(difference: jax.Array) -> jax.Array:
        return difference @ w + (difference @ jnp.zeros((16, 16))) @ difference

    gradient = jax.jit(jax.grad(lambda x, ys: jnp.mean(jax.vmap(lambda y: out(y - x))(ys))))
    return compare(gradient(jnp.ones(16), points), -w, rtol=1e-3)


_AFTER = Rule("agrees", "", "the changelog of jaxlib 0.4.29 names xla#13301")
_PASSED = (Rule("differs", "jaxlib>=0.4.26,<0.4.29"), _AFTER)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="xla#13054",
        cause="xla@0dc5563a97",
        fix="xla#13301",
        docs="jax:changelog.html#jaxlib-0-4-29-june-10-2024",
    ),
    touches=("fused reductions",),
    control=control_fewer,
    workaround=Workaround(
        "In float32, set XLA_FLAGS=--xla_disable_hlo_passes=onednn-matmul-rewriter; products may be slower.",
        environment={"XLA_FLAGS": "--xla_disable_hlo_passes=onednn-matmul-rewriter"},
        elsewhere=random_points,
    ),
    cases=(
        Case(closed_over, rules=(Rule("differs", "jaxlib>=0.4.24,<0.4.29"), _AFTER)),
        Case(passed_in, rules=_PASSED),
        Case(sixteen_numbers, rules=_PASSED),
    ),
)
