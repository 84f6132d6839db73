"""A jitted product and sum over arrays of seven or eight axes ends the process in jaxlib 0.10.2 and 0.11.0

    u, v = jnp.ones((3, 1, 2, 2, 8, 8, 8)), jnp.ones((3, 1, 2, 2, 8, 8, 8))
    jax.jit(lambda a, b: jnp.sum(a * b, axis=3))(u, v)     # SIGSEGV, on an x86-64 CPU

XLA gives such a fusion to YNNPACK, and what runs there is written for fewer axes: a thread of the pool dies while it
executes, so Python's own traceback points anywhere. jax#40412 has the smallest, float32 with seven axes and one of size
1, and float64 for right; jax#39257, of two months before, has eight by broadcasting, says that some CPUs hang where
others crash, and finds Linux on aarch64 and macOS on arm64 right. Its comments name the fix, google/XNNPACK@53a1797ba.
jaxlib 0.10.1 computes both; the flag that switches these fusions off helps. jaxlib 0.11.0 computes the first again, and
0.11.1 both.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def seven_axes() -> tuple[str, str]:
    """Is the sum over an axis of a product of two arrays of seven axes computed?"""
    import jax
    import jax.numpy as jnp

    ones = jnp.ones((3, 1, 2, 2, 8, 8, 8))
    return compare(jax.jit(lambda a, b: jnp.sum(a * b, axis=3))(ones, ones).sum(), 6144.0)


def six_axes() -> None:
    """One of six axes is."""
    import jax
    import jax.numpy as jnp

    ones = jnp.ones((3, 2, 2, 8, 8, 8))
    assert float(jax.jit(lambda a, b: jnp.sum(a * b, axis=2))(ones, ones).sum()) == 6144.0


def eight_axes() -> tuple[str, str]:
    """Is one of eight, where three axes are broadcast?"""
    import jax
    import jax.numpy as jnp

    few, many = jnp.ones((10, 4, 6)), jnp.ones((10, 4, 6, 9, 9, 9, 9, 9))
    found = jax.jit(lambda a, b: jnp.sum(a[..., None, None, None, None, None] * b, axis=2))(few, many)
    return compare(found[3, 2, 1, 1, 1, 1], 6.0 * jnp.ones(9))


_WELL = Rule("agrees")

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#40412 jax#39257", fix="google/XNNPACK@53a1797ba"),
    touches=("fused reductions",),
    control=six_axes,
    behaviours={"crashed": "affected", "hung": "affected"},
    workaround=Workaround(
        "Set XLA_FLAGS=--xla_cpu_experimental_ynn_fusion_type= in the environment.",
        environment={"XLA_FLAGS": "--xla_cpu_experimental_ynn_fusion_type="},
        fails=("jaxlib<0.8.1",),  # it does not know the flag, and aborts
    ),
    seconds=60.0,
    alone="on some releases it hangs until its limit of 60 seconds",
    cases=(
        Case(seven_axes, rules=(Rule("crashed", "jaxlib==0.10.2"), _WELL)),
        Case(eight_axes, rules=(Rule("crashed", "jaxlib>=0.10.2,<0.11.1"), _WELL)),
    ),
)
