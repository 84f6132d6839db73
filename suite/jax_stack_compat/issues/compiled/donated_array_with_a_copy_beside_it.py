"""A donated array is not reused for what a loop or a sum reads on the way: donation saves no memory

    def step(x):                    # donated: jax.jit(step, donate_argnums=0)
        y = jnp.exp(x)
        return y * jnp.sum(y)       # on a CPU from jax 0.10.2, y has a buffer of its own, as large as x

You'd expect y to be written over x, and the result over y: one array, at any time. With jaxlib 0.7.2 to 0.11.0 y gets a
buffer of its own where a loop reads it, which openxla/xla#45912 found, on GPUs too: the peak is what it is without
donation. openxla/xla#45947 is its repair, and in jaxlib 0.11.1. What is asked here is `memory_analysis()` of the
compiled step, which tells the bytes of temporary buffers; the answers are right all along. Donation itself, and that a
donated array is deleted, is donated-arrays-are-deleted.

Seen in these runs:

- Where a sum reads y, and no loop, the buffer is there from jaxlib 0.10.2 on. 0.11.1, which repairs the loop,
  does not repair that.
- Without YNNPACK's reductions y is written over x again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _temporary(step: Callable[[Any], Any]) -> tuple[str, str]:
    """Whether a step that is given its argument of 1 MiB has a temporary buffer of that size beside it."""
    import jax

    argument = jax.ShapeDtypeStruct((2**18,), "float32")
    stats = jax.jit(step, donate_argnums=0).lower(argument).compile().memory_analysis()
    if not stats or not stats.output_size_in_bytes:
        return "untold", "memory_analysis() tells nothing of a CPU"
    assert stats.alias_size_in_bytes == 2**20, stats
    beside = stats.temp_size_in_bytes >= 2**20
    return ("copy", "a temporary buffer of 1 MiB") if beside else ("in-place", "no temporary buffer of its size")


def read_by_a_loop() -> tuple[str, str]:
    """Is the exponential of a donated array written over it where a loop reads some of it?"""
    import jax
    import jax.numpy as jnp

    def step(x: Any) -> Any:
        y = jnp.exp(x)
        return y * jax.lax.fori_loop(0, 8, lambda i, total: total + y[1000 * i], 0.0)

    return _temporary(step)


def read_by_nothing() -> None:
    """Where nothing else reads it, it is written over the donated array on every release."""
    import jax.numpy as jnp

    assert _temporary(lambda x: jnp.exp(x) * 2.0)[0] != "copy"


def in_three_steps() -> None:
    """Three jitted functions: what makes y, what reads it, and what makes the result of it."""
    import jax
    import jax.numpy as jnp

    x = jnp.zeros(2**18)
    y = jax.jit(jnp.exp, donate_argnums=0)(x)
    total = jax.jit(lambda y: jax.lax.fori_loop(0, 8, lambda i, total: total + y[1000 * i], 0.0))(y)
    result = jax.jit(lambda y, total: y * total, donate_argnums=0)(y, total)
    assert x.is_deleted()
    assert y.is_deleted()
    assert result[0] == 8.0
    assert _temporary(jnp.exp)[0] != "copy"


def read_by_a_sum() -> tuple[str, str]:
    """Is it where it is summed?"""
    import jax.numpy as jnp

    def step(x: Any) -> Any:
        y = jnp.exp(x)
        return y * jnp.sum(y)

    return _temporary(step)


_UNTOLD = Rule("untold", "jaxlib<0.4.29")

ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="xla#45912", fix="xla#45947", docs="jax:buffer_donation.html"),
    touches=("jax.jit(donate_argnums=)", "jax.jit(donate_argnames=)", "buffer donation"),
    control=read_by_nothing,
    behaviours={"copy": "affected", "untold": "absent"},
    cases=(
        Case(
            read_by_a_loop,
            rules=(_UNTOLD, Rule("copy", "jaxlib>=0.7.2,<0.11.1", "xla#45912"), Rule("in-place")),
            workaround=Workaround("Three jitted functions: before the loop, the loop, after it.", in_three_steps),
        ),
        Case(
            read_by_a_sum,
            rules=(_UNTOLD, Rule("in-place", "jaxlib<0.10.2"), Rule("copy")),
            workaround=Workaround(
                "XLA_FLAGS=--xla_cpu_experimental_ynn_fusion_type= turns YNNPACK's reductions off.",
                environment={"XLA_FLAGS": "--xla_cpu_experimental_ynn_fusion_type="},
                fails=("jaxlib<0.8.1",),  # it does not know the flag, and aborts
            ),
        ),
    ),
)
