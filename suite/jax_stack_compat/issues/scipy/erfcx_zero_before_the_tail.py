"""jax.scipy.special.erfcx returns 0 for float32 from about 9.2 to 9.42

JAX computed erfcx(x) as exp(x**2) * erfc(x) up to the x where exp(x**2) overflows (jax#38822). Just below that x,
erfc(x) is subnormal and XLA flushes it to 0, so the product is 0 (jax#40153). In float64 the band is about 26.54 to
26.64, and the gradient there is -2/sqrt(pi) (jax#38607). In float32 the value can also be NaN where exp(x**2) overflows
(jax#40153).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


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
    """erfcx agrees with SciPy below and above the band, and erfc agrees at 0.5 and 3."""
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


def float64() -> tuple[str, str]:
    """Does jax.scipy.special.erfcx agree with SciPy for float64 at 26.6?"""
    import jax
    import numpy as np
    import scipy.special

    if not hasattr(jax.scipy.special, "erfcx"):
        return "absent", "there is no jax.scipy.special.erfcx"
    x = np.array([26.0, 26.6, 27.0])
    return compare(jax.scipy.special.erfcx(x), scipy.special.erfcx(x), rtol=1e-10)


_NEW = Rule("agrees", "", "for x >= 1 a minimax approximation replaces the product")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#38607", cause="jax#37580", attempt="jax#38822 jax#40153"),
    control=elsewhere,
    rules=(Rule("absent", "jax<0.10.1", "jax#37580 added it"), Rule("differs", "jax<0.12.0"), _NEW),
    cases=(
        Case(
            float32,
            workaround=Workaround(
                "For float32 above 9: compute (1 - 1/(2*x**2) + 3/(4*x**4)) / (x*jnp.sqrt(jnp.pi)).", series
            ),
            touches=("jax.scipy.special.erfcx(x) if 9.19 < x < 9.42",),
        ),
        Case(float64, x64=True, touches=("jax.scipy.special.erfcx(x) if 26.54 < x < 26.65",)),
    ),
)
