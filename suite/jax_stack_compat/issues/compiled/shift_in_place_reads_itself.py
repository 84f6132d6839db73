"""Under jit on CPUs, a shift by .at[1:].set(base[:-1]) can repeat one row

XLA moves a reshape, such as an added axis, across the array update and runs the fused update in place. A row is then
overwritten before it is read (xla#49176). xla#49176 reports `dynamic_update_slice` and a two-dimensional update
(`rows`), and says that GPUs are not affected. Without a reshape, the result agrees with NumPy (`without_reshape`), but
a transpose of a column counts as a reshape.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def dynamic_update_slice() -> tuple[str, str]:
    """Does jitted lax.dynamic_update_slice, followed by a reshape, shift int32 rows down by one?"""
    import jax
    import numpy as np

    def shifted(x: jax.Array) -> jax.Array:
        base = x + np.int32(1)
        return jax.lax.dynamic_update_slice(base, base[:3], (1, 0, 0)).reshape(1, 4, 1)

    return compare(jax.jit(shifted)(np.arange(4, dtype=np.int32).reshape(4, 1, 1)).ravel(), [1, 1, 2, 3])


def without_reshape() -> None:
    """Without a reshape, and in eager mode, base.at[1:].set(base[:-1]) shifts the rows."""
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
    """Under jit, jnp.concatenate shifts the rows, with [None] and with [:, None] applied to the result."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def shifted(x: jax.Array) -> jax.Array:
        base = x + 1.0
        return jnp.concatenate([base[:1], base[:-1]])

    x = jnp.arange(4.0)
    np.testing.assert_array_equal(jax.jit(lambda x: shifted(x)[None])(x), [[1.0, 1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(jax.jit(lambda x: shifted(x)[:, None])(x).ravel(), [1.0, 1.0, 2.0, 3.0])


def concatenated_rows(x: Any) -> Any:
    """Under jit, shift the rows of x + x with jnp.concatenate and add an axis."""
    import jax
    import jax.numpy as jnp

    def shifted(x: Any) -> Any:
        base = x + x
        return jnp.concatenate([base[:1], base[:-1]])[None]

    return jax.jit(shifted)(x)


def numpy_rows(x: Any) -> Any:
    """Shift the rows with NumPy."""
    import numpy as np

    return np.concatenate([x[:1] + x[:1], x[:-1] + x[:-1]])[None]


def rows() -> tuple[str, str]:
    """Does jitted base.at[1:].set(base[:-1])[None] shift the rows down by one?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def shifted(x: jax.Array) -> jax.Array:
        base = x + 1.0
        return base.at[1:].set(base[:-1])[None]

    base = np.arange(8.0, dtype=np.float32).reshape(4, 2) + 1.0
    wanted = np.concatenate([base[:1], base[:-1]])[None]
    return compare(jax.jit(shifted)(jnp.arange(8.0).reshape(4, 2)), wanted)


def column() -> tuple[str, str]:
    """Does jitted base.at[1:].set(base[:-1])[:, None] shift a vector by one?"""
    import jax
    import jax.numpy as jnp

    def shifted(x: jax.Array) -> jax.Array:
        base = x + 1.0
        return base.at[1:].set(base[:-1])[:, None]

    return compare(jax.jit(shifted)(jnp.arange(4.0)), [[1.0], [1.0], [2.0], [3.0]])


_JIT = "uses('jax.jit', 'equinox.filter_jit', 'jax.lax.scan', 'jax.lax.fori_loop', 'jax.lax.while_loop')"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="xla#49176"),
    control=without_reshape,
    rules=(Rule("differs", "jaxlib>=0.4.35", "xla#49176 is open"), Rule("agrees")),
    workaround=Workaround(
        "Shift by jnp.concatenate([base[:1], base[:-1]]).",
        concatenated,
        elsewhere=Elsewhere(
            concatenated_rows,
            numpy_rows,
            (
                *("float32 matrix", "int32 batch", "float16 vector", "zero float32 vector"),
                *("uint8 matrix", "complex64 square", "float32 one", "float32 empty"),
            ),
        ),
    ),
    cases=(
        Case(
            dynamic_update_slice,
            touches=(
                "jax.lax.dynamic_update_slice(operand, update, start_indices) if max(start_indices) > 0 "
                f"and form(update) == '' and {_JIT}",
            ),
        ),
        Case(rows, touches=("jax.Array.at",)),
        Case(column, touches=("jax.Array.at",)),
    ),
)
