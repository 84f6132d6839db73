"""Issues of the catalogue as programs, compiled for an absent device.

Each program is as close to an issue's reproducer as possible without a run. `suite/laboratory/programs/cases.py` says
what to look for in the compiled text, and what it means.
"""

from benchmarks._program_workloads import Workload, _array


def _on_host(function):
    """Put `compute_on("device_host")` round a function, the way this release spells it."""
    import inspect

    import jax
    from jax.experimental.compute_on import compute_on

    if "out_memory_spaces" in inspect.signature(compute_on).parameters:  # from 0.11.1
        return compute_on(function, compute_type="device_host", out_memory_spaces=jax.memory.Space.Device)
    return compute_on("device_host")(function)


def _marked():
    import jax.numpy as jnp

    return (lambda x: _on_host(lambda x: x * 3.0)(jnp.sin(x))), (_array(1024),)


def _unmarked():
    import jax.numpy as jnp

    return (lambda x: jnp.sin(x) * 3.0), (_array(1024),)


def _loop(body):
    import jax

    return (lambda x: jax.lax.fori_loop(0, 10, body, x)), (_array(4096),)


def _kept_where_true():
    import jax

    return _loop(lambda i, x: jax.lax.cond(i % 9 > 0, lambda x: x, lambda x: x.at[0].add(1.0), x))


def _kept_where_false():
    import jax

    return _loop(lambda i, x: jax.lax.cond(i % 9 == 0, lambda x: x.at[0].add(1.0), lambda x: x, x))


def _kept_where_last():
    import jax

    return _loop(lambda i, x: jax.lax.switch(i % 2, [lambda x: x.at[0].add(1.0), lambda x: x], x))


def _updated_in_both():
    import jax

    return _loop(lambda i, x: jax.lax.cond(i % 9 > 0, lambda x: x.at[1].add(1.0), lambda x: x.at[0].add(1.0), x))


def _read_by_a_loop():
    import jax
    import jax.numpy as jnp

    def step(x):
        y = jnp.exp(x)
        return y * jax.lax.fori_loop(0, 8, lambda i, total: total + y[1000 * i], 0.0)

    return step, (_array(2**18),)


def _read_by_a_sum():
    import jax.numpy as jnp

    def step(x):
        y = jnp.exp(x)
        return y * jnp.sum(y)

    return step, (_array(2**18),)


def _read_by_nothing():
    import jax.numpy as jnp

    return (lambda x: jnp.exp(x) * 2.0), (_array(2**18),)


def _activations(policy):
    import jax
    import jax.numpy as jnp
    from jax.ad_checkpoint import checkpoint_name

    def loss(x):
        return jnp.sum(checkpoint_name(jnp.exp(x), "kept") ** 2)

    return jax.grad(jax.checkpoint(loss, policy=policy)), (_array(2**18),)


def _offloaded():
    import jax

    return _activations(
        jax.checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=[],
            names_which_can_be_offloaded=["kept"],
            offload_src="device",
            offload_dst="pinned_host",
        )
    )


def _saved():
    import jax

    return _activations(jax.checkpoint_policies.save_only_these_names("kept"))


def _kernel():
    import jax
    from jax.experimental import pallas as pl

    def add_one(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1.0

    return pl.pallas_call(add_one, jax.ShapeDtypeStruct((8, 128), "float32")), (_array(8, 128),)


def _kernel_told_of_an_h100():
    import jax

    kernel, args = _kernel()
    there = jax.sharding.AbstractDevice(device_kind="NVIDIA H100 80GB HBM3", num_cores=None, platform="cuda")
    mesh = jax.sharding.AbstractMesh((1,), ("x",), abstract_device=there)

    def run(x):
        with jax.sharding.use_abstract_mesh(mesh):
            return kernel(x)

    return run, args


def _product():
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def multiply(x_ref, y_ref, o_ref):
        o_ref[...] = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    shape = jax.ShapeDtypeStruct((128, 128), "float32")
    return pl.pallas_call(multiply, shape), (shape, shape)


_DONATED = {"donate_argnums": 0}
CASES = {
    "host-within-jit": Workload("A sine, and three times it on the host by compute_on", _marked),
    "host-around-jit": Workload(
        "A sine and three times it, with compute_on outside jax.jit", _unmarked, around=_on_host
    ),
    "nothing-on-the-host": Workload("A sine and three times it, without compute_on", _unmarked),
    "kept-where-true": Workload("A loop over a cond that keeps its array where true", _kept_where_true),
    "kept-where-false": Workload("A loop over a cond that keeps its array where false", _kept_where_false),
    "kept-where-last": Workload("A loop over a switch that keeps its array in its last branch", _kept_where_last),
    "updated-in-both": Workload("A loop over a cond that updates its array in both branches", _updated_in_both),
    "without-a-condition": Workload("A loop that updates its array", lambda: _loop(lambda i, x: x.at[0].add(1.0))),
    "donated-read-by-a-loop": Workload("Exp of a donated MiB, read by a loop", _read_by_a_loop, (), _DONATED),
    "donated-read-by-a-sum": Workload("Exp of a donated MiB, summed", _read_by_a_sum, (), _DONATED),
    "donated-read-by-nothing": Workload("Twice exp of a donated MiB", _read_by_nothing, (), _DONATED),
    "activations-on-the-host": Workload("The gradient of a square of exp of a MiB, exp offloaded", _offloaded),
    "activations-on-the-device": Workload("The gradient of a square of exp of a MiB, exp saved", _saved),
    "kernel-for-a-gpu": Workload("A Pallas kernel that adds one to 8 × 128 numbers", _kernel),
    "kernel-for-an-h100": Workload("The same, told of an H100 by an AbstractDevice", _kernel_told_of_an_h100),
    "without-a-kernel": Workload("One added to 8 × 128 numbers", lambda: ((lambda x: x + 1.0), (_array(8, 128),))),
    "kernel-for-a-tpu": Workload("A Pallas kernel that multiplies matrices of 128 × 128", _product),
}
