"""jax.make_mesh defaults to Explicit axes: some sharded operations raise

On an Explicit axis, an array's sharding is a part of its type, and JAX raises an error if a result has no obvious
sharding (page on distributed arrays). The default of `jax.make_mesh` was Auto; 89401bd314 made it Explicit, as the
changelog had announced. `jax.lax.with_sharding_constraint` cannot move an array to an Explicit axis (`constraint`),
and `eqx.filter_shard` cannot either (equinox#1171).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def _of_both(function: Callable[[Any, Any], Any]) -> tuple[str, str]:
    """Apply a function to two arrays of ones, one sharded by columns and one by rows, and return the result's sum."""
    import jax
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec

    if not hasattr(jax, "make_mesh"):
        return "absent", "there is no jax.make_mesh"
    mesh = jax.make_mesh((2,), ("x",))
    columns, rows = (NamedSharding(mesh, PartitionSpec(*spec)) for spec in ((None, "x"), ("x", None)))
    got = function(jax.device_put(np.ones((4, 4)), columns), jax.device_put(np.ones((4, 4)), rows))
    return "computed", f"{float(got.sum())}"


def constraint() -> tuple[str, str]:
    """Does jax.lax.with_sharding_constraint reshard an array on a mesh of jax.make_mesh?"""
    import jax

    return _of_both(lambda columns, rows: jax.lax.with_sharding_constraint(columns, rows.sharding))


def plain_mesh() -> None:
    """On a jax.sharding.Mesh, a @ b, a + b and a.reshape(-1) return arrays with the expected sums."""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()[:2]), ("x",))
    columns, rows = (NamedSharding(mesh, PartitionSpec(*spec)) for spec in ((None, "x"), ("x", None)))
    a, b = jax.device_put(np.ones((4, 4)), columns), jax.device_put(np.ones((4, 4)), rows)
    assert (float((a @ b).sum()), float((a + b).sum()), float(a.reshape(-1).sum())) == (64.0, 32.0, 16.0)


def say_auto() -> None:
    """With axis_types=(AxisType.Auto,), a @ b, a + b and a.reshape(-1) return arrays with the expected sums."""
    import inspect

    import jax
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec

    if not hasattr(jax, "make_mesh") or "axis_types" not in inspect.signature(jax.make_mesh).parameters:
        plain_mesh()
        return
    auto = getattr(jax.sharding, "AxisType", None)
    mesh = jax.make_mesh((2,), ("x",), **({"axis_types": (auto.Auto,)} if auto else {}))
    columns, rows = (NamedSharding(mesh, PartitionSpec(*spec)) for spec in ((None, "x"), ("x", None)))
    a, b = jax.device_put(np.ones((4, 4)), columns), jax.device_put(np.ones((4, 4)), rows)
    assert (float((a @ b).sum()), float((a + b).sum()), float(a.reshape(-1).sum())) == (64.0, 32.0, 16.0)


def two_auto_axes() -> None:
    """With two Auto axes, a float16 matrix can be constrained under jit, sliced, updated and multiplied."""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()[:2]).reshape(1, 2), ("x", "y"))
    if hasattr(jax.sharding, "AxisType"):
        mesh = jax.make_mesh((1, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    x = np.arange(16, dtype=np.float16).reshape(4, 4)
    a = jax.device_put(x, NamedSharding(mesh, PartitionSpec("x", "y")))
    rows = NamedSharding(mesh, PartitionSpec("y"))
    np.testing.assert_array_equal(jax.jit(lambda a: jax.lax.with_sharding_constraint(a, rows))(a), x)
    np.testing.assert_array_equal(a[:, 1:3], x[:, 1:3])
    np.testing.assert_array_equal(a.at[:, 0].set(7)[:, 0], 7)
    np.testing.assert_array_equal(a @ a, x @ x)


def product() -> tuple[str, str]:
    """Does a @ b return a product if its summed axis is sharded on a mesh of jax.make_mesh?"""
    return _of_both(lambda columns, rows: columns @ rows)


def sum_of_both() -> tuple[str, str]:
    """Does a + b return a sum, if a is sharded by columns and b by rows on a mesh of jax.make_mesh?"""
    return _of_both(lambda columns, rows: columns + rows)


def reshape() -> tuple[str, str]:
    """Does a.reshape(-1) return a vector, if a is sharded by columns on a mesh of jax.make_mesh?"""
    return _of_both(lambda columns, rows: columns.reshape(-1))


# shard_map makes axes Manual, whatever type they have.
_WITHOUT_TYPES = (
    "jax.make_mesh(axis_shapes, axis_names, axis_types) if seen(not given(axis_types)) and unseen "
    "and without('jax.sharding.AxisType') and not uses('jax.shard_map', 'jax.experimental.shard_map.shard_map')",
)
_CONSTRAINTS = tuple(
    f"{each} if uses('jax.make_mesh') and without('jax.sharding.AxisType')"
    for each in ("jax.lax.with_sharding_constraint", "equinox.filter_shard")
)
_WARNS = Signature("DeprecationWarning", "The default axis_types will change")
_case = partial(Case, host_devices=2, touches=_WITHOUT_TYPES)

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="equinox#1171",
        change="jax@89401bd314",
        docs="jax:changelog.html#jax-0-8-1-november-18-2025 jax:parallel.html",
        discussion="vllm-project/tpu-inference#1917",
    ),
    touches=("sharded arrays",),
    control=plain_mesh,
    behaviours={"computed": "clear", "warns": "documented"},
    rules=(
        Rule("absent", "jax<0.4.32"),
        Rule("computed", "jax<0.8.1"),
        Rule("warns", "jax<0.9.0", "08fcdb72e9"),
        Rule("refused", "", "89401bd314"),
    ),
    workaround=Workaround(
        "Pass axis_types=(jax.sharding.AxisType.Auto,) * len(axis_names) to jax.make_mesh.",
        say_auto,
        elsewhere=two_auto_axes,
    ),
    signatures={"refused": Signature("ShardingTypeError"), "warns": _WARNS},
    cases=(
        _case(
            constraint,
            signatures={
                "refused": Signature("ValueError", "with_sharding_constraint can only refer to Auto axes of the mesh"),
                "warns": _WARNS,
            },
            touches=(*_WITHOUT_TYPES, *_CONSTRAINTS),
        ),
        _case(product),
        _case(sum_of_both),
        _case(reshape),
    ),
)
