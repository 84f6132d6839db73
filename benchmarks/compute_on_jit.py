"""`compute_on` inside jit, lowered and compiled, as in the issue `compute-on-aot`.

On a CPU, `compute_on` only marks the computation; on an accelerator, it moves the computation to the host.
"""

import importlib.util
import inspect

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import _phases


def _on_host(function):
    """Wrap a function in `compute_on("device_host")`, as this release spells it."""
    from jax.experimental.compute_on import compute_on

    if "out_memory_spaces" in inspect.signature(compute_on).parameters:  # from JAX 0.11.1
        return compute_on(function, compute_type="device_host", out_memory_spaces=jax.memory.Space.Device)
    return compute_on("device_host")(function)


class ComputeOn(_phases.Host):
    """Ten sines and products of 8 float32, with plain products, or with each product in its own `compute_on`."""

    version = "1"
    params = ("plain", "compute_on")
    param_names = ("way",)

    def make(self, way):
        """Make the chain."""
        if importlib.util.find_spec("jax.experimental.compute_on") is None:
            _phases.not_applicable("there is no jax.experimental.compute_on before JAX 0.4.29")

        def double(x):
            return x * 2.0

        step = _on_host(double) if way == "compute_on" else double

        def chain(x):
            for _ in range(10):
                x = step(jnp.sin(x))
            return x

        return chain, (np.ones(8, np.float32),)


class Counts(_phases.Counts):
    """The counts of both."""

    version = "1"
    params = ComputeOn.params
    param_names = ("way",)

    def setup_cache(self):
        """Count."""
        return self.counted()

    def make(self, workload):
        """Make a way."""
        return ComputeOn().make(workload)
