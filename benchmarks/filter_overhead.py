"""The overhead of Equinox's `filter_jit` and `filter_grad`, as in the issue `filter-grad-return-type`.

The cost of filtering grows with the leaves. The model is an Equinox MLP of 8 hidden layers of 8: 18 arrays and an
activation.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import _phases


def _initial(make):
    """Make a model of constants; drawing random numbers would compile longer than the measured code."""
    shapes = eqx.filter_eval_shape(make, np.zeros(2, np.uint32))

    def fill(leaf):
        return jax.device_put(np.full(leaf.shape, 0.1, leaf.dtype)) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf

    return jax.tree_util.tree_map(fill, shapes)


def _loss(model, x):
    return jnp.mean(jax.vmap(model)(x) ** 2)


class Filter(_phases.Dispatching):
    """One loss and its gradient, of 4 rows of 4 float32, through JAX's transforms and through Equinox's.

    JAX's transforms get the arrays, and close over the rest of the model; Equinox's get the model.
    """

    version = "1"
    params = ("jax.jit", "filter_jit", "jax.jit(jax.grad)", "filter_jit(filter_grad)")
    param_names = ("transforms",)

    def make(self, transforms):
        """Make the transformed loss, and its arguments."""
        model = _initial(lambda key: eqx.nn.MLP(4, 4, width_size=8, depth=8, activation=jnp.tanh, key=key))
        x = jax.device_put(np.ones((4, 4), np.float32))
        arrays, static = eqx.partition(model, eqx.is_array)

        def loss(model, x):
            return _loss(model, x)

        def of_arrays(arrays, x):
            return loss(eqx.combine(arrays, static), x)

        return {
            "jax.jit": lambda: (jax.jit(of_arrays), (arrays, x)),
            "filter_jit": lambda: (eqx.filter_jit(loss), (model, x)),
            "jax.jit(jax.grad)": lambda: (jax.jit(jax.grad(of_arrays)), (arrays, x)),
            "filter_jit(filter_grad)": lambda: (eqx.filter_jit(eqx.filter_grad(loss)), (model, x)),
        }[transforms]()

    def jit(self, function):
        """Return the function, which is already jitted."""
        return function

    def fresh(self, *params):
        """Return the transformed loss, never traced, and its arguments."""
        _phases.assert_sound()
        return self.make(*params)

    def time_trace_and_lower(self, transforms):
        """Time `.lower`, which traces and lowers, and which all four have."""
        jitted, args = self.fresh(transforms)
        with _phases.METER:
            jitted.lower(*args)
