"""jnp.hypot of infinity with NaN or with infinity is NaN

JAX divided the shorter leg by the longer one, which gives NaN for two infinities, and for infinity and NaN; NumPy
returns infinity. jax#20754 returns infinity where a leg is infinite. jax#20754 also deprecates complex arguments, whose
absolute values `jnp.hypot` had taken (`complex_numbers`). Since jax@8bcd288621, complex arguments raise an error, and
its message advises `abs(x)`.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare


def infinity() -> tuple[str, str]:
    """Does jnp.hypot of infinity with NaN, and of two infinities, agree with NumPy?"""
    import jax.numpy as jnp
    import numpy as np

    x, y = np.array([[np.inf, np.nan, np.inf, -np.inf], [np.nan, -np.inf, np.inf, np.inf]], np.float32)
    return compare(jnp.hypot(jnp.asarray(x), jnp.asarray(y)), np.hypot(x, y))


def finite() -> None:
    """jnp.hypot of finite legs, and of an infinite leg with a finite one, agrees with NumPy."""
    import jax.numpy as jnp
    import numpy as np

    x, y = np.array([[3.0, np.inf, -1.0, 0.0], [-4.0, 1.0, -np.inf, 0.0]], np.float32)
    np.testing.assert_allclose(jnp.hypot(jnp.asarray(x), jnp.asarray(y)), np.hypot(x, y), rtol=1e-6)


def infinity_first() -> None:
    """With jnp.where, the hypotenuse is infinity where a leg is infinite, and 5 for 3 and 4."""
    import jax.numpy as jnp
    import numpy as np

    x, y = jnp.array([np.inf, np.nan, np.inf, 3.0]), jnp.array([np.nan, -np.inf, np.inf, 4.0])
    got = jnp.where(jnp.isinf(x) | jnp.isinf(y), jnp.inf, jnp.hypot(x, y))
    np.testing.assert_allclose(got, [np.inf, np.inf, np.inf, 5.0], rtol=1e-6)


def infinity_in_two_dtypes() -> None:
    """With jnp.where, all pairs of special and ordinary legs agree with NumPy in float16 and float32."""
    import jax.numpy as jnp
    import numpy as np

    legs = [np.inf, -np.inf, np.nan, 0.0, -0.0, 3.0, -4.0, 1e-3, 2e4]
    for dtype, rtol in ((np.float16, 2e-3), (np.float32, 1e-6)):
        x, y = np.meshgrid(np.array(legs, dtype), np.array(legs, dtype))
        got = jnp.where(jnp.isinf(x) | jnp.isinf(y), jnp.inf, jnp.hypot(jnp.asarray(x), jnp.asarray(y)))
        assert got.dtype == dtype
        np.testing.assert_allclose(got, np.hypot(x, y), rtol=rtol)


def complex_numbers() -> tuple[str, str]:
    """Does jnp.hypot accept complex numbers, and return 5 for 3j and 4?"""
    import jax.numpy as jnp

    got = float(jnp.hypot(jnp.array(3j), jnp.array(4.0)))
    return ("taken" if abs(got - 5.0) < 1e-5 else "other"), f"{got:.4g}"


def absolute_values() -> None:
    """jnp.hypot of the absolute values of 3j and 4 is 5."""
    import jax.numpy as jnp

    assert abs(float(jnp.hypot(jnp.abs(jnp.array(3j)), jnp.abs(jnp.array(4.0)))) - 5.0) < 1e-5


def of_absolute_values(x: Any, y: Any) -> Any:
    """Return jnp.hypot of absolute values."""
    import jax.numpy as jnp

    return jnp.hypot(jnp.abs(x), jnp.abs(y))


def numpy_of_absolute_values(x: Any, y: Any) -> Any:
    """Return np.hypot of absolute values."""
    import numpy as np

    return np.hypot(np.abs(x), np.abs(y))


_ABS = "('abs', 'jax.numpy.abs', 'jax.numpy.absolute', 'jax.numpy.real', 'jax.numpy.imag')"
_INF = "jax.numpy.inf"
_ODD = (_INF, "jax.numpy.nan")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax#20754", change="jax@8bcd288621", docs="jax:changelog.html"),
    control=finite,
    cases=(
        Case(
            infinity,
            rules=(Rule("differs", "jax<0.4.27"), Rule("agrees", "", "jax#20754 (2899213efb)")),
            workaround=Workaround(
                "Test for infinity: jnp.where(jnp.isinf(x) | jnp.isinf(y), jnp.inf, jnp.hypot(x, y)).",
                infinity_first,
                elsewhere=infinity_in_two_dtypes,
            ),
            touches=(
                "jax.numpy.hypot(x1, x2) if unseen and not within('jax.numpy.where')"
                " and not seen(abs(x1) < 1e30 and abs(x2) < 1e30)",
                f"jax.numpy.hypot(x1, x2) if (x1 == '{_INF}' and x2 in {_ODD} or x1 in {_ODD} and x2 == '{_INF}')"
                " and not within('jax.numpy.where')",
            ),
        ),
        Case(
            complex_numbers,
            behaviours={"taken": "clear", "other": "different", "warns": "documented", "refused": "documented"},
            rules=(
                Rule("taken", "jax<0.4.27"),
                Rule("warns", "jax<0.4.32", "jax#20754 (2899213efb)"),
                Rule("refused", "", "jax@8bcd288621, in the changelog"),
            ),
            workaround=Workaround(
                "Take absolute values first: jnp.hypot(jnp.abs(x), jnp.abs(y)).",
                absolute_values,
                elsewhere=Elsewhere(
                    of_absolute_values,
                    numpy_of_absolute_values,
                    (
                        "complex64 vector, complex64 vector",
                        "complex64 matrix, float32 matrix",
                        "float32 matrix, float32 scalar",
                        "zero complex64 batch, complex64 scalar",
                        "int32 vector, complex64 vector",
                        "complex64 empty, complex64 empty",
                    ),
                    rtol=1e-5,
                ),
            ),
            signatures={
                "warns": Signature("DeprecationWarning", "Passing complex-valued inputs to hypot is deprecated"),
                "refused": Signature("ValueError", "hypot is not well defined for complex-valued inputs"),
            },
            touches=(
                "jax.numpy.hypot(x1, x2) if type(x1) == 'complex' or type(x2) == 'complex'"
                " or (uses('jax.numpy.complex64', 'jax.numpy.complex128', 'jax.lax.complex')"
                f" and (form(x1) not in {_ABS} or form(x2) not in {_ABS}))",
            ),
        ),
    ),
)
