"""lax.dynamic_update_slice drops a column past the end of a sharded axis

`dynamic_update_slice` adjusts its start so that the update fits. XLA's SPMD partitioner looks for the shard that owns
the unadjusted start, finds none, and drops an update of one column (xla#49118). If the result of `dynamic_slice` is
sharded, the partitioner clamped the start, and then added the shard's offset (xla#49122). On one device, the start is
clamped (`inside`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def update() -> tuple[str, str]:
    """Does dynamic_update_slice past the end of a sharded axis return the same array as on one device?"""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    x, column = np.arange(4.0, dtype=np.float32).reshape(2, 2), np.full((2, 1), 99.0, np.float32)
    columns = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("x",)), PartitionSpec(None, "x"))
    f = jax.jit(lambda x, i: jax.lax.dynamic_update_slice(x, column, (0, i)))
    return compare(f(jax.device_put(x, columns), 2), f(x, 2))


def inside() -> None:
    """A start in range updates a column; on one device, a start one past the end does so too."""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    x, column = np.arange(4.0, dtype=np.float32).reshape(2, 2), np.full((2, 1), 99.0, np.float32)
    columns = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("x",)), PartitionSpec(None, "x"))
    f = jax.jit(lambda x, i: jax.lax.dynamic_update_slice(x, column, (0, i)))
    np.testing.assert_array_equal(f(jax.device_put(x, columns), 1), [[0.0, 99.0], [2.0, 99.0]])
    np.testing.assert_array_equal(f(x, 2), [[0.0, 99.0], [2.0, 99.0]])


def clip_start() -> None:
    """If jnp.clip limits the start first, dynamic_update_slice updates the last column."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    x, column = np.arange(4.0, dtype=np.float32).reshape(2, 2), np.full((2, 1), 99.0, np.float32)
    columns = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("x",)), PartitionSpec(None, "x"))
    f = jax.jit(lambda x, i: jax.lax.dynamic_update_slice(x, column, (0, jnp.clip(i, 0, 1))))
    np.testing.assert_array_equal(f(jax.device_put(x, columns), 2), [[0.0, 99.0], [2.0, 99.0]])


def cache_past_its_end() -> None:
    """With clipped starts, int32 rows are written and float16 rows are read correctly, in range and past the end."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    rows = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("x",)), PartitionSpec("x"))

    def write(cache: jax.Array, row: jax.Array, i: int) -> jax.Array:
        return jax.lax.dynamic_update_slice(cache, row, (jnp.clip(i, 0, cache.shape[0] - row.shape[0]), 0))

    def read(x: jax.Array, i: int) -> jax.Array:
        return jax.lax.dynamic_slice(x, (jnp.clip(i, 0, x.shape[0] - 4), 0), (4, 3))

    x, wanted = np.arange(18, dtype=np.float16).reshape(6, 3), np.zeros((6, 3), np.int32)
    sharded, cache = jax.device_put(x, rows), jax.device_put(wanted, rows)
    for i in range(9):
        wanted[min(i, 5)] = i + 1
        cache = jax.jit(write)(cache, np.full((1, 3), i + 1, np.int32), i)
        np.testing.assert_array_equal(jax.jit(read, out_shardings=rows)(sharded, i), x[min(i, 2) : min(i, 2) + 4])
    np.testing.assert_array_equal(cache, wanted)


def sliced() -> tuple[str, str]:
    """Does dynamic_slice with a sharded result, past the end of a sharded axis, read the same as on one device?"""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    x = np.arange(8.0, dtype=np.float32)
    split = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("x",)), PartitionSpec("x"))

    def f(x: jax.Array, i: int) -> jax.Array:
        return jax.lax.dynamic_slice(x, (i,), (6,))

    return compare(jax.jit(f, out_shardings=split)(jax.device_put(x, split), 7), jax.jit(f)(x, 7))


# A start that is written as a number is taken to be in range, and the advice clips the start.
_MESH = "uses('jax.make_mesh', 'jax.sharding.Mesh', 'jax.sharding.NamedSharding')"
_SHARDED = f">= 2**31 and without('jax.numpy.clip') and {_MESH}"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="xla#49118 xla#49122", docs="jax:_autosummary/jax.lax.dynamic_update_slice.html"),
    touches=("sharding",),
    control=inside,
    workaround=Workaround(
        "Clip non-negative int32 starts: jnp.clip(i, 0, n - size), where n is the axis's length.",
        clip_start,
        elsewhere=cache_past_its_end,
    ),
    cases=(
        Case(
            update,
            rules=(Rule("differs"),),
            touches=(
                f"jax.lax.dynamic_update_slice(operand, update, start_indices) if max(start_indices) {_SHARDED}",
                f"jax.lax.dynamic_update_slice_in_dim(operand, update, start_index) if start_index {_SHARDED}",
                f"jax.lax.dynamic_update_index_in_dim(operand, update, index) if index {_SHARDED}",
            ),
            host_devices=2,
        ),
        Case(
            sliced,
            rules=(Rule("differs", "jaxlib<0.12"), Rule("agrees")),
            touches=(
                f"jax.lax.dynamic_slice(operand, start_indices) if max(start_indices) {_SHARDED}",
                f"jax.lax.dynamic_slice_in_dim(operand, start_index) if start_index {_SHARDED}",
            ),
            host_devices=2,
        ),
    ),
)
