"""jnp.floor_divide and divmod of floats by zero give NaN, not infinity

JAX computed the quotient from the remainder, which is NaN for a division by zero (jax#37926). jax#31716 was rolled back
because downstream tests broke (jax#37926); jax#38017 fixes floats. Of `integers` (jax#11990), a maintainer says that
integer division by zero is undefined, so JAX's result is not incorrect (jax#37926).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def floor_divide() -> tuple[str, str]:
    """Does jnp.floor_divide of 1, -1, 0 and infinity by 0.0 agree with NumPy?"""
    import jax.numpy as jnp

    inf, nan = float("inf"), float("nan")
    return compare(jnp.floor_divide(jnp.array([1.0, -1.0, 0.0, inf]), 0.0), [inf, -inf, nan, inf])


def not_zero() -> None:
    """Division by 2 and by infinity, and true division by zero, agree with NumPy."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([7.0, -7.0, 0.5])
    np.testing.assert_array_equal(jnp.stack(jnp.divmod(x, 2.0)), [[3.0, -4.0, 0.0], [1.0, 1.0, 0.5]])
    np.testing.assert_array_equal(jnp.floor_divide(x, jnp.inf), [0.0, -1.0, 0.0])
    np.testing.assert_array_equal(jnp.array([1.0, -1.0]) / 0.0, [np.inf, -np.inf])


def true_quotient_by_zero() -> None:
    """Where y is 0, x / y agrees with NumPy, and elsewhere jnp.floor_divide does, also for 1.0 by 0.1."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([1.0, -1.0, 0.0, jnp.inf, 7.0, -7.0, 1.0])
    y = jnp.array([0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 0.1])
    got = jnp.where(y == 0, x / y, jnp.floor_divide(x, y))
    np.testing.assert_array_equal(got, [np.inf, -np.inf, np.nan, np.inf, 3.0, -4.0, 9.0])


def divmod_quotient() -> tuple[str, str]:
    """Does jnp.divmod of 1 and -1 by 0.0 give an infinite quotient and a NaN remainder?"""
    import jax.numpy as jnp

    inf, nan = float("inf"), float("nan")
    return compare(jnp.stack(jnp.divmod(jnp.array([1.0, -1.0]), 0.0)), [[inf, -inf], [nan, nan]])


def integers() -> tuple[str, str]:
    """Does jnp.floor_divide of integers by 0 give 0, as NumPy does?"""
    import jax.numpy as jnp

    signed = jnp.floor_divide(jnp.array([7, -7, 0]), 0).tolist()
    unsigned = int(jnp.floor_divide(jnp.array(7, "uint8"), jnp.array(0, "uint8")))
    named = {(-2, -2, -1, 254): "minus-two-and-254", (-2, -2, -1, 255): "minus-two-and-255", (0, 0, 0, 0): "zero"}
    return named.get((*signed, unsigned), "other"), f"7, -7, 0 by 0: {signed}; uint8 7 by 0: {unsigned}"


def mask() -> None:
    """With the divisor 0 replaced by 1, and its result by 0, the quotients agree with NumPy."""
    import jax.numpy as jnp

    x, y = jnp.array([7, -7, 7]), jnp.array([0, 0, 2])
    assert jnp.where(y == 0, 0, x // jnp.where(y == 0, 1, y)).tolist() == [0, 0, 3]


_NEW = "jax#38017 (e90fa10f79)"

_QUOTIENT = ("jax.numpy.floor_divide(x1, x2) if x2 == 0", "jax.Array.__floordiv__")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#37752 jax#31698 jax#11990 jax#37819", fix="jax#38017", attempt="jax#31716 jax#37926 jax#25032"
    ),
    control=not_zero,
    rules=(Rule("differs", "jax<0.10.2", "jax#31716 was rolled back (fcdbb28d23)"), Rule("agrees", "", _NEW)),
    workaround=Workaround(
        "Where y is 0, divide: jnp.where(y == 0, x / y, jnp.floor_divide(x, y)).", true_quotient_by_zero
    ),
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
                Rule("minus-two-and-255", "", "e99a3051ed divides unsigned integers directly"),
            ),
            workaround=Workaround("Mask the divisor: jnp.where(y == 0, 0, x // jnp.where(y == 0, 1, y)).", mask),
            touches=_QUOTIENT,
        ),
    ),
)
