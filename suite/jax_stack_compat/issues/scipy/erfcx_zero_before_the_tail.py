"""jax.scipy.special.erfcx returns 0 for float32 from about 9.2 to 9.42

JAX computed erfcx(x) as `exp(x**2) * erfc(x)` up to the x where `exp(x**2)` overflows (jax#38822). Just below the
overflow of `exp(x**2)`, erfc(x) is subnormal; XLA flushes it to 0, so erfcx(x) is 0 (jax#40153). In float64, erfcx(x)
is 0 from about 26.54 to 26.64, with the gradient -2/sqrt(pi) (jax#38607). In float32, `exp(x**2)` first overflows at
9.41928, where erfcx returns NaN (`nan_at_the_end`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import DERIVATIVES, Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def float32() -> tuple[str, str]:
    """Does jax.scipy.special.erfcx agree with SciPy for float32 from 9 to 10?"""
    import jax
    import numpy as np
    import scipy.special

    if not hasattr(jax.scipy.special, "erfcx"):
        return "absent", "there is no jax.scipy.special.erfcx"
    x = np.array([9.0, 9.25, 9.3, 9.4, 10.0], np.float32)
    return compare(jax.scipy.special.erfcx(x), scipy.special.erfcx(x), rtol=1e-4)


def elsewhere() -> None:
    """erfcx agrees with SciPy up to 9 and from 12 on, and erfc agrees at 0.5 and 3."""
    import jax
    import numpy as np
    import scipy.special

    x = np.array([0.5, 3.0], np.float32)
    np.testing.assert_allclose(jax.scipy.special.erfc(x), scipy.special.erfc(x), rtol=1e-4)
    if hasattr(jax.scipy.special, "erfcx"):
        x = np.array([0.5, 3.0, 9.0, 12.0, 100.0], np.float32)
        np.testing.assert_allclose(jax.scipy.special.erfcx(x), scipy.special.erfcx(x), rtol=1e-4)


def series() -> None:
    """For float32 above 9, three terms of the asymptotic series agree with SciPy to 1e-4."""
    import jax.numpy as jnp
    import numpy as np
    import scipy.special

    x = jnp.array([9.25, 9.4, 12.0])
    tail = (1.0 - 0.5 / x**2 + 0.75 / x**4) / (x * jnp.sqrt(jnp.pi))
    np.testing.assert_allclose(tail, scipy.special.erfcx(np.asarray(x)), rtol=1e-4)


def series_above_9(x: Any) -> Any:
    """Return erfcx(2 * x), by three terms of the asymptotic series where 2 * x > 9."""
    import jax
    import jax.numpy as jnp

    def erfcx(x: Any) -> Any:
        large = jnp.where(x > 9, x, 9.0)
        tail = (1 - 1 / (2 * large**2) + 3 / (4 * large**4)) / (large * jnp.sqrt(jnp.pi))
        return jnp.where(x > 9, tail, jax.scipy.special.erfcx(jnp.where(x > 9, 9.0, x)))

    return erfcx(2 * x)


def scipy_of_twice(x: Any) -> Any:
    """Return SciPy's erfcx(2 * x)."""
    import scipy.special

    return scipy.special.erfcx(2 * x.astype("float64"))


def float64() -> tuple[str, str]:
    """Does jax.scipy.special.erfcx agree with SciPy for float64 at 26.6?"""
    import jax
    import numpy as np
    import scipy.special

    if not hasattr(jax.scipy.special, "erfcx"):
        return "absent", "there is no jax.scipy.special.erfcx"
    x = np.array([26.0, 26.6, 27.0])
    return compare(jax.scipy.special.erfcx(x), scipy.special.erfcx(x), rtol=1e-10)


