"""jnp.floor_divide and divmod of floats by zero give NaN, not infinity

JAX computed the quotient from the remainder, which is NaN for a division by zero (jax#37926). jax#31716 was rolled back
because downstream tests broke (jax#37926); jax#38017 fixes floats. A maintainer says that integer division by zero is
undefined, so JAX's result is not incorrect (`integers`, jax#11990, jax#37926).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def floor_divide() -> tuple[str, str]:
    """Does jnp.floor_divide of 1, -1, 0 and infinity by 0.0 agree with NumPy?"""
    import jax.numpy as jnp

    inf, nan = float("inf"), float("nan")
    return compare(jnp.floor_divide(jnp.array([1.0, -1.0, 0.0, inf]), 0.0), [inf, -inf, nan, inf])


def not_zero() -> None:
    """jnp.divmod by 2, jnp.floor_divide by infinity, and true division by zero, agree with NumPy."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([7.0, -7.0, 0.5])
    np.testing.assert_array_equal(jnp.stack(jnp.divmod(x, 2.0)), [[3.0, -4.0, 0.0], [1.0, 1.0, 0.5]])
    np.testing.assert_array_equal(jnp.floor_divide(x, jnp.inf), [0.0, -1.0, 0.0])
    np.testing.assert_array_equal(jnp.array([1.0, -1.0]) / 0.0, [np.inf, -np.inf])


def true_quotient_by_zero() -> None:
    """With x / y where y is 0, and jnp.floor_divide elsewhere, quotients agree with NumPy, also 1.0 by 0.1."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([1.0, -1.0, 0.0, jnp.inf, 7.0, -7.0, 1.0])
    y = jnp.array([0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 0.1])
    got = jnp.where(y == 0, x / y, jnp.floor_divide(x, y))
    np.testing.assert_array_equal(got, [np.inf, -np.inf, np.nan, np.inf, 3.0, -4.0, 9.0])


def quotient(x: Any, y: Any) -> Any:
    """Return x / y where y is 0, and jnp.floor_divide(x, y) elsewhere."""
    import jax.numpy as jnp

    return jnp.where(y == 0, x / y, jnp.floor_divide(x, y))


def numpy_quotient(x: Any, y: Any) -> Any:
    """Return NumPy's quotient, without its warnings."""
    import numpy as np

    with np.errstate(all="ignore"):
        return np.floor_divide(x, y)


def quotients_by_tenths() -> None:
    """For 1 to 2000 and special values, divided by 0.1, 0.7 and both zeros, quotients agree with np.divmod."""
    import jax.numpy as jnp
    import numpy as np

    inf, nan = np.inf, np.nan
    x = np.concatenate([np.arange(1.0, 2001.0), [0.0, -0.0, inf, -inf, nan, -4.2, 1e-30]]).astype(np.float32)
    for divisor in (0.1, 0.7, -0.1, 3.0, 0.0, -0.0, inf, nan):
        y = np.full(x.shape, divisor, np.float32)
        got = jnp.where(jnp.asarray(y) == 0, jnp.asarray(x) / y, jnp.divmod(jnp.asarray(x), y)[0])
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(got, np.divmod(x, y)[0])


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
    """If 0 is the divisor, dividing by 1 and replacing the quotient by 0 agrees with NumPy."""
    import jax.numpy as jnp

    x, y = jnp.array([7, -7, 7]), jnp.array([0, 0, 2])
    assert jnp.where(y == 0, 0, x // jnp.where(y == 0, 1, y)).tolist() == [0, 0, 3]


def masked(x: Any, y: Any) -> Any:
    """Divide by 1 instead of 0, and replace that quotient by 0."""
    import jax.numpy as jnp

    return jnp.where(y == 0, 0, x // jnp.where(y == 0, 1, y))


_NEW = "jax#38017 (e90fa10f79)"

_FLOATS = (
    "float32 vector, zero float32 vector",
    "float32 matrix, float32 matrix",
    "float16 matrix, positive float16 scalar",
    "float32 scalar, zero float32 scalar",
    "float32 batch, zero float32 scalar",
    "float32 empty, float32 empty",
)
_INTEGERS = (
    "int32 matrix, zero int32 matrix",
    "uint8 vector, uint8 vector",
    "int16 vector, zero int16 scalar",
    "int8 scalar, int8 scalar",
    "int32 batch, int32 batch",
    "int32 empty, int32 empty",
)
_QUOTIENT = (
    "jax.numpy.floor_divide(x1, x2) if x2 == 0 and not within('jax.numpy.where')",
    "jax.Array.__floordiv__",
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#37752 jax#31698 jax#11990 jax#37819", fix="jax#38017", attempt="jax#31716 jax#37926 jax#25032"
    ),
    control=not_zero,
    rules=(Rule("differs", "jax<0.10.2", "jax#31716 was rolled back (fcdbb28d23)"), Rule("agrees", "", _NEW)),
    workaround=Workaround(
        "For floats, take jnp.where(y==0, x/y, jnp.floor_divide(x, y)); gradients where y is 0 are not finite.",
        true_quotient_by_zero,
        elsewhere=Elsewhere(quotient, numpy_quotient, _FLOATS),
    ),
    cases=(
        Case(floor_divide, touches=_QUOTIENT),
        Case(
            divmod_quotient,
            workaround=Workaround(
                "For floats, take jnp.where(y==0, x/y, jnp.divmod(x, y)[0]); gradients where y is 0 are not finite.",
                true_quotient_by_zero,
                elsewhere=quotients_by_tenths,
            ),
            touches=("jax.numpy.divmod(x1, x2) if x2 == 0 and not within('jax.numpy.where')",),
        ),
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
            workaround=Workaround(
                "For integers, mask the divisor: jnp.where(y==0, 0, x//jnp.where(y==0, 1, y)).",
                mask,
                elsewhere=Elsewhere(masked, numpy_quotient, _INTEGERS),
            ),
            touches=_QUOTIENT,
        ),
    ),
)
