"""On a sharded axis an update past the end is dropped, and a slice past the end is read from the wrong place

    f = lambda x, i: jax.lax.dynamic_update_slice(x, column, (0, i))
    f(x, 2)                  # x of two columns: the update goes in the last one
    f(sharded, 2)            # the same x with its columns on two devices: no update at all

`dynamic_update_slice` clamps its start index, as documented, so that the update fits. XLA's SPMD partitioner compares
the index as it came with the bounds of each shard, finds none, and drops the update; for a slice it clamps, and then
adds the shard's offset. openxla/xla#49118 and openxla/xla#49122 of 2026-09 have the two, and are open. A cache that is
written at a position that runs past its end loses the write, on two devices only.

Seen in these runs:

- The update is dropped from 0.4.18 on.
- The slice is wrong from 0.4.18 to 0.11.2, and right from 0.12.0 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def update() -> tuple[str, str]:
    """Is a sharded array updated past its end what the same array on one device is?"""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    x, column = np.arange(4.0, dtype=np.float32).reshape(2, 2), np.full((2, 1), 99.0, np.float32)
    columns = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("x",)), PartitionSpec(None, "x"))
    f = jax.jit(lambda x, i: jax.lax.dynamic_update_slice(x, column, (0, i)))
    return compare(f(jax.device_put(x, columns), 2), f(x, 2))


def inside() -> None:
    """A start in range, and any on one device, is right."""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    x, column = np.arange(4.0, dtype=np.float32).reshape(2, 2), np.full((2, 1), 99.0, np.float32)
    columns = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("x",)), PartitionSpec(None, "x"))
    f = jax.jit(lambda x, i: jax.lax.dynamic_update_slice(x, column, (0, i)))
    np.testing.assert_array_equal(f(jax.device_put(x, columns), 1), [[0.0, 99.0], [2.0, 99.0]])
    np.testing.assert_array_equal(f(x, 2), [[0.0, 99.0], [2.0, 99.0]])


def clip_start() -> None:
    """The start clipped before."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    x, column = np.arange(4.0, dtype=np.float32).reshape(2, 2), np.full((2, 1), 99.0, np.float32)
    columns = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("x",)), PartitionSpec(None, "x"))
    f = jax.jit(lambda x, i: jax.lax.dynamic_update_slice(x, column, (0, jnp.clip(i, 0, 1))))
    np.testing.assert_array_equal(f(jax.device_put(x, columns), 2), [[0.0, 99.0], [2.0, 99.0]])


def sliced() -> tuple[str, str]:
    """Is a sharded slice past the end of a sharded array what the same slice on one device is?"""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    x = np.arange(8.0, dtype=np.float32)
    split = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("x",)), PartitionSpec("x"))

    def f(x: jax.Array, i: int) -> jax.Array:
        return jax.lax.dynamic_slice(x, (i,), (6,))

    return compare(jax.jit(f, out_shardings=split)(jax.device_put(x, split), 7), jax.jit(f)(x, 7))


# A start that is written as a number is taken to be in range.
# The advice clips the start.
_SHARDED = (
    "max(start_indices) >= 2**31 and without('jax.numpy.clip') and "
    "uses('jax.make_mesh', 'jax.sharding.Mesh', 'jax.sharding.NamedSharding')"
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="xla#49118 xla#49122"),
    touches=("jax.lax.dynamic_update_slice", "jax.lax.dynamic_slice", "sharding"),
    control=inside,
    workaround=Workaround("Clip the start yourself: jnp.clip(i, 0, x.shape[1] - column.shape[1]).", clip_start),
    cases=(
        Case(
            update,
            rules=(Rule("differs", "", "openxla/xla#49118 is open"),),
            touches=(f"jax.lax.dynamic_update_slice(operand, update, start_indices) if {_SHARDED}",),
            host_devices=2,
        ),
        Case(
            sliced,
            rules=(Rule("differs", "jaxlib<0.12"), Rule("agrees")),
            touches=(f"jax.lax.dynamic_slice(operand, start_indices) if {_SHARDED}",),
            host_devices=2,
        ),
    ),
)
