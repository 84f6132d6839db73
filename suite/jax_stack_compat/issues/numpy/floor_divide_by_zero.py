"""jnp.floor_divide and divmod of floats by zero give NaN, not infinity, up to jax 0.10.1

    jnp.floor_divide(1.0, 0.0)     # nan up to jax 0.10.1, should be inf
    jnp.divmod(-1.0, 0.0)          # (nan, nan) up to jax 0.10.1, should be (-inf, nan)

The quotient was `(x - remainder) / y`, and the remainder of a division by zero is NaN. x / y was infinite all the time.
Code that tests for infinity sees nothing. jax#31698 and jax#31716 of September 2025 are about it; the repair was rolled
back the day it was merged, and 0.7.2, the next release, is as before. jax#37752 came in May 2026, jax#38017 mended
floats again, and 0.10.2 is the first release that has it.

Integers were left: 7 // 0 is -2 on every release, where NumPy has 0. XLA's quotient is -1, and the rounding down takes
one more. jax#11990 is open since 2022; in jax#37926 a maintainer calls integer division by zero undefined and -2 not
incorrect.

Seen in these runs:

- `jnp.uint8(7) // 0` is 254 up to 0.4.25 and 255 from 0.4.26 on.
- Infinity by zero is NaN as well, up to 0.10.1.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def floor_divide() -> tuple[str, str]:
    """Is the floored quotient of 1, -1, 0 and infinity by 0.0 that of NumPy?"""
    import jax.numpy as jnp

    inf, nan = float("inf"), float("nan")
    return compare(jnp.floor_divide(jnp.array([1.0, -1.0, 0.0, inf]), 0.0), [inf, -inf, nan, inf])


def not_zero() -> None:
    """By anything but zero, infinity too, both are right; and so is the true quotient by zero."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([7.0, -7.0, 0.5])
    np.testing.assert_array_equal(jnp.stack(jnp.divmod(x, 2.0)), [[3.0, -4.0, 0.0], [1.0, 1.0, 0.5]])
    np.testing.assert_array_equal(jnp.floor_divide(x, jnp.inf), [0.0, -1.0, 0.0])
    np.testing.assert_array_equal(jnp.array([1.0, -1.0]) / 0.0, [np.inf, -np.inf])


def floor_of_the_quotient() -> None:
    """The true quotient rounded down."""
    import jax.numpy as jnp
    import numpy as np

    x, y = jnp.array([1.0, -1.0, 7.0, -7.0]), jnp.array([0.0, 0.0, 2.0, 2.0])
    np.testing.assert_array_equal(jnp.floor(x / y), [np.inf, -np.inf, 3.0, -4.0])


def divmod_quotient() -> tuple[str, str]:
    """Is the first of divmod(x, 0.0) infinite, and the second NaN?"""
    import jax.numpy as jnp

    inf, nan = float("inf"), float("nan")
    return compare(jnp.stack(jnp.divmod(jnp.array([1.0, -1.0]), 0.0)), [[inf, -inf], [nan, nan]])


def integers() -> tuple[str, str]:
    """Is the quotient of integers by 0 the 0 of NumPy?"""
    import jax.numpy as jnp

    signed = jnp.floor_divide(jnp.array([7, -7, 0]), 0).tolist()
    unsigned = int(jnp.floor_divide(jnp.array(7, "uint8"), jnp.array(0, "uint8")))
    named = {(-2, -2, -1, 254): "minus-two-and-254", (-2, -2, -1, 255): "minus-two-and-255", (0, 0, 0, 0): "zero"}
    return named.get((*signed, unsigned), "other"), f"7, -7, 0 by 0: {signed}; uint8 7 by 0: {unsigned}"


def mask() -> None:
    """The divisor 0 made 1 first, and its result 0."""
    import jax.numpy as jnp

    x, y = jnp.array([7, -7, 7]), jnp.array([0, 0, 2])
    assert jnp.where(y == 0, 0, x // jnp.where(y == 0, 1, y)).tolist() == [0, 0, 3]


_NEW = "jax#38017 (e90fa10f79)"

_QUOTIENT = ("jax.numpy.floor_divide(x1, x2) if x2 == 0", "jax.Array.__floordiv__")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#37752 jax#31698 jax#11990", fix="jax#38017 jax#31716", docs="jax#37926"),
    control=not_zero,
    rules=(Rule("differs", "jax<0.10.2", "jax#31716 was rolled back for 0.7.2 (fcdbb28d23)"), Rule("agrees", "", _NEW)),
    workaround=Workaround("Divide, and round down: jnp.floor(x / y).", floor_of_the_quotient),
    cases=(
        Case(floor_divide, touches=_QUOTIENT),
        Case(divmod_quotient, touches=("jax.numpy.divmod(x1, x2) if x2 == 0",)),
        Case(
            integers,
            behaviours={
                "minus-two-and-254": "documented",
                "minus-two-and-255": "documented",
                "zero": "clear",
                "other": "different",
            },
            rules=(
                Rule("minus-two-and-254", "jax<0.4.26"),
                Rule("minus-two-and-255", "", "e99a3051ed divides unsigned ones directly"),
            ),
            workaround=Workaround("Mask it: jnp.where(y == 0, 0, x // jnp.where(y == 0, 1, y)).", mask),
            touches=_QUOTIENT,
        ),
    ),
)
