"""Equinox's LayerNorm and GroupNorm give zeros for large float16 input, up to 0.11.7

    layer = eqx.nn.LayerNorm(64, dtype=jnp.float16)                  # dtype= from 0.11.4; cast its leaves before
    layer(jnp.full(64, 300.0, jnp.float16).at[::2].multiply(-1))     # all 0 up to Equinox 0.11.7, should be -1 and 1

The variance is computed in the dtype of the input. 300 squared is more than float16 can hold, the variance is
infinite, and a number over infinity is 0: no error and no NaN. Values round 300 are nothing special inside a network.
equinox#723 mended `RMSNorm`, which squares too, in 0.11.5; equinox#876, in 0.11.8, has all three compute in float32 at
least and give back the dtype of their input.

Seen in these runs:

- `LayerNorm` and `GroupNorm` give zeros up to 0.11.7, three releases longer than `RMSNorm`.
- A dtype changed with the repair. A float32 layer on float16 input gives float32 up to 0.11.7, and float16 from 0.11.8
  on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def layer_norm() -> tuple[str, str]:
    """Is a float16 LayerNorm of -300 and 300 right?"""
    import equinox as eqx
    import jax
    import numpy as np

    layer = jax.tree_util.tree_map(lambda leaf: leaf.astype("float16"), eqx.nn.LayerNorm(64))
    x = np.array([-300.0, 300.0] * 32, np.float16)
    return compare(np.asarray(layer(jax.numpy.asarray(x)))[:2], [-1.0, 1.0], rtol=1e-2)


def float32() -> None:
    """The same layers and numbers in float32 are right."""
    import equinox as eqx
    import jax.numpy as jnp
    import numpy as np

    x = np.array([-300.0, 300.0] * 32, np.float32)
    for layer in (eqx.nn.LayerNorm(64), eqx.nn.GroupNorm(4, 64)):
        np.testing.assert_allclose(layer(jnp.asarray(x))[:2], [-1.0, 1.0], rtol=1e-4)


def cast_round_it() -> None:
    """A float32 layer, its input cast to float32 and its output back."""
    import equinox as eqx
    import jax.numpy as jnp
    import numpy as np

    x = jnp.asarray([-300.0, 300.0] * 32, jnp.float16)
    layers = [eqx.nn.LayerNorm(64), eqx.nn.GroupNorm(4, 64)]
    layers += [eqx.nn.RMSNorm(64)] if hasattr(eqx.nn, "RMSNorm") else []
    for layer in layers:
        got = layer(x.astype(jnp.float32)).astype(x.dtype)
        assert got.dtype == jnp.float16
        np.testing.assert_allclose(np.asarray(got, float)[:2], [-1.0, 1.0], rtol=1e-2)


def group_norm() -> tuple[str, str]:
    """Is a float16 GroupNorm of -300 and 300 right?"""
    import equinox as eqx
    import jax
    import numpy as np

    layer = jax.tree_util.tree_map(lambda leaf: leaf.astype("float16"), eqx.nn.GroupNorm(4, 64))
    x = np.array([-300.0, 300.0] * 32, np.float16)
    return compare(np.asarray(layer(jax.numpy.asarray(x)))[:2], [-1.0, 1.0], rtol=1e-2)


def rms_norm() -> tuple[str, str]:
    """Is a float16 RMSNorm of -300 and 300 right?"""
    import equinox as eqx
    import jax
    import numpy as np

    if not hasattr(eqx.nn, "RMSNorm"):
        return "absent", "equinox.nn has no RMSNorm"
    layer = jax.tree_util.tree_map(lambda leaf: leaf.astype("float16"), eqx.nn.RMSNorm(64))
    x = np.array([-300.0, 300.0] * 32, np.float16)
    return compare(np.asarray(layer(jax.numpy.asarray(x)))[:2], [-1.0, 1.0], rtol=1e-2)


def dtype_of_a_float32_layer() -> tuple[str, str]:
    """Does a float32 LayerNorm of float16 input give float32?"""
    import equinox as eqx
    import jax.numpy as jnp

    given = eqx.nn.LayerNorm(64)(jnp.arange(64, dtype="float16")).dtype.name
    return {"float32": "promoted", "float16": "input-dtype"}.get(given, "other-dtype"), given


_CAST = Workaround("Cast round it: layer(x.astype(jnp.float32)).astype(x.dtype), with a float32 layer.", cast_round_it)
_ALL = "equinox#876 (e2d7e38) computes in float32 at least"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="equinox#723", change="equinox#876"),
    touches=("equinox.nn.LayerNorm", "equinox.nn.GroupNorm", "equinox.nn.RMSNorm"),
    control=float32,
    rules=(Rule("differs", "equinox<0.11.8", "the variance overflows"), Rule("agrees", "", _ALL)),
    workaround=_CAST,
    needs=("jax", "equinox"),
    cases=(
        Case(layer_norm),
        Case(group_norm),
        Case(
            rms_norm,
            rules=(
                Rule("absent", "equinox<0.11.3"),
                Rule("differs", "equinox<0.11.5", "the square overflows"),
                Rule("agrees", "", "equinox#723 (8911e17)"),
            ),
        ),
        Case(
            dtype_of_a_float32_layer,
            behaviours={"promoted": "clear", "input-dtype": "documented", "other-dtype": "different"},
            rules=(
                Rule("promoted", "equinox<0.11.8", "jax's own promotion"),
                Rule("input-dtype", "", f"{_ALL}, and casts back on purpose"),
            ),
        ),
    ),
)
