"""RotaryPositionalEmbedding rotates with the theta of another layer

    eqx.nn.RotaryPositionalEmbedding(64, theta=1e4)(x)
    eqx.nn.RotaryPositionalEmbedding(64, theta=1e6)(x)    # the same as the line above

You'd expect each layer to have its own `theta`. The sines and cosines are kept in a cache of the module, by
`embedding_size`, and since Equinox 0.11.6 by dtype too (equinox#836). The cache came with the layer (equinox#568), and
`theta` later (equinox#735); it is not part of the key. So the layer that is called
first decides for all of one size in the process. Code with one theta notices nothing; two models side by side, a
comparison of thetas, or a test that runs before another, gives wrong numbers without an error, on every release that
has `theta`.

Seen in these runs:

- A layer's own `theta` is ignored.
- It also depends on the lengths. A longer input makes the entry anew, with the theta of the layer that it is given to,
  and from then on the layer that was right is wrong.
- Up to 0.11.5 float16 and bfloat16 input gave float32; equinox#836 gives back the dtype of the input.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def second_layer() -> tuple[str, str]:
    """Does a second layer, of the same size and another theta, rotate with its own theta?"""
    import inspect

    import equinox as eqx
    import jax.numpy as jnp
    import numpy as np

    layer = getattr(eqx.nn, "RotaryPositionalEmbedding", None)
    if layer is None or "theta" not in inspect.signature(layer).parameters:
        return "absent", "there is no RotaryPositionalEmbedding with a theta"
    layer(4, theta=100.0)(jnp.ones((2, 4)))
    # At the second position the second of two pairs is turned by theta ** -0.5.
    got = np.asarray(layer(4, theta=10000.0)(jnp.ones((2, 4))))[1, [1, 3]]
    return compare(got, [np.cos(0.01) - np.sin(0.01), np.cos(0.01) + np.sin(0.01)], rtol=1e-4)


def control_one_theta() -> None:
    """The first layer of a size is right, whatever its theta."""
    import inspect

    import equinox as eqx
    import jax.numpy as jnp
    import numpy as np

    layer = getattr(eqx.nn, "RotaryPositionalEmbedding", None)
    if layer is None or "theta" not in inspect.signature(layer).parameters:
        return
    got = layer(12, theta=64.0)(jnp.ones((2, 12)))[1, [3, 9]]
    turn = 64.0**-0.5
    np.testing.assert_allclose(got, [np.cos(turn) - np.sin(turn), np.cos(turn) + np.sin(turn)], rtol=1e-4)


def by_hand() -> None:
    """The rotation in eight lines, without a cache."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def rotate(x: jax.Array, theta: float) -> jax.Array:
        length, size = x.shape
        turns = jnp.outer(jnp.arange(float(length)), theta ** -(jnp.arange(0.0, size, 2) / size))
        cos, sin = jnp.tile(jnp.cos(turns), (1, 2)), jnp.tile(jnp.sin(turns), (1, 2))
        half = jnp.concatenate([-x[:, size // 2 :], x[:, : size // 2]], axis=-1)
        return (x * cos + half * sin).astype(x.dtype)

    for theta in (100.0, 10000.0):
        turn = theta**-0.5
        wanted = [np.cos(turn) - np.sin(turn), np.cos(turn) + np.sin(turn)]
        np.testing.assert_allclose(rotate(jnp.ones((2, 4)), theta)[1, [1, 3]], wanted, rtol=1e-4)
    assert rotate(jnp.ones((2, 4), "float16"), 100.0).dtype == jnp.float16


def first_layer_again() -> tuple[str, str]:
    """Is the first layer what it was, after another has been given a longer input?"""
    import inspect

    import equinox as eqx
    import jax.numpy as jnp
    import numpy as np

    layer = getattr(eqx.nn, "RotaryPositionalEmbedding", None)
    if layer is None or "theta" not in inspect.signature(layer).parameters:
        return "absent", "there is no RotaryPositionalEmbedding with a theta"
    first, x = layer(6, theta=10000.0), jnp.ones((2, 6))
    before = np.asarray(first(x))[1]
    layer(6, theta=100.0)(jnp.ones((3, 6)))
    return compare(np.asarray(first(x))[1], before)


def dtype_of_half_precision() -> tuple[str, str]:
    """Does float16 input give float16?"""
    import equinox as eqx
    import jax.numpy as jnp

    if not hasattr(eqx.nn, "RotaryPositionalEmbedding"):
        return "absent", "there is no RotaryPositionalEmbedding"
    given = eqx.nn.RotaryPositionalEmbedding(8)(jnp.ones((2, 8), "float16")).dtype.name
    return {"float32": "promoted", "float16": "input-dtype"}.get(given, "other-dtype"), given


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(cause="equinox#568 equinox#735", fix="equinox#836", docs="equinox:api/nn/embedding"),
    touches=("equinox.nn.RotaryPositionalEmbedding",),
    control=control_one_theta,
    rules=(Rule("absent", "equinox<0.11.5"), Rule("differs", "", "theta is no part of the key")),
    workaround=Workaround("Rotate by hand, without the cache, or have one theta for each size in a process.", by_hand),
    needs=("jax", "equinox"),
    cases=(
        Case(second_layer),
        Case(first_layer_again),
        Case(
            dtype_of_half_precision,
            behaviours={"promoted": "affected", "input-dtype": "clear", "other-dtype": "different"},
            rules=(
                Rule("absent", "equinox<0.11.4"),
                Rule("promoted", "equinox<0.11.6"),
                Rule("input-dtype", "", "equinox#836 (ffc0985)"),
            ),
        ),
    ),
)
