"""A jitted jnp.sum of a product of seven or eight axes can end the process

On x86-64, XLA passes a fused product and sum to YNNPACK, which computes them as one dot product. The dot product had
more axes than YNNPACK's buffers could hold; google/XNNPACK@53a1797ba enlarges the buffers. A worker thread dies, so
Python's traceback can point to any line (jax#40412). jax#39257 reports broadcast products of seven and eight axes
(`eight_axes`), also as a hang; jax#40412 reports two factors of one shape, with an axis of size 1 (`seven_axes`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def eight_axes() -> tuple[str, str]:
    """Does jitted jnp.sum(a * b, axis=2) return a correct sum for eight axes, five of them broadcast?"""
    import jax
    import jax.numpy as jnp

    few, many = jnp.ones((10, 4, 6)), jnp.ones((10, 4, 6, 9, 9, 9, 9, 9))
    found = jax.jit(lambda a, b: jnp.sum(a[..., None, None, None, None, None] * b, axis=2))(few, many)
    return compare(found[3, 2, 1, 1, 1, 1], 6.0 * jnp.ones(9))


def six_axes() -> None:
    """The sum of a product of six axes is correct."""
    import jax
    import jax.numpy as jnp

    ones = jnp.ones((3, 2, 2, 8, 8, 8))
    assert float(jax.jit(lambda a, b: jnp.sum(a * b, axis=2))(ones, ones).sum()) == 6144.0


def other_products() -> None:
    """Without YNNPACK, jitted sums of random products with two, seven and eight axes agree with NumPy."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    product_sum = jax.jit(lambda a, b, axis: jnp.sum(a * b, axis=axis), static_argnums=2)
    random = np.random.default_rng(0)
    for one, other, axis in (
        ((1, 3, 2, 2, 8, 8, 8), (1, 3, 2, 2, 8, 8, 8), 3),
        ((3, 4, 5, 1, 1, 1, 1), (3, 4, 5, 9, 9, 9, 9), 2),
        ((3, 4, 5, 1, 1, 1, 1, 1), (3, 4, 5, 7, 7, 7, 7, 7), 2),
        ((3, 4), (3, 4), 1),
    ):
        for dtype in ("float32", "float16"):
            a, b = random.normal(size=one).astype(dtype), random.normal(size=other).astype(dtype)
            wanted = np.sum(a.astype("float64") * b, axis=axis)
            np.testing.assert_allclose(product_sum(a, b, axis), wanted, rtol=1e-2, atol=2e-2)


def seven_axes() -> tuple[str, str]:
    """Does jitted jnp.sum(a * b, axis=3) return a correct sum for two arrays of shape (3, 1, 2, 2, 8, 8, 8)?"""
    import jax
    import jax.numpy as jnp

    ones = jnp.ones((3, 1, 2, 2, 8, 8, 8))
    return compare(jax.jit(lambda a, b: jnp.sum(a * b, axis=3))(ones, ones).sum(), 6144.0)


_COMPUTED = Rule("agrees")

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#39257 jax#40412", fix="google/XNNPACK@53a1797ba"),
    touches=("fused reductions",),
    control=six_axes,
    behaviours={"crashed": "affected", "hung": "affected"},
    workaround=Workaround(
        "Set XLA_FLAGS=--xla_cpu_experimental_ynn_fusion_type= before JAX starts; XLA then fuses without YNNPACK.",
        environment={"XLA_FLAGS": "--xla_cpu_experimental_ynn_fusion_type="},
        fails=("jaxlib<0.8.1",),  # it does not know the flag, and aborts
        elsewhere=other_products,
    ),
    seconds=60.0,
    alone="on some releases it hangs until its limit of 60 seconds",
    cases=(
        Case(eight_axes, rules=(Rule("crashed", "jaxlib>=0.10.2,<0.11.1"), _COMPUTED)),
        Case(seven_axes, rules=(Rule("crashed", "jaxlib==0.10.2"), _COMPUTED)),
    ),
)