def five_terms() -> None:
    """For float64 above 26, five terms of the asymptotic series and their gradient agree with SciPy."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import scipy.special

    def tail(x):  # type: ignore[no-untyped-def]
        terms = 1.0 - 0.5 / x**2 + 0.75 / x**4 - 1.875 / x**6 + 6.5625 / x**8
        return terms / (x * jnp.sqrt(jnp.pi))

    x = np.array([26.5, 26.6, 27.0])
    np.testing.assert_allclose(tail(jnp.asarray(x)), scipy.special.erfcx(x), rtol=1e-10)  # type: ignore[no-untyped-call]
    wanted = 2 * x * scipy.special.erfcx(x) - 2 / np.sqrt(np.pi)
    np.testing.assert_allclose(jax.vmap(jax.grad(tail))(jnp.asarray(x)), wanted, rtol=1e-6)


def five_terms_above_26(x: Any) -> Any:
    """Return erfcx and its derivative at 8 * x, by five terms of the asymptotic series above 26."""
    import jax
    import jax.numpy as jnp

    def erfcx(x: Any) -> Any:
        large = jnp.where(x > 26, x, 26.0)
        terms = 1.0 - 0.5 / large**2 + 0.75 / large**4 - 1.875 / large**6 + 6.5625 / large**8
        tail = terms / (large * jnp.sqrt(jnp.pi))
        return jnp.where(x > 26, tail, jax.scipy.special.erfcx(jnp.where(x > 26, 26.0, x)))

    return jnp.stack(jax.jvp(erfcx, (8 * x,), (jnp.ones_like(x),)))


def scipy_of_eight_times(x: Any) -> Any:
    """Return the value and derivative of SciPy's erfcx at 8 * x."""
    import numpy as np
    import scipy.special

    value = scipy.special.erfcx(8 * x)
    return np.stack([value, 16 * x * value - 2 / np.sqrt(np.pi)])


def gradient() -> tuple[str, str]:
    """Does the gradient of jax.scipy.special.erfcx in float64 at 26.6 agree with SciPy's 2*x*erfcx(x) - 2/sqrt(pi)?"""
    import jax
    import numpy as np
    import scipy.special

    if not hasattr(jax.scipy.special, "erfcx"):
        return "absent", "there is no jax.scipy.special.erfcx"
    wanted = 2 * 26.6 * scipy.special.erfcx(26.6) - 2 / np.sqrt(np.pi)
    return compare(jax.grad(jax.scipy.special.erfcx)(26.6), wanted, rtol=1e-6)


def nan_at_the_end() -> tuple[str, str]:
    """Does jax.scipy.special.erfcx agree with SciPy for float32 at 9.41928, where exp(x**2) overflows?"""
    import jax
    import numpy as np
    import scipy.special

    if not hasattr(jax.scipy.special, "erfcx"):
        return "absent", "there is no jax.scipy.special.erfcx"
    x = np.array([9.41928, 9.5], np.float32)
    return compare(jax.scipy.special.erfcx(x), scipy.special.erfcx(x), rtol=1e-4)


_NEW = Rule("agrees", "", "for x >= 1, a minimax approximation replaces exp(x**2) * erfc(x)")

_FLOAT32 = Workaround(
    "For float32 from 9 to 1e12: compute (1 - 1/(2*x**2) + 3/(4*x**4)) / (x*jnp.sqrt(jnp.pi)).",
    series,
    elsewhere=Elsewhere(
        series_above_9,
        scipy_of_twice,
        (
            "positive float32 matrix",
            "positive float16 vector",
            "float32 scalar",
            "float32 empty",
        ),
        rtol=2e-3,
    ),
)
_FLOAT64 = Workaround(
    "For float64 from 26 to 1e42: compute five terms of the asymptotic series.",
    five_terms,
    elsewhere=Elsewhere(
        five_terms_above_26,
        scipy_of_eight_times,
        ("positive float64 matrix", "float64 vector", "float64 scalar", "zero float64 vector", "float64 empty"),
        rtol=1e-8,
    ),
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#38607", cause="jax#37580", attempt="jax#38822 jax#40153"),
    control=elsewhere,
    rules=(Rule("absent", "jax<0.10.1", "jax#37580 added erfcx"), Rule("differs", "jax<0.12.0"), _NEW),
    cases=(
        Case(
            float32,
            workaround=_FLOAT32,
            touches=("jax.scipy.special.erfcx(x) if 9.19 < x < 9.42",),
        ),
        Case(
            float64,
            x64=True,
            workaround=_FLOAT64,
            touches=("jax.scipy.special.erfcx(x) if 26.54 < x < 26.65",),
        ),
        Case(
            gradient,
            x64=True,
            workaround=_FLOAT64,
            touches=(f"jax.scipy.special.erfcx(x) if 26.54 < x < 26.65 and {DERIVATIVES}",),
        ),
        Case(
            nan_at_the_end,
            workaround=_FLOAT32,
            touches=("jax.scipy.special.erfcx(x) if 9.419 < x < 9.42",),
        ),
    ),
)
