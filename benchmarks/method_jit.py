"""The cost and the number of traces of each way to jit a method, as in the issue `method-jit-caching`."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import _phases

WAYS = (
    "function",
    "bound-method",
    "fresh-bound-method",
    "static-self",
    "static-self-hashable",
    "pytree-self",
    "equinox-module",
)


def _way(way):
    """Return `make(scale)`, which makes an object, `call(object, x)`, and a list that gets an entry for each trace."""
    traces = []

    def compute(scale, x):
        traces.append(None)
        for _ in range(5):
            x = jnp.sin(x * scale)
        return x

    class Plain:
        def __init__(self, scale):
            self.scale = scale

        def times(self, x):
            return compute(self.scale, x)

    class Static(Plain):
        @functools.partial(jax.jit, static_argnums=0)
        def times(self, x):
            return compute(self.scale, x)

    class Hashable(Static):
        def __hash__(self):
            return hash(self.scale)

        def __eq__(self, other):
            return isinstance(other, Hashable) and self.scale == other.scale

    class Pytree(Plain):
        times = jax.jit(Plain.times)

    jax.tree_util.register_pytree_node(Pytree, lambda obj: ((obj.scale,), None), lambda _, leaves: Pytree(*leaves))

    class Module(eqx.Module):
        scale: jax.Array

        @eqx.filter_jit
        def times(self, x):
            return compute(self.scale, x)

    class Bound(Plain):
        def __init__(self, scale):
            super().__init__(scale)
            self.kept = jax.jit(self.times)

    function = jax.jit(compute)

    def call(obj, x):
        return obj.times(x)

    return {
        "function": (float, lambda scale, x: function(scale, x), traces),
        "bound-method": (Bound, lambda obj, x: obj.kept(x), traces),
        "fresh-bound-method": (Plain, lambda obj, x: jax.jit(obj.times)(x), traces),
        "static-self": (Static, call, traces),
        "static-self-hashable": (Hashable, call, traces),
        "pytree-self": (Pytree, call, traces),
        "equinox-module": (lambda scale: Module(jnp.asarray(scale)), call, traces),
    }[way]


class Method(_phases.Dispatching):
    """Five sines of 8 float32, times a scale in `self` (in `function`, an argument), jitted in each way.

    Calls are timed in the steady state, in which only `fresh-bound-method` traces and compiles each time.
    """

    version = "1"
    params = WAYS
    param_names = ("way",)

    def make(self, way):
        """Make an object and the call of its method."""
        make, call, _ = _way(way)
        return functools.partial(call, make(2.0)), (np.ones(8, np.float32),)

    def jit(self, function):
        """Return the function unchanged: the method is jitted."""
        return function

    def time_dispatch(self, way):
        """Time a call until it returns, two in a sample; in one way, each of them compiles."""
        super().time_dispatch(way)

    time_dispatch.number = 2
    time_dispatch.repeat = (5, 100, 0.1)

    def time_new_object(self, way):
        """Time the first call with a second object of another scale, which may trace and compile."""
        _phases.assert_versions()
        (make, call, _), x = _way(way), jax.device_put(np.ones(8, np.float32))
        first, second = make(2.0), make(3.0)
        jax.block_until_ready(call(first, x))
        with _phases.METER:
            jax.block_until_ready(call(second, x))

    time_new_object.repeat = (3, 5, 0.1)

    def track_traces(self, way):
        """Count traces in eight calls: two each on two objects of one scale and on two objects of other scales."""
        _phases.assert_versions()
        (make, call, traces), x = _way(way), jax.device_put(np.ones(8, np.float32))
        for obj in [make(scale) for scale in (2.0, 2.0, 3.0, 4.0)]:
            for _ in range(2):
                jax.block_until_ready(call(obj, x))
        return len(traces)

    track_traces.unit = "traces"
