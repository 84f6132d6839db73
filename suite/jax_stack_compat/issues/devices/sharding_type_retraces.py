"""jax.jit traces again for a NamedSharding after another type of sharding

The keys of the tracing cache contain the `NamedSharding` of inputs, so another type of sharding causes a retrace even
if it is equivalent (changelog). 00d8297071 enabled these keys, and says to pass arrays on the same mesh in all calls.
Another spec on the same mesh causes no retrace if the mesh's axes are Auto (`another_spec`). In jax#31250, a second
call gets the result of the first, whose sharding has another type than the first input's.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _traces(*placed: str) -> int:
    """Count the traces of a jitted function called with an array in each placement of `placed`."""
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
    """Does jax.jit trace a function again for a NamedSharding after a SingleDeviceSharding?"""
    traces = _traces("single", "replicated")
    return "retraced" if traces > 1 else "traced-once", f"{traces} traces of two calls"


def the_same() -> None:
    """jax.jit traces once for two arrays with the same sharding."""
    assert _traces("replicated", "replicated") == 1


def put_first() -> None:
    """Three arrays that jax.device_put places with one sharding trace the function once."""
    assert _traces("split", "split", "split") == 1


def result_fed_back() -> None:
    """If jax.device_put gives every matrix one sharding, jax.jit traces once, also for the function's own results."""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    sharding = NamedSharding(Mesh(np.array(jax.devices()), ("x",)), PartitionSpec("x"))
    seen: list[int] = []

    def step(x: Any) -> Any:
        seen.append(1)
        return jax.lax.with_sharding_constraint(x, sharding) + 1

    jitted, x = jax.jit(step), np.ones((4, 2), np.int32)
    replicated = NamedSharding(sharding.mesh, PartitionSpec())
    for given in (x, jax.device_put(x, jax.devices()[0]), jax.device_put(x, replicated)):
        result = jitted(jax.device_put(given, sharding))
        np.testing.assert_array_equal(jitted(jax.device_put(result, sharding)), x + 2)
    assert len(seen) == 1


def another_spec() -> tuple[str, str]:
    """Does jax.jit trace a function again for another PartitionSpec on one Mesh with Auto axes?"""
    traces = _traces("replicated", "split")
    return "retraced" if traces > 1 else "traced-once", f"{traces} traces of two calls"


ISSUE = Issue(
    kind="retrace",
    upstream=Upstream.of(report="jax#31250", change="jax@00d8297071", docs="jax:changelog.html#jax-0-5-1-feb-24-2025"),
    touches=("jit cache", "jax.sharding.NamedSharding", "jax.NamedSharding", "jax.sharding.SingleDeviceSharding"),
    control=the_same,
    behaviours={"traced-once": "clear", "retraced": "documented"},
    cases=(
        Case(
            another_type,
            rules=(Rule("traced-once", "jax<0.5.1"), Rule("retraced", "", "00d8297071, and the changelog")),
            workaround=Workaround(
                "Give an input one sharding in all calls: jax.device_put(x, NamedSharding(mesh, spec)).",
                put_first,
                elsewhere=result_fed_back,
            ),
            host_devices=2,
        ),
        Case(another_spec, rules=(Rule("traced-once"),), host_devices=2),
    ),
)
