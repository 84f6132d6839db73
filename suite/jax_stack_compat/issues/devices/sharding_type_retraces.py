"""The same array under another type of sharding is traced anew, since jax 0.5.1

    f(jax.device_put(x, NamedSharding(mesh, P())))     # traced
    f(jax.device_put(x, jax.devices()[0]))             # traced again, from jax 0.5.1

Up to jax 0.5.0 what was traced depended on shapes and dtypes. Since then an array's type holds how it is spread over a
mesh, so one with a NamedSharding and one with a SingleDeviceSharding are of two types, and are traced apart: so the
changelog of 0.5.1. Another spec on the same mesh is the same type, where the mesh's axes are not explicit.
A program that feeds a jitted function from a loader and from its own output can trace it twice.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _traces(*placed: str) -> int:
    """How often a function is traced that is called with an array placed in these ways, one after the other."""
    import jax
    import numpy as np

    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    ways = {
        "single": jax.sharding.SingleDeviceSharding(jax.devices()[0]),
        "replicated": jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()),
        "split": jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x")),
    }
    seen: list[int] = []

    def double(x: Any) -> Any:
        seen.append(1)
        return x * 2

    doubled = jax.jit(double)
    for each in placed:
        doubled(jax.device_put(np.arange(4.0), ways[each]))
    return len(seen)


def another_type() -> tuple[str, str]:
    """Is a function traced again for a NamedSharding after a SingleDeviceSharding?"""
    traces = _traces("single", "replicated")
    return "retraced" if traces > 1 else "traced-once", f"{traces} traces of two calls"


def the_same() -> None:
    """For the same sharding it is traced once."""
    assert _traces("replicated", "replicated") == 1


def put_first() -> None:
    """All inputs put under one sharding first."""
    assert _traces("split", "split", "split") == 1


def another_spec() -> tuple[str, str]:
    """Is it for another spec on the same mesh?"""
    traces = _traces("replicated", "split")
    return "retraced" if traces > 1 else "traced-once", f"{traces} traces of two calls"


ISSUE = Issue(
    kind="retrace",
    upstream=Upstream.of(docs="jax:changelog.html#jax-0-5-1-feb-24-2025"),
    touches=("jax.sharding.NamedSharding", "jax.NamedSharding", "jax.sharding.SingleDeviceSharding", "jit cache"),
    control=the_same,
    behaviours={"traced-once": "clear", "retraced": "documented"},
    cases=(
        Case(
            another_type,
            rules=(Rule("traced-once", "jax<0.5.1"), Rule("retraced", "", "the changelog")),
            workaround=Workaround("Put all inputs under one sharding first: jax.device_put(x, sharding).", put_first),
            host_devices=2,
        ),
        Case(another_spec, rules=(Rule("traced-once"),), host_devices=2),
    ),
)
