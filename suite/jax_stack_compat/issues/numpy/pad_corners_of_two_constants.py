"""jnp.pad with constant_values=(before, after) fills some corners wrongly

NumPy pads one axis after another, so the constants of the last axis fill the corners. To shorten the jaxpr, jax#24896
padded the starts of all axes with the first of two constants, then the ends of all axes with the second. 7f05b74bca
pads axis by axis. `gradient` shows that the derivatives by the two constants count the wrong elements, too.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def tuple_of_two() -> tuple[str, str]:
    """Does jnp.pad(x, 1, constant_values=(1, 2)) of a matrix agree with NumPy?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.arange(10, 19).reshape(3, 3)
    return compare(jnp.pad(x, 1, constant_values=(1, 2)), np.pad(x, 1, constant_values=(1, 2)))


def control_one_constant() -> None:
    """jnp.pad agrees with NumPy for one constant, and for two constants on a single axis."""
    import jax.numpy as jnp
    import numpy as np

    x = np.arange(9).reshape(3, 3)
    assert np.array_equal(jnp.pad(x, 2, constant_values=7), np.pad(x, 2, constant_values=7))
    assert np.array_equal(jnp.pad(x[0], 2, constant_values=(1, 2)), np.pad(x[0], 2, constant_values=(1, 2)))


def a_pair_for_each_axis() -> None:
    """With a pair for each axis, jnp.pad agrees with NumPy, and the gradient counts each constant's elements."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    for x in (np.arange(9.0).reshape(3, 3), np.ones((2, 2, 2))):
        pairs = ((1, 2),) * x.ndim
        assert np.array_equal(jnp.pad(x, 1, constant_values=pairs), np.pad(x, 1, constant_values=(1, 2)))
    both = jax.grad(lambda x, pair: jnp.pad(x, 2, constant_values=jnp.stack([pair] * 2)).sum(), argnums=(0, 1))
    assert both(jnp.zeros((3, 3)), jnp.array([1.0, 2.0]))[1].tolist() == [20.0, 20.0]


def filled(x: Any) -> Any:
    """Pad each axis with one 3 before and two 4s after."""
    import jax.numpy as jnp

    return jnp.pad(x, (1, 2), constant_values=((3, 4),) * x.ndim)


def filled_by_numpy(x: Any) -> Any:
    """Pad with NumPy, from one pair of constants."""
    import numpy as np

    return np.pad(x, (1, 2), constant_values=(3, 4))


def jitted_3d() -> tuple[str, str]:
    """Does a jitted jnp.pad of three axes, with an array of two constants, agree with NumPy?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x, constants = np.ones((2, 2, 2), np.float32), np.array([0.5, -0.5], np.float32)
    padded = jax.jit(lambda x, constants: jnp.pad(x, 1, constant_values=constants))(x, constants)
    return compare(padded, np.pad(x, 1, constant_values=constants))


def gradient() -> tuple[str, str]:
    """Does the gradient of jnp.pad(x, 2, constant_values=c).sum() by c count the elements that NumPy fills?"""
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
        "jax.numpy.pad(array, pad_width, mode, constant_values) if given(constant_values) "
        "and type(constant_values) not in ('int', 'float', 'str') and form(constant_values) != '-' "
        "and type(min(constant_values)) != 'tuple' and min(constant_values) != max(constant_values) "
        "and (len(pad_width) > 1 and min(min(pad_width)) > 0 or unseen)",
    ),
    control=control_one_constant,
    rules=(
        Rule("differs", "jax>=0.4.36,<0.5.3", "jax#24896 pads the starts of all axes, then the ends of all axes"),
        Rule("agrees", "", "7f05b74bca pads axis by axis"),
    ),
    workaround=Workaround(
        "Give each axis its pair: constant_values=((before, after),) * x.ndim.",
        a_pair_for_each_axis,
        elsewhere=Elsewhere(
            filled,
            filled_by_numpy,
            ("float32 matrix", "int8 batch", "float16 vector", "float32 empty", "uint8 matrix", "complex64 square"),
        ),
    ),
    cases=(Case(tuple_of_two, pictured=True), Case(jitted_3d), Case(gradient)),
)
