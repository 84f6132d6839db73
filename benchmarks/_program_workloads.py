"""Programs for an absent device: small pure functions of fixed shapes, each like a benchmark in this folder.

A workload makes a function and the shapes of its arguments. Nothing is computed, and no array is made.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Workload:
    """A program: its title, the function that makes it, and the packages besides jax that affect it.

    `options` are for `jax.jit`. `around` wraps the jitted function before it is lowered.
    """

    title: str
    make: Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]
    needs: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    around: Callable[[Any], Any] = lambda jitted: jitted


def _array(*shape, dtype="float32"):
    import jax

    return jax.ShapeDtypeStruct(shape, dtype)


def _softmax():
    import jax

    return (lambda x, y: jax.nn.softmax(x @ y)), (_array(1024, 1024), _array(1024, 1024))


def _mlp():
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import numpy as np

    def make(key):
        return eqx.nn.MLP(8, 1, width_size=64, depth=3, activation=jax.nn.relu, key=key)

    model = eqx.filter_eval_shape(make, np.zeros(2, np.uint32))
    arrays, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

    def step(arrays, x, y):
        def loss(arrays):
            return jnp.mean((jax.vmap(eqx.combine(arrays, static))(x) - y) ** 2)

        value, gradient = jax.value_and_grad(loss)(arrays)
        return value, jax.tree_util.tree_map(lambda array, slope: array - 1e-3 * slope, arrays, gradient)

    return step, (arrays, _array(128, 8), _array(128, 1))


def _scan():
    import jax
    import jax.numpy as jnp

    def accumulate(init, xs):
        def body(carry, x):
            carry = jnp.tanh(carry + x)
            return carry, carry.sum()

        return jax.lax.scan(body, init, xs)

    return accumulate, (_array(8), _array(100, 8))


def _closures():
    import jax

    def run(x, *arrays):
        def cond_fun(carry):
            return (carry[0] < 10) & (carry[1].sum() < 1e6)

        def body_fun(carry):
            return carry[0] + 1, sum(arrays, carry[1])

        return jax.lax.while_loop(cond_fun, body_fun, (0, x))

    return run, (_array(4),) * 9


def _write():
    import jax

    def run(xs):
        return jax.lax.fori_loop(0, xs.size - 1, lambda i, xs: xs.at[i + 1].set(0.5 * xs[i] + 1.0), xs)

    return run, (_array(20_000),)


def _sort():
    import jax.numpy as jnp

    def run(x, table):
        order = jnp.argsort(x)
        return x[order], table[order]

    return run, (_array(4096), _array(4096, 16))


def _fft():
    import jax.numpy as jnp

    return (lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 0.5)), (_array(64, 1024),)


def _linear():
    import jax.numpy as jnp

    return (lambda a, b: jnp.linalg.solve(a, b)), (_array(64, 64), _array(64, 1))


def _solve(*, backward=False):
    import diffrax
    import jax
    import jax.numpy as jnp

    def solve(y0, matrix):
        def field(t, y, args):
            return jnp.sin(args @ y) - y

        return diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Tsit5(),
            t0=0.0,
            t1=1.0,
            dt0=0.01,
            y0=y0,
            args=matrix,
            saveat=diffrax.SaveAt(t1=True),
            max_steps=116,
            # To raise is to call the host, and jax wants a device there for that.
            throw=False,
        ).ys[-1]

    def slope(y0, matrix):
        return jax.grad(lambda matrix: solve(y0, matrix).sum())(matrix)

    return slope if backward else solve, (_array(4), _array(4, 4))


_SOLVER = ("equinox", "diffrax", "lineax", "optimistix")
WORKLOADS = {
    "softmax-of-a-product": Workload("The softmax of a product of two matrices of 1024 × 1024", _softmax),
    "mlp-training-step": Workload(
        "Loss, gradient and descent of an Equinox MLP, 3 hidden layers of 64, 128 rows", _mlp, ("equinox",)
    ),
    "scan": Workload("A scan of 100 steps of tanh over a carry of 8, which stacks a sum", _scan),
    "while-loop-with-closures": Workload("A while loop over 4 numbers whose body closes over 8 more arrays", _closures),
    "write-in-a-loop": Workload("A loop that writes one number a pass into an array of 20 000 (jax#40101)", _write),
    "sort-and-gather": Workload("The order of 4096 numbers, and a table of 4096 × 16 in that order", _sort),
    "fft": Workload("64 real Fourier transforms of 1024, halved, and back", _fft),
    "linear-solve": Workload("A dense linear system of 64 × 64", _linear),
    "diffrax-solve": Workload("A Diffrax solve, Tsit5 over a state of 4, 100 steps", _solve, _SOLVER),
    "diffrax-gradient": Workload(
        "The gradient of a Diffrax solve of 100 steps by its matrix", lambda: _solve(backward=True), _SOLVER
    ),
}
