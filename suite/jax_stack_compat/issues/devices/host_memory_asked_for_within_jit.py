"""On a CPU, jax.device_put to pinned_host within jit has no effect

279de8bd72 gave CPU devices an accelerator's memory kinds, all in host memory; the commit warns that kinds other than
the default can fail within jit. Within jit, `device_put` to `pinned_host` left arrays in `device` (`put_within_jit`),
and `out_shardings` in `pinned_host` raised (`returned_by_out_shardings`). A `jax.checkpoint` policy that offloads
activations runs on a CPU since be53ee10b1 (`offloaded_activations`). JAX's page on memory spaces says that support
varies by platform.
"""

from __future__ import annotations

from functools import partial

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare, members


def put_within_jit() -> tuple[str, str]:
    """Does a jitted function that ends with jax.device_put to pinned_host return an array in that memory?"""
    import jax
    import jax.numpy as jnp

    host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    doubled = jax.jit(lambda x: jax.device_put(2.0 * x, host))(jnp.ones(4))
    assert doubled.tolist() == [2.0] * 4
    kind = doubled.sharding.memory_kind
    return ("on-the-host" if kind == "pinned_host" else "on-the-device"), f"it is in {kind!r}"


def in_one_memory() -> None:
    """Without memory kinds, a jitted function and a jitted gradient give the expected values."""
    import jax
    import jax.numpy as jnp

    assert jax.jit(lambda x: 2.0 * x)(jnp.ones(4)).tolist() == [2.0] * 4
    assert jax.jit(jax.grad(lambda x: jnp.sum(jnp.exp(x) ** 2)))(jnp.zeros(4)).tolist() == [2.0] * 4


def put_outside() -> None:
    """jax.device_put moves the result of a jitted function to pinned_host."""
    import jax
    import jax.numpy as jnp

    host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    doubled = jax.device_put(jax.jit(lambda x: 2.0 * x)(jnp.ones(4)), host)
    assert (doubled.sharding.memory_kind, doubled.tolist()) == ("pinned_host", [2.0] * 4)


def moved_there_and_back() -> None:
    """A NamedSharding moves a dict of gradients to pinned_host; back in device memory, jit adds 1 to them."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
    device = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(), memory_kind="device")
    host = device.with_memory_kind("pinned_host")
    weights = {"matrix": jnp.arange(6, dtype=jnp.float16).reshape(2, 3), "empty": jnp.ones((0,)), "one": jnp.float32(3)}
    slopes = jax.jit(jax.grad(lambda weights: sum(jnp.sum(leaf**2) for leaf in weights.values())))(weights)
    kept = jax.device_put(slopes, host)
    assert {leaf.sharding.memory_kind for leaf in kept.values()} == {"pinned_host"}
    totals = jax.jit(lambda slopes: {name: leaf + 1 for name, leaf in slopes.items()})(jax.device_put(kept, device))
    assert {leaf.sharding.memory_kind for leaf in totals.values()} == {"device"}
    assert all((totals[name] == 2 * leaf + 1).all() for name, leaf in weights.items())


def returned_by_out_shardings() -> tuple[str, str]:
    """Does jax.jit with out_shardings in pinned_host return an array in that memory?"""
    import jax
    import jax.numpy as jnp

    host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    doubled = jax.jit(lambda x: 2.0 * x, out_shardings=host)(jnp.ones(4))
    assert doubled.tolist() == [2.0] * 4
    kind = doubled.sharding.memory_kind
    return ("on-the-host" if kind == "pinned_host" else "on-the-device"), f"it is in {kind!r}"


def offloaded_activations() -> tuple[str, str]:
    """Is a jitted jax.grad right if save_and_offload_only_these_names offloads activations?"""
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
    """jax.checkpoint without a policy gives the gradient."""
    import jax
    import jax.numpy as jnp

    f = jax.checkpoint(lambda x: jnp.sum(jnp.exp(x) ** 2))
    assert jax.jit(jax.grad(f))(jnp.zeros(4)).tolist() == [2.0] * 4


def recomputed_layers() -> None:
    """In a scan over layers, jax.checkpoint does not change the gradient, in float32 and in float16."""
    import jax
    import jax.numpy as jnp

    def network(layers: jax.Array, x: jax.Array, *, is_recomputed: bool) -> jax.Array:
        def layer(x: jax.Array, weights: jax.Array) -> tuple[jax.Array, None]:
            return jnp.sin(x @ weights), None

        return jnp.sum(jax.lax.scan(jax.checkpoint(layer) if is_recomputed else layer, x, layers)[0])

    for dtype, tolerance in ((jnp.float32, 1e-5), (jnp.float16, 1e-2)):
        layers, x = jnp.linspace(-1, 1, 32, dtype=dtype).reshape(2, 4, 4), jnp.ones((3, 4), dtype)
        one, other = (jax.jit(jax.grad(partial(network, is_recomputed=each)))(layers, x) for each in (True, False))
        assert bool(jnp.abs(other).max() > 0)
        assert jnp.allclose(one, other, atol=tolerance)


_WITHOUT = Rule("no-such-memory", "jaxlib<0.7.1", "jaxlib defines the memory kinds of a device")
_WITH = Rule("on-the-host")
_JITTED = "uses('jax.jit', 'equinox.filter_jit')"
_UNREGISTERED = "No registered implementation for untyped custom call to annotate_device_placement for Host"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        cause="jax@279de8bd72",
        change="jax@be53ee10b1",
        docs="jax:201/memory-spaces.html jax:notebooks/host-offloading.html",
    ),
    touches=(
        f"jax.sharding.NamedSharding(mesh, spec, memory_kind) if memory_kind == 'pinned_host' and {_JITTED}",
        f"jax.sharding.SingleDeviceSharding(device, memory_kind) if memory_kind == 'pinned_host' and {_JITTED}",
        "jax.sharding.NamedSharding.with_memory_kind(kind) if kind == 'pinned_host' and not without('jax.jit')",
        f"jax.memory.Space.Host if {_JITTED}",
    ),
    control=in_one_memory,
    behaviours={
        **{"on-the-host": "clear", "on-the-device": "affected", "refused": "guarded", "no-such-memory": "absent"}
    },
    workaround=Workaround(
        "Move the jitted result, which first takes device memory, to a sharding in pinned_host.",
        put_outside,
        elsewhere=moved_there_and_back,
    ),
    signatures={
        "no-such-memory": Signature("ValueError", "Could not find memory addressable by device cpu"),
        "refused": (
            Signature("XlaRuntimeError", _UNREGISTERED),
            Signature("JaxRuntimeError", _UNREGISTERED),
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
            workaround=Workaround(
                "Recompute activations, which takes time: jax.checkpoint without a policy.",
                recomputed,
                elsewhere=recomputed_layers,
            ),
            behaviours={"refused": "affected", "no-policy": "absent", "differs": "different"},
            signatures={
                "refused": Signature(
                    "NotImplementedError", "Passing memory_kind to device_put via Shardings is not supported"
                ),
                "no-policy": Signature("AttributeError", "save_and_offload_only_these_names"),
            },
            rules=(
                Rule("no-policy", "jax<0.4.25"),
                Rule("refused", "jax<0.4.33"),
                Rule("agrees", "", "be53ee10b1 drops the NotImplementedError"),
            ),
        ),
    ),
)
