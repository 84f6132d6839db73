"""Basic operations of JAX: a chain, a product, a scan and a loop.

All are in float32. In the default sizes the host dominates; the `Large` benchmarks measure the device.
"""

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import _phases

SIZE, LENGTH = 1024, 100


def _elementwise(size):
    def chain(x):
        for _ in range(20):
            x = jnp.sin(x) * 2.0 + jnp.where(x > 0.0, x, 1.0)
        return x

    return chain, (np.linspace(-1.0, 1.0, size, dtype=np.float32),)


def _matmul(size):
    def product(x, y):
        for _ in range(4):
            x = x @ y
        return x

    square = np.full((size, size), 1.0 / size, dtype=np.float32)
    return product, (square, square)


def _scan(length):
    def accumulate(init, xs):
        def body(carry, x):
            carry = jnp.tanh(carry + x)
            return carry, carry.sum()

        return jax.lax.scan(body, init, xs)

    return accumulate, (np.zeros(8, np.float32), np.ones((length, 8), np.float32))


def _while_loop(length):
    def halve(x, length):
        def cond_fun(carry):
            return carry[0] < length

        def body_fun(carry):
            return carry[0] + 1, jnp.tanh(carry[1] * 0.5)

        return jax.lax.while_loop(cond_fun, body_fun, (0, x))

    return halve, (np.ones(8, np.float32), np.int32(length))


class Elementwise(_phases.Host, _phases.FirstCall, _phases.Steady):
    """A chain of 20 sines, products and selections on one vector of 1024 float32."""

    version = "1"

    def make(self):
        """Make the chain."""
        return _elementwise(SIZE)


class Matmul(_phases.Steady, _phases.DeviceBusy):
    """Four products in a row of two square matrices of float32; 64 shows the dispatch, and 512 takes milliseconds.

    If dispatch takes as long as execution at 512, it is not asynchronous.
    """

    version = "1"
    params = (64, 512)
    param_names = ("size",)

    def make(self, size):
        """Make the products."""
        return _matmul(size)

    def time_dispatch(self, size):
        """Time a call until it returns, ten to a sample, each of them waited for."""
        super().time_dispatch(size)

    time_dispatch.number = 10
    time_dispatch.repeat = (5, 20, 0.1)


class Scan(_phases.Host, _phases.Steady):
    """A scan of 100 steps of tanh over a carry of 8 float32, that stacks a sum."""

    version = "1"

    def make(self):
        """Make the scan."""
        return _scan(LENGTH)


class WhileLoop(_phases.Host, _phases.Steady):
    """A while loop of 100 steps of tanh over 8 float32; the number of steps is an argument."""

    version = "1"

    def make(self):
        """Make the loop."""
        return _while_loop(LENGTH)


class Counts(_phases.Counts):
    """The counts of the above, at their default sizes; the product at 64."""

    version = "1"
    params = ("elementwise", "matmul", "scan", "while_loop")

    def setup_cache(self):
        """Count."""
        return self.counted()

    def make(self, workload):
        """Make a workload by its name."""
        return {
            "elementwise": lambda: _elementwise(SIZE),
            "matmul": lambda: _matmul(64),
            "scan": lambda: _scan(LENGTH),
            "while_loop": lambda: _while_loop(LENGTH),
        }[workload]()


class ElementwiseLarge(_phases.Steady, _phases.DeviceBusy):
    """The chain on a vector of ten million float32: 40 MB."""

    version = "1"

    def make(self):
        """Make the chain."""
        return _elementwise(10_000_000)


class MatmulLarge(_phases.Steady, _phases.DeviceBusy):
    """Four products of square float32 matrices of 2048 and, only on an accelerator, 4096."""

    version = "1"
    params = (2048, 4096)
    param_names = ("size",)

    def make(self, size):
        """Make the products."""
        if size > 2048 and jax.default_backend() == "cpu":
            _phases.not_applicable("a call takes ten seconds on a CPU")
        return _matmul(size)


class LoopsLarge(_phases.Executing, _phases.DeviceBusy):
    """The scan and the while loop, with 100 000 steps."""

    version = "1"
    params = ("scan", "while_loop")
    param_names = ("loop",)

    def make(self, loop):
        """Make a loop."""
        return {"scan": _scan, "while_loop": _while_loop}[loop](100_000)
