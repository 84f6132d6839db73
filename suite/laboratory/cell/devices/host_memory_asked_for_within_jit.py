"""Arrays and activations that are put into the host's memory are there, and come back

A device has memories of several kinds. An array says which one it is in, and a program how much of the host's it takes.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Signature


def _in(kind: str) -> Any:
    import jax

    return jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind=kind)


def kinds_of_memory() -> tuple[str, str]:
    """Does a device have memory of its own, and pinned memory of the host?"""
    import jax

    device = jax.devices()[0]
    kinds = sorted(memory.kind for memory in device.addressable_memories())
    both = {"device", "pinned_host"} <= set(kinds)
    return ("both" if both else "one"), f"{', '.join(kinds)}; by default {device.default_memory().kind}"


def put_and_brought_back() -> tuple[str, str]:
    """Does jax.device_put move an array into pinned host memory, and back, with its values?"""
    import jax
    import jax.numpy as jnp

    there = jax.device_put(jnp.arange(4.0), _in("pinned_host"))
    back = jax.device_put(there, _in("device"))
    kinds = there.sharding.memory_kind, back.sharding.memory_kind
    assert back.tolist() == [0.0, 1.0, 2.0, 3.0], f"the values are {back.tolist()}"
    return ("both" if kinds == ("pinned_host", "device") else "one"), f"it was in {kinds[0]}, and is in {kinds[1]}"


def offloaded_scan() -> tuple[str, str]:
    """Does a scan with offloaded activations keep them in the host's memory until its gradient needs them?"""
    import jax
    import jax.numpy as jnp
    from jax.ad_checkpoint import checkpoint_name

    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["kept"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    def step(carry: Any, _: Any) -> tuple[Any, None]:
        return jnp.sin(checkpoint_name(carry * 1.5, "kept")), None

    def loss(x: Any) -> Any:
        return jnp.sum(jax.lax.scan(jax.checkpoint(step, policy=policy), x, None, length=8)[0])

    def plain(x: Any) -> Any:
        return jnp.sum(jax.lax.scan(step, x, None, length=8)[0])

    x = jnp.linspace(0.1, 1.0, 4096)
    compiled = jax.jit(jax.grad(loss)).lower(x).compile()
    apart = float(jnp.max(jnp.abs(compiled(x) - jax.jit(jax.grad(plain))(x))))
    assert apart < 1e-4, f"the gradient is off by {apart}"
    text = compiled.as_text()
    lines = [line.strip() for line in text.splitlines() if "S(5)" in line]
    return ("offloaded", lines[0][:200]) if lines else ("kept", "nothing of the program is in memory space 5")


def on_the_device() -> None:
    """Without a word of memories, an array is in the device's own."""
    import jax
    import jax.numpy as jnp

    x = jax.jit(lambda x: 2.0 * x)(jnp.ones(4))
    assert x.tolist() == [2.0] * 4
    assert x.sharding.memory_kind == jax.devices()[0].default_memory().kind


_NO_SUCH = (
    Signature("ValueError", "pinned_host"),
    Signature("ValueError", "Could not find memory addressable"),
)
ISSUE = Issue(
    kind="silent-wrong",
    upstream=(),
    cases=(
        Case(kinds_of_memory),
        Case(put_and_brought_back),
        Case(offloaded_scan),
    ),
    control=on_the_device,
    behaviours={"both": "clear", "one": "affected", "offloaded": "clear", "kept": "affected", "no-memory": "absent"},
    signatures={"no-memory": _NO_SUCH},
)
