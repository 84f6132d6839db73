"""Arrays on a mesh of jax.make_mesh refuse to be multiplied, added or reshaped since jax 0.9.0: its axes are Explicit

    mesh = jax.make_mesh((2,), ("x",))
    a, b = (jax.device_put(x, NamedSharding(mesh, spec)) for spec in (P(None, "x"), P("x", None)))
    a @ b    # from jax 0.9.0: ShardingTypeError: Contracting dimensions are sharded and it is ambiguous how …

You'd expect XLA to find how to share the work, as it did. From jax 0.9.0 `make_mesh` gives axes of the type Explicit,
where the sharding is a part of an array's type, and what JAX cannot conclude from the types it asks for. 0.8.1 warned
of it. `jax.sharding.Mesh` keeps Auto, so that two ways to write the same mesh part here. Nothing is computed wrong: it
is refused, and the message names the arguments that would say what is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def _of_both(function: Callable[[Any, Any], Any]) -> tuple[str, str]:
    """What a function gives for two arrays of ones, the first in columns over two devices and the second in rows."""
    import jax
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec

    if not hasattr(jax, "make_mesh"):
        return "absent", "there is no jax.make_mesh"
    mesh = jax.make_mesh((2,), ("x",))
    columns, rows = (NamedSharding(mesh, PartitionSpec(*spec)) for spec in ((None, "x"), ("x", None)))
    got = function(jax.device_put(np.ones((4, 4)), columns), jax.device_put(np.ones((4, 4)), rows))
    return "computed", f"{float(got.sum())}"


def product() -> tuple[str, str]:
    """Are two matrices multiplied, of which the axis that is summed over is on two devices?"""
    return _of_both(lambda columns, rows: columns @ rows)


def plain_mesh() -> None:
    """On a jax.sharding.Mesh all are computed on every release."""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()[:2]), ("x",))
    columns, rows = (NamedSharding(mesh, PartitionSpec(*spec)) for spec in ((None, "x"), ("x", None)))
    a, b = jax.device_put(np.ones((4, 4)), columns), jax.device_put(np.ones((4, 4)), rows)
    assert (float((a @ b).sum()), float((a + b).sum()), float(a.reshape(-1).sum())) == (64.0, 32.0, 16.0)


def say_auto() -> None:
    """axis_types=(AxisType.Auto,), where there are axis types; the plain mesh where there are none."""
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


def sum_of_both() -> tuple[str, str]:
    """Are two added, of which one is in columns and the other in rows?"""
    return _of_both(lambda columns, rows: columns + rows)


def reshape() -> tuple[str, str]:
    """Is one made a vector?"""
    return _of_both(lambda columns, rows: columns.reshape(-1))


# shard_map makes axes Manual, whatever type they have.
_WITHOUT_TYPES = (
    "jax.make_mesh(axis_shapes, axis_names, axis_types) if not given(axis_types) and without('jax.sharding.AxisType') "
    "and not uses('jax.shard_map', 'jax.experimental.shard_map.shard_map')",
)
_case = partial(Case, host_devices=2, touches=_WITHOUT_TYPES)

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(change="jax@89401bd314", docs="jax:changelog.html"),
    touches=("jax.make_mesh", "jax.lax.with_sharding_constraint", "sharded arrays"),
    also={"refused": Signature("ValueError", "with_sharding_constraint can only refer to Auto axes of the mesh")},
    control=plain_mesh,
    behaviours={"computed": "clear", "warns": "documented"},
    rules=(
        Rule("absent", "jax<0.4.32"),
        Rule("computed", "jax<0.8.1"),
        Rule("warns", "jax<0.9.0", "08fcdb72e9"),
        Rule("refused", "", "89401bd314"),
    ),
    workaround=Workaround(
        "jax.make_mesh(…, axis_types=(jax.sharding.AxisType.Auto,)), or jax.sharding.Mesh.", say_auto
    ),
    signatures={
        "refused": Signature("ShardingTypeError"),
        "warns": Signature("DeprecationWarning", "The default axis_types will change"),
    },
    cases=(_case(product), _case(sum_of_both), _case(reshape)),
)
