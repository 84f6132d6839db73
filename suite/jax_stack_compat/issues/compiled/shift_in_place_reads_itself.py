"""Under jit, shifting rows down and reshaping overwrites each row before it is read

    base = x + 1                                     # rows 1, 2, 3, 4
    base.at[1:].set(base[:-1])[None]                 # rows 1, 1, 1, 1 from jaxlib 0.4.35 on; should be 1, 1, 2, 3

To push a new row on a history and drop the oldest is what time steppers and buffers do. XLA moves the reshape over the
update, fuses the shifted slice into the same kernel, and runs that kernel in place, forwards: a row is written before
it is read. Eager execution is right, and the same program on GPUs; openxla/xla#49176 of 2026-09 has it all, with
`--xla_disable_hlo_passes=algsimp` to get round it, and is open.

Seen in these runs:

- jaxlib 0.4.18 to 0.4.34 are right, and later ones are wrong.
- An axis added is wrong in one dimension and two; so is a reshape with a leading 1, for integers.
- Without a reshape, and as a concatenation, the shift is right.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def rows() -> tuple[str, str]:
    """Is jit(base.at[1:].set(base[:-1])[None]) the rows shifted down by one?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def shifted(x: jax.Array) -> jax.Array:
        base = x + 1.0
        return base.at[1:].set(base[:-1])[None]

    base = np.arange(8.0, dtype=np.float32).reshape(4, 2) + 1.0
    wanted = np.concatenate([base[:1], base[:-1]])[None]
    return compare(jax.jit(shifted)(jnp.arange(8.0).reshape(4, 2)), wanted)


def without_reshape() -> None:
    """Without a reshape, and eagerly, the shift is right."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def shifted(x: jax.Array) -> jax.Array:
        base = x + 1.0
        return base.at[1:].set(base[:-1])

    x = jnp.arange(4.0)
    np.testing.assert_array_equal(jax.jit(shifted)(x), [1.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(shifted(x)[None], [[1.0, 1.0, 2.0, 3.0]])


def concatenated() -> None:
    """The same shift as a concatenation."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def shifted(x: jax.Array) -> jax.Array:
        base = x + 1.0
        return jnp.concatenate([base[:1], base[:-1]])

    x = jnp.arange(4.0)
    np.testing.assert_array_equal(jax.jit(lambda x: shifted(x)[None])(x), [[1.0, 1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(jax.jit(lambda x: shifted(x)[:, None])(x).ravel(), [1.0, 1.0, 2.0, 3.0])


def column() -> tuple[str, str]:
    """Is it right for a history of one dimension that is made a column?"""
    import jax
    import jax.numpy as jnp

    def shifted(x: jax.Array) -> jax.Array:
        base = x + 1.0
        return base.at[1:].set(base[:-1])[:, None]

    return compare(jax.jit(shifted)(jnp.arange(4.0)), [[1.0], [1.0], [2.0], [3.0]])


def dynamic_update_slice() -> tuple[str, str]:
    """Is it right as lax.dynamic_update_slice of int32 and a reshape, as upstream has it?"""
    import jax
    import numpy as np

    def shifted(x: jax.Array) -> jax.Array:
        base = x + np.int32(1)
        return jax.lax.dynamic_update_slice(base, base[:3], (1, 0, 0)).reshape(1, 4, 1)

    return compare(jax.jit(shifted)(np.arange(4, dtype=np.int32).reshape(4, 1, 1)).ravel(), [1, 1, 2, 3])


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="xla#49176"),
    control=without_reshape,
    rules=(Rule("differs", "jaxlib>=0.4.35", "openxla/xla#49176 is open"), Rule("agrees")),
    workaround=Workaround("Shift by jnp.concatenate([base[:1], base[:-1]]).", concatenated),
    cases=(
        Case(rows, touches=("jax.Array.at",)),
        Case(column, touches=("jax.Array.at",)),
        Case(
            dynamic_update_slice,
            touches=(
                "jax.lax.dynamic_update_slice(operand, update, start_indices) if max(start_indices) > 0 "
                "and uses('jax.jit', 'equinox.filter_jit', 'jax.lax.scan', 'jax.lax.fori_loop', 'jax.lax.while_loop')",
            ),
        ),
    ),
)
