"""Training steps: an Equinox MLP, and a transformer. Each step computes a loss and its gradient, and updates the model.

The model's arrays are arguments of `jax.jit`, which closes over the rest, so that the phases can be separated on all
releases. `filter_overhead` measures the additional cost of `filter_jit` and `filter_grad`.
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
        return np.full(leaf.shape, 0.01, leaf.dtype) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf

    return jax.tree_util.tree_map(fill, shapes)


def _step(model, loss, *batch):
    arrays, static = eqx.partition(model, lambda leaf: isinstance(leaf, np.ndarray))

    def step(arrays, *batch):
        value, gradient = jax.value_and_grad(lambda arrays: loss(eqx.combine(arrays, static), *batch))(arrays)
        return value, jax.tree_util.tree_map(lambda array, slope: array - 1e-3 * slope, arrays, gradient)

    return step, (arrays, *batch)


def _mlp(width, depth, batch):
    model = _initial(lambda key: eqx.nn.MLP(8, 1, width_size=width, depth=depth, activation=jax.nn.relu, key=key))

    def loss(model, x, y):
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    return _step(model, loss, np.ones((batch, 8), np.float32), np.ones((batch, 1), np.float32))


class _Block(eqx.Module):
    norms: tuple
    attention: eqx.nn.MultiheadAttention
    mlp: eqx.nn.MLP

    def __init__(self, width, heads, *, key):
        first, second = jax.random.split(key)
        self.norms = (eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width))
        self.attention = eqx.nn.MultiheadAttention(heads, width, key=first)
        self.mlp = eqx.nn.MLP(width, width, 4 * width, 1, activation=jax.nn.gelu, key=second)

    def __call__(self, x):
        normed = jax.vmap(self.norms[0])(x)
        mask = jnp.tril(jnp.ones((len(x), len(x)), dtype=bool))
        x = x + self.attention(normed, normed, normed, mask)
        return x + jax.vmap(self.mlp)(jax.vmap(self.norms[1])(x))


class _Transformer(eqx.Module):
    embedding: eqx.nn.Embedding
    blocks: list
    head: eqx.nn.Linear

    def __init__(self, vocabulary, width, heads, depth, *, key):
        first, last, *rest = jax.random.split(key, depth + 2)
        self.embedding = eqx.nn.Embedding(vocabulary, width, key=first)
        self.blocks = [_Block(width, heads, key=key) for key in rest]
        self.head = eqx.nn.Linear(width, vocabulary, key=last)

    def __call__(self, tokens):
        x = jax.vmap(self.embedding)(tokens)
        for block in self.blocks:
            x = block(x)
        return jax.vmap(self.head)(x)


def _transformer(width, heads, depth, batch, length):
    model = _initial(lambda key: _Transformer(64, width, heads, depth, key=key))

    def loss(model, tokens):
        logits = jax.vmap(model)(tokens[:, :-1])
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], axis=-1).mean()

    return _step(model, loss, np.zeros((batch, length + 1), dtype=np.int32))


class Mlp(_phases.Host, _phases.FirstCall, _phases.Steady):
    """An `eqx.nn.MLP` of 3 hidden layers of 64, 8 in and 1 out, mean squared error over 128 rows, float32."""

    version = "1"

    def make(self):
        """Make the step."""
        return _mlp(64, 3, 128)


class Transformer(_phases.Slow, _phases.Host, _phases.Executing):
    """One block, width 32, 4 heads, causal, vocabulary of 64, 4 sequences of 32 tokens, cross entropy, float32."""

    version = "1"

    def make(self):
        """Make the step."""
        return _transformer(32, 4, 1, 4, 32)


class Counts(_phases.Counts):
    """The counts of both steps."""

    version = "1"
    params = ("mlp", "transformer")

    def setup_cache(self):
        """Count."""
        return self.counted()

    def make(self, workload):
        """Make a step by its name."""
        return {"mlp": Mlp, "transformer": Transformer}[workload]().make()


class MlpLarge(_phases.Steady, _phases.DeviceBusy):
    """An MLP of 4 hidden layers of 2048 over 4096 rows: 130 GFLOP a step."""

    version = "1"

    def make(self):
        """Make the step."""
        return _mlp(2048, 4, 4096)


class TransformerLarge(_phases.Host, _phases.FirstCall, _phases.Steady, _phases.DeviceBusy):
    """Eight blocks, width 512, 8 heads, 8 sequences of 256 tokens."""

    version = "1"
    timeout = 600.0
    repeat = (2, 3, 0.1)

    def make(self):
        """Make the step."""
        return _transformer(512, 8, 8, 8, 256)
