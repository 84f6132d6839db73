"""Lowering of wrapped functions, as in the issue `wraps-lower-bypass`.

Up to JAX 0.5.3, `functools.wraps` copied the jitted function's `lower` to the wrapper; since 0.6.0 it does not. So each
way here applies `jax.jit` last, as upstream advises.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import _phases


def _times_ten(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(x) * 10.0

    return wrapper


def _chain(x):
    for _ in range(10):
        x = jnp.sin(x) * 2.0
    return x


class Wrapped(_phases.Tracing, _phases.Lowering):
    """Ten sines of 8 float32: jitted, in one wrapper, in ten, in ten with a `jit` in each, and vmapped.

    The difference from `jit` is the cost of a wrapper, and the difference from `wrapped-10` the cost of inner `jit`s.
    """

    version = "1"
    params = ("jit", "wrapped-1", "wrapped-10", "wrapped-10-jit", "vmap-of-jit")
    param_names = ("way",)

    def make(self, way):
        """Make a function to be jitted, out of a new one."""
        x = np.ones(8, np.float32)

        def function(x):
            return _chain(x)

        if way == "vmap-of-jit":
            return jax.vmap(jax.jit(function)), (x,)
        for _ in range({"jit": 0, "wrapped-1": 1}.get(way, 10)):
            function = _times_ten(jax.jit(function) if way == "wrapped-10-jit" else function)
        return function, (x,)


class Counts(_phases.Counts):
    """The counts of each way."""

    version = "1"
    params = Wrapped.params
    param_names = ("way",)

    def setup_cache(self):
        """Count."""
        return self.counted()

    def make(self, workload):
        """Make a way."""
        return Wrapped().make(workload)
