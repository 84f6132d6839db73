"""An array that is put into host memory within jit comes back in the device's, on a CPU with jaxlib 0.7.1 to 0.10.1

    host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    jax.jit(lambda x: jax.device_put(2 * x, host))(x).sharding.memory_kind    # "device"

You'd expect "pinned_host", which is what `jax.device_put` gives outside jit, and what a GPU gives within. Code that
offloads is tested on a CPU first, and what it tests there is that nothing was offloaded. `out_shardings=host` does say
so on the same releases: `No registered implementation for untyped custom call to annotate_device_placement for Host`.
From jaxlib 0.10.2 on a CPU does both. Up to 0.7.0 it has no such memory, and says that.

Offloading what a gradient keeps (`save_and_offload_only_these_names`) runs on a CPU from 0.4.33 on, and gives the right
gradient; it was NotImplementedError before. A CPU's memories are one, so that nothing is gained or lost but the kind.

The page on host offloading says that support varies by platform.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare, members


def put_within_jit() -> tuple[str, str]:
    """Is an array that is put into pinned host memory within jit there when it comes back?"""
    import jax
    import jax.numpy as jnp

    host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    doubled = jax.jit(lambda x: jax.device_put(2.0 * x, host))(jnp.ones(4))
    assert doubled.tolist() == [2.0] * 4
    kind = doubled.sharding.memory_kind
    return ("on-the-host" if kind == "pinned_host" else "on-the-device"), f"it is in {kind!r}"


def in_one_memory() -> None:
    """The same without a word of memories."""
    import jax
    import jax.numpy as jnp

    assert jax.jit(lambda x: 2.0 * x)(jnp.ones(4)).tolist() == [2.0] * 4
    assert jax.jit(jax.grad(lambda x: jnp.sum(jnp.exp(x) ** 2)))(jnp.zeros(4)).tolist() == [2.0] * 4


def put_outside() -> None:
    """Put it there once jit has returned it."""
    import jax
    import jax.numpy as jnp

    host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    doubled = jax.device_put(jax.jit(lambda x: 2.0 * x)(jnp.ones(4)), host)
    assert (doubled.sharding.memory_kind, doubled.tolist()) == ("pinned_host", [2.0] * 4)


def returned_by_out_shardings() -> tuple[str, str]:
    """Is one that jit is to return there?"""
    import jax
    import jax.numpy as jnp

    host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    doubled = jax.jit(lambda x: 2.0 * x, out_shardings=host)(jnp.ones(4))
    assert doubled.tolist() == [2.0] * 4
    kind = doubled.sharding.memory_kind
    return ("on-the-host" if kind == "pinned_host" else "on-the-device"), f"it is in {kind!r}"


def offloaded_activations() -> tuple[str, str]:
    """Is a gradient right whose activations are offloaded by a checkpoint policy?"""
    import jax
    import jax.numpy as jnp
    from jax.ad_checkpoint import checkpoint_name

    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["kept"],
        offload_src="device",
        offload_dst="pinned_host",
    )
    f = jax.checkpoint(lambda x: jnp.sum(checkpoint_name(jnp.exp(x), "kept") ** 2), policy=policy)
    return compare(jax.jit(jax.grad(f))(jnp.zeros(4)), [2.0] * 4)


def recomputed() -> None:
    """Recompute them."""
    import jax
    import jax.numpy as jnp

    f = jax.checkpoint(lambda x: jnp.sum(jnp.exp(x) ** 2))
    assert jax.jit(jax.grad(f))(jnp.zeros(4)).tolist() == [2.0] * 4


_WITHOUT = Rule("no-such-memory", "jaxlib<0.7.1", "it is jaxlib that says so")
_WITH = Rule("on-the-host")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(docs="jax:notebooks/host-offloading.html jax:201/memory-spaces.html"),
    touches=(
        "jax.sharding.Sharding.with_memory_kind",
        "jax.device_put if unseen and within('jax.jit', 'equinox.filter_jit')",
        "jax.jit(out_shardings=)",
        "memory_kind",
    ),
    control=in_one_memory,
    behaviours={
        **{"on-the-host": "clear", "on-the-device": "affected", "refused": "guarded", "no-such-memory": "absent"}
    },
    workaround=Workaround("jax.device_put(…, host) of what jit has returned.", put_outside),
    signatures={
        "no-such-memory": Signature("ValueError", "Could not find memory addressable by device cpu"),
        "refused": tuple(
            Signature(
                each, "No registered implementation for untyped custom call to annotate_device_placement for Host"
            )
            for each in ("XlaRuntimeError", "JaxRuntimeError")
        ),
    },
    cases=(
        Case(put_within_jit, rules=(_WITHOUT, Rule("on-the-device", "jaxlib<0.10.2"), _WITH)),
        Case(returned_by_out_shardings, rules=(_WITHOUT, Rule("refused", "jaxlib<0.10.2"), _WITH)),
        Case(
            offloaded_activations,
            touches=members(
                "jax.checkpoint_policies", "save_and_offload_only_these_names offload_dot_with_no_batch_dims"
            ),
            workaround=Workaround("Have jax.checkpoint recompute them.", recomputed),
            behaviours={"refused": "affected", "no-policy": "absent", "differs": "different"},
            signatures={
                "refused": Signature(
                    "NotImplementedError", "Passing memory_kind to device_put via Shardings is not supported"
                ),
                "no-policy": Signature("AttributeError", "save_and_offload_only_these_names"),
            },
            rules=(Rule("no-policy", "jax<0.4.25"), Rule("refused", "jax<0.4.33"), Rule("agrees")),
        ),
    ),
)
