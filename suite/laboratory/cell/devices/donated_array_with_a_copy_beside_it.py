"""A donated array's buffer becomes the result's

The address of a buffer says whether the result took the place of the argument.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue


def takes_its_place() -> tuple[str, str]:
    """Does the result of a donated argument take the argument's buffer?"""
    import jax
    import jax.numpy as jnp

    x = jax.block_until_ready(jnp.ones(2**18) * 2.0)
    before = x.unsafe_buffer_pointer()
    y = jax.block_until_ready(jax.jit(lambda x: x + 1.0, donate_argnums=0)(x))
    assert x.is_deleted(), "the donated array is still there"
    assert float(y[0]) == 3.0, f"the result is {float(y[0])}"
    same = y.unsafe_buffer_pointer() == before
    return ("in-place" if same else "copies"), "the result has the argument's buffer" if same else "it has another"


def not_donated() -> None:
    """An argument that is not donated stays, and the result has another buffer."""
    import jax
    import jax.numpy as jnp

    x = jax.block_until_ready(jnp.ones(2**18) * 2.0)
    y = jax.block_until_ready(jax.jit(lambda x: x + 1.0)(x))
    assert float(x[0]) == 2.0
    assert y.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()


ISSUE = Issue(
    kind="slow",
    upstream=(),
    cases=(Case(takes_its_place),),
    control=not_donated,
    behaviours={"in-place": "clear", "copies": "affected"},
)
