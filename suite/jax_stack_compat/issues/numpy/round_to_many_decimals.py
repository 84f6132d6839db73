"""jnp.round of float32 to many decimals returns 0, NaN or infinity

`jnp.round` multiplies by `10**decimals`, rounds, and divides again. `10**39` is infinite in float32, so
`jnp.round(x, 39)` returned NaN (`to_39`, jax#31689); jax#32459 returns the number unchanged when `10**decimals`
overflows. Even if `10**decimals` is finite, its product with x can overflow (`large`); `jnp.round(x, 38)` of 1.5
returns 0 (`to_38`). `jnp.round(x, -39)` returns NaN instead of 0 (`to_minus_39`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare, members


def to_38() -> tuple[str, str]:
    """Does jnp.round(jnp.float32(1.5), 38) return 1.5?"""
    import jax.numpy as jnp

    return compare(jnp.round(jnp.float32(1.5), 38), 1.5, rtol=1e-6)


def to_two() -> None:
    """jnp.round of a float32 to 2, 0 and -1 decimals returns the rounded number."""
    import jax.numpy as jnp
    import numpy as np

    np.testing.assert_allclose([jnp.round(jnp.float32(12.345), d) for d in (2, 0, -1)], [12.34, 12.0, 10.0], rtol=1e-3)


def keep() -> None:
    """Rounding to 38 or 39 decimals changes a float32 by less than 1e-38, so x itself is the result."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([1.5, 1e9, 1e-32], jnp.float32)
    for decimals in (38, 39):
        np.testing.assert_allclose(np.round(np.asarray(x, np.float64), decimals), x, rtol=1e-6)


def kept(x: Any) -> Any:
    """Return x and x * 2.0**-100, both unrounded."""
    import jax.numpy as jnp

    return jnp.stack([x, x * 2.0**-100])


def kept_in_float64(x: Any) -> Any:
    """Round with NumPy in float64 to 38 decimals."""
    import numpy as np

    wide = np.asarray(x, np.result_type(x, np.float64))
    return np.stack([np.round(each, 38) for each in (wide, wide * 2.0**-100)])


def to_39() -> tuple[str, str]:
    """Does jnp.round(jnp.float32(1.5), 39) return 1.5?"""
    import jax.numpy as jnp

    return compare(jnp.round(jnp.float32(1.5), 39), 1.5, rtol=1e-6)


def to_minus_39() -> tuple[str, str]:
    """Does jnp.round(jnp.float32(1.5), -39) return 0?"""
    import jax.numpy as jnp

    return compare(jnp.round(jnp.float32(1.5), -39), 0.0)


def zeros() -> None:
    """x rounded to -39 decimals is jnp.zeros_like(x), because the largest float32 is below 5e38."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([1.5, 3e38], jnp.float32)
    np.testing.assert_array_equal(jnp.zeros_like(x), np.round(np.asarray(x, np.float64), -39))


def zeros_like(x: Any) -> Any:
    """Return zeros."""
    import jax.numpy as jnp

    return jnp.zeros_like(x)


def rounded_to_minus_39(x: Any) -> Any:
    """Round with NumPy in float64 to -39 decimals."""
    import numpy as np

    return np.round(np.asarray(x, np.result_type(x, np.float64)), -39)


def large() -> tuple[str, str]:
    """Does jnp.round(jnp.float32(1e9), 30) return 1e9?"""
    import jax.numpy as jnp

    return compare(jnp.round(jnp.float32(1e9), 30), 1e9, rtol=1e-6)


def round_small_values() -> None:
    """With jnp.where, rounding changes 1.234 to 1.23, and leaves 1.5 and 1e9 unchanged."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([1.5, 1e9, 1.234], jnp.float32)
    for decimals, wanted in ((2, [1.5, 1e9, 1.23]), (30, x), (38, x), (39, x)):
        got = jnp.where(jnp.abs(x) * 10.0**decimals < 2**24, jnp.round(x, decimals), x)
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def rounded(x: Any) -> Any:
    """Round small values to 2, 20, 30 and 37 decimals."""
    import jax.numpy as jnp

    return jnp.stack([jnp.where(jnp.abs(x) * 10.0**d < 2**24, jnp.round(x, d), x) for d in (2, 20, 30, 37)])


def rounded_in_float64(x: Any) -> Any:
    """Round with NumPy in float64."""
    import numpy as np

    wide = np.asarray(x, np.result_type(x, np.float64))
    return np.stack([np.round(wide, d) for d in (2, 20, 30, 37)])


def _rounds(compared: str) -> tuple[str, ...]:
    """Return touches of jnp.round, jnp.around and Array.round, with a condition on decimals and without x64."""
    decimals = f"decimals) if decimals {compared} and not uses('jax_enable_x64') and not within('jax.numpy.where')"
    return *members("jax.numpy", "round around", f"(a, {decimals}"), f"jax.Array.round({decimals}"


_KEEP = Workaround(
    "For decimals >= 38, use x unrounded: rounding changes x by less than 1e-38.",
    keep,
    elsewhere=Elsewhere(
        kept,
        kept_in_float64,
        ("float32 matrix", "float32 scalar", "float32 empty", "zero float32 vector", "complex64 vector"),
        rtol=1e-6,
    ),
)
_SMALL = Workaround(
    "For float32 and abs(d) < 38, use jnp.where(jnp.abs(x) * 10.0**d < 2**24, jnp.round(x, d), x).",
    round_small_values,
    elsewhere=Elsewhere(
        rounded,
        rounded_in_float64,
        (
            *("float32 matrix", "float32 scalar", "float32 empty", "positive float32 vector"),
            *("zero float32 vector", "int32 matrix", "complex64 vector"),
        ),
        rtol=1e-6,
    ),
)
_ZEROS = Workaround(
    "At -39 decimals, use jnp.zeros_like(x): each finite float32 rounds to 0.",
    zeros,
    elsewhere=Elsewhere(
        zeros_like,
        rounded_to_minus_39,
        ("float32 matrix", "float32 scalar", "float32 empty", "int32 vector", "complex64 vector"),
    ),
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#31689", fix="jax#32459"),
    control=to_two,
    rules=(Rule("differs"),),
    cases=(
        Case(to_38, workaround=_KEEP, touches=_rounds("== 38")),
        Case(
            to_39,
            workaround=_KEEP,
            rules=(Rule("differs", "jax<0.8.0"), Rule("agrees", "", "jax#32459 (7f64e44f34)")),
            touches=_rounds(">= 39"),
        ),
        Case(to_minus_39, workaround=_ZEROS, touches=_rounds("<= -39")),
        Case(large, workaround=_SMALL, touches=_rounds(">= 30 and unseen")),
    ),
)
