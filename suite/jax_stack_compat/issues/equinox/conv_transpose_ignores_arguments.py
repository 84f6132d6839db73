"""ConvTranspose3d ignores its dtype, and an output_padding that is too large is taken

    eqx.nn.ConvTranspose3d(1, 1, 3, dtype=jnp.float16, key=key).weight.dtype    # float32 up to Equinox 0.13.0
    eqx.nn.ConvTranspose2d(1, 1, 3, stride=(2, 1), output_padding=(0, 1), key=key)    # no error up to 0.13.0

You'd expect float16, as of ConvTranspose1d and 2d, and of Conv3d; and a ValueError, for the documentation has
`output_padding` below `stride` in each dimension. The argument is not passed on, and the two tuples are compared as
tuples: the first number decides. Both are mended in 0.13.1, with equinox#1044 and the commit after it.

Seen in these runs: up to 0.13.0 the check passes where the first number is in order. With a stride of 2 an
`output_padding` of (1, 5) gives an output that is five longer, and no error.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, members


def dtype_3d() -> tuple[str, str]:
    """Has a float16 ConvTranspose3d float16 weights?"""
    import inspect

    import equinox as eqx
    import jax

    if "dtype" not in inspect.signature(eqx.nn.ConvTranspose3d).parameters:
        return "absent", "ConvTranspose3d has no dtype"
    given = eqx.nn.ConvTranspose3d(1, 1, 3, dtype="float16", key=jax.random.PRNGKey(0)).weight.dtype.name
    return {"float16": "agrees", "float32": "differs"}.get(given, "other-dtype"), given


def control_siblings() -> None:
    """ConvTranspose1d and 2d, and Conv3d, take their dtype; an output_padding that is too large is refused of 1d."""
    import inspect

    import equinox as eqx
    import jax

    key = jax.random.PRNGKey(0)
    for layer in (eqx.nn.ConvTranspose1d, eqx.nn.ConvTranspose2d, eqx.nn.Conv3d):
        if "dtype" in inspect.signature(layer).parameters:
            assert layer(1, 1, 3, dtype="float16", key=key).weight.dtype == "float16", layer
    layer = eqx.nn.ConvTranspose2d(1, 1, 3, stride=2, output_padding=(1, 0), key=key)
    assert layer(jax.numpy.ones((1, 4, 4))).shape == (1, 10, 9), layer
    try:
        eqx.nn.ConvTranspose1d(1, 1, 3, stride=1, output_padding=1, key=key)
    except ValueError:
        return
    raise AssertionError("an output_padding of 1 with a stride of 1 was taken")


def cast_the_layer() -> None:
    """Its arrays cast, as one casts any layer."""
    import equinox as eqx
    import jax

    layer = eqx.nn.ConvTranspose3d(1, 1, 3, key=jax.random.PRNGKey(0))
    cast = jax.tree_util.tree_map(lambda leaf: leaf.astype("float16") if eqx.is_array(leaf) else leaf, layer)
    assert cast.weight.dtype == cast.bias.dtype == "float16"
    assert cast(jax.numpy.ones((1, 2, 2, 2), "float16")).dtype == "float16"


def output_padding() -> tuple[str, str]:
    """Is an output_padding refused that is larger than the stride, but not in the first dimension?"""
    import equinox as eqx
    import jax

    layer = eqx.nn.ConvTranspose2d(1, 1, 3, stride=2, output_padding=(1, 5), key=jax.random.PRNGKey(0))
    return "taken", f"the output of (1, 4, 4) has shape {layer(jax.numpy.ones((1, 4, 4))).shape}"


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="equinox@590c88b", change="equinox#1044"),
    touches=(
        "equinox.nn.ConvTranspose3d(dtype=)",
        *members("equinox.nn", "ConvTranspose1d ConvTranspose2d ConvTranspose3d", "(output_padding=)"),
    ),
    control=control_siblings,
    needs=("jax", "equinox"),
    cases=(
        Case(
            dtype_3d,
            behaviours={"other-dtype": "different"},
            rules=(
                Rule("absent", "equinox<0.11.4"),
                Rule("differs", "equinox<0.13.1"),
                Rule("agrees", "", "equinox#1044 (811c572)"),
            ),
            workaround=Workaround("Cast the layer: tree_map(lambda x: x.astype(dtype), layer).", cast_the_layer),
        ),
        Case(
            output_padding,
            behaviours={"taken": "affected"},
            rules=(Rule("taken", "equinox<0.13.1"), Rule("refused", "", "590c88b")),
            signatures={"refused": Signature("ValueError", "`output_padding < stride`")},
        ),
    ),
)
