"""eqx.filter_vmap with out_axes of 2 or more, or -1, permutes the output's axes

    eqx.filter_vmap(f, out_axes=-1)(x)    # x of shape (2, 3, 4), f elementwise: (4, 3, 2); jax.vmap gives (3, 4, 2)

You'd expect the mapped axis where `out_axes` says, and the others in their order, as `jax.vmap` puts them. Up to
Equinox 0.11.8 `filter_vmap` swapped the first axis with the one named, which is the same only for the axes 0 and 1.
Where the sizes are equal nothing shows it: the shape is right, and two axes are transposed. equinox#901, in 0.11.9,
moves the axis. The report is of one elementwise function, and of shapes that differ.

Seen in these runs:

- An ensemble of models made with `out_axes=eqx.if_array(-1)` has each member's weight transposed, up to 0.11.8. Where
  the weight is square there is no error.
- `filter_pmap`, which the pull request tests too, is right from Equinox 0.11.0 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def equal_sizes() -> tuple[str, str]:
    """Is eqx.filter_vmap(f, out_axes=2) what jax.vmap gives, where all sizes are equal?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    x = jnp.arange(8).reshape(2, 2, 2)
    got, wanted = eqx.filter_vmap(lambda x: x * 2, out_axes=2)(x), jax.vmap(lambda x: x * 2, out_axes=2)(x)
    return compare(got, wanted)


def control_axes() -> None:
    """Axes 0, 1 and -2, and eqx.filter_pmap with any, are right everywhere."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    x = jnp.arange(24).reshape(1, 2, 3, 4)
    for axis in (0, 1):
        assert jnp.array_equal(eqx.filter_vmap(lambda x: x * 2, out_axes=axis)(x), jnp.moveaxis(x * 2, 0, axis))
    for axis in range(4):
        assert jnp.array_equal(eqx.filter_pmap(lambda x: x * 2, out_axes=axis)(x), jnp.moveaxis(x * 2, 0, axis))
    assert eqx.filter_vmap(lambda x: x, out_axes=-2)(x[0]).shape == jax.vmap(lambda x: x, out_axes=-2)(x[0]).shape


def move_it_yourself() -> None:
    """The axis is moved after a `filter_vmap` with out_axes=0; for arrays alone `jax.vmap` does it."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    x = jnp.arange(24).reshape(2, 3, 4)
    wanted = jnp.moveaxis(x * 2, 0, -1)
    assert jnp.array_equal(jnp.moveaxis(eqx.filter_vmap(lambda x: x * 2)(x), 0, -1), wanted)
    assert jnp.array_equal(jax.vmap(lambda x: x * 2, out_axes=-1)(x), wanted)


def last_axis() -> tuple[str, str]:
    """Does eqx.filter_vmap put a batch that comes last back there: in_axes=-1, out_axes=-1?"""
    import equinox as eqx
    import jax.numpy as jnp

    x = jnp.arange(24).reshape(2, 3, 4)
    return compare(eqx.filter_vmap(lambda x: x * 2, in_axes=-1, out_axes=-1)(x), x * 2)


def ensemble() -> tuple[str, str]:
    """Are the members of an ensemble, stacked by eqx.filter_vmap along the last axis, the models that were made?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.PRNGKey(0), 2)
    stacked = eqx.filter_vmap(lambda key: eqx.nn.Linear(2, 2, key=key), out_axes=eqx.if_array(-1))(keys)
    made = [eqx.nn.Linear(2, 2, key=key).weight for key in keys]
    return compare(stacked.weight, jnp.stack(made, axis=-1))


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="equinox#900", fix="equinox#901"),
    touches=("equinox.filter_vmap(out_axes=)",),
    control=control_axes,
    rules=(Rule("differs", "equinox<0.11.9", "swapaxes, not moveaxis"), Rule("agrees", "", "equinox#901 (62dbabad79)")),
    workaround=Workaround("Leave out_axes at 0 and apply jnp.moveaxis, or use jax.vmap for arrays.", move_it_yourself),
    needs=("jax", "equinox"),
    cases=(Case(equal_sizes), Case(last_axis), Case(ensemble)),
)
