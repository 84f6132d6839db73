"""jnp.pad with constant_values=(before, after) fills corners with the wrong constant

    jnp.pad(x, 1, constant_values=(1, 2))    # x of shape (3, 3): the lower left corner is 2, and NumPy has 1 there

You'd expect NumPy's answer, which pads one axis after the other, so that the last axis has the last word in a corner.
jax 0.4.36 (jax#24896, made for a shorter jaxpr) padded all axes before, then all axes after. jax#26888 found it in
March 2025, and the next release has it right again.

Seen in these runs:

- `((1, 2),) * ndim` is right where the tuple is wrong. An array `[1, 2]` is as wrong as the tuple.
- The gradient by the two constants is wrong with it: it counts the wrong elements for each. It was taken by the padded
  array too; for the constants alone see pad-value-gradient-fails.
- In three dimensions the edges that join two corners are wrong as well, 9 of the 64 elements of a padded 2 x 2 x 2.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def tuple_of_two() -> tuple[str, str]:
    """Is jnp.pad(x, 1, constant_values=(1, 2)) of a matrix NumPy's?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.arange(10, 19).reshape(3, 3)
    return compare(jnp.pad(x, 1, constant_values=(1, 2)), np.pad(x, 1, constant_values=(1, 2)))


def control_one_constant() -> None:
    """One constant, and two for a single axis, are padded as NumPy does."""
    import jax.numpy as jnp
    import numpy as np

    x = np.arange(9).reshape(3, 3)
    assert np.array_equal(jnp.pad(x, 2, constant_values=7), np.pad(x, 2, constant_values=7))
    assert np.array_equal(jnp.pad(x[0], 2, constant_values=(1, 2)), np.pad(x[0], 2, constant_values=(1, 2)))


def a_pair_for_each_axis() -> None:
    """Two constants written out for each axis are padded as NumPy does, the matrix and the gradient alike."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    for x in (np.arange(9.0).reshape(3, 3), np.ones((2, 2, 2))):
        pairs = ((1, 2),) * x.ndim
        assert np.array_equal(jnp.pad(x, 1, constant_values=pairs), np.pad(x, 1, constant_values=(1, 2)))
    both = jax.grad(lambda x, pair: jnp.pad(x, 2, constant_values=jnp.stack([pair] * 2)).sum(), argnums=(0, 1))
    assert both(jnp.zeros((3, 3)), jnp.array([1.0, 2.0]))[1].tolist() == [20.0, 20.0]


def jitted_3d() -> tuple[str, str]:
    """Is it under jit, of a float array with three axes, the constants in an array?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x, constants = np.ones((2, 2, 2), np.float32), np.array([0.5, -0.5], np.float32)
    padded = jax.jit(lambda x, constants: jnp.pad(x, 1, constant_values=constants))(x, constants)
    return compare(padded, np.pad(x, 1, constant_values=constants))


def gradient() -> tuple[str, str]:
    """Is the gradient of the sum of a padded matrix, by the two constants, how often NumPy uses each?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x, constants = np.zeros((3, 3), np.float32), np.array([1.0, 2.0], np.float32)
    both = jax.grad(lambda x, constants: jnp.pad(x, 2, constant_values=constants).sum(), argnums=(0, 1))
    padded = np.pad(x, 2, constant_values=(1.0, 2.0))
    return compare(both(x, constants)[1], [(padded == 1.0).sum(), (padded == 2.0).sum()])


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#26888", cause="jax#24896", fix="jax@7f05b74bca"),
    touches=(
        "jax.numpy.pad(array, pad_width, mode, constant_values) "
        "if given(constant_values) and unseen and type(constant_values) not in ('int', 'float')",
    ),
    control=control_one_constant,
    rules=(
        Rule("differs", "jax>=0.4.36,<0.5.3", "jax#24896 came with 0.4.36"),
        Rule("agrees", "", "0.5.3 has 7f05b74bca"),
    ),
    workaround=Workaround(
        "Write the pair out for each axis: constant_values=((a, b),) * x.ndim.", a_pair_for_each_axis
    ),
    cases=(Case(tuple_of_two, pictured=True), Case(jitted_3d), Case(gradient)),
)
