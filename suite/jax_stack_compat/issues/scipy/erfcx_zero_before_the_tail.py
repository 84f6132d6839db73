"""jax.scipy.special.erfcx is 0 for arguments from about 9.19 to 9.42, up to jax 0.11.2

    jax.scipy.special.erfcx(9.3)     # 0 on jax 0.10.1 to 0.11.2, should be 0.0603

erfcx(x) is exp(x**2) erfc(x). The function came with 0.10.1 (jax#37580) as that product, and as a series from where
exp(x**2) would overflow. erfc(x) becomes subnormal a little earlier, a CPU flushes it to 0, and so is the product. In
float64 the band is 26.55 to 26.64, which jax#38607 reported; jax#38822 and jax#40153, two requests with a repair, name
both bands. In the band the gradient is -2 / sqrt(pi) = -1.128, where it should be -0.0064 in float32.

Seen in these runs: 0.12.0 and 0.12.0.1 are right, in float32 and float64, though the three threads are open.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def float32() -> tuple[str, str]:
    """Is erfcx right between 9.19 and 9.42?"""
    import jax
    import numpy as np
    import scipy.special

    if not hasattr(jax.scipy.special, "erfcx"):
        return "absent", "there is no jax.scipy.special.erfcx"
    x = np.array([9.0, 9.25, 9.3, 9.4, 10.0], np.float32)
    return compare(jax.scipy.special.erfcx(x), scipy.special.erfcx(x), rtol=1e-4)


def elsewhere() -> None:
    """Below and above it is right where there is one; erfc is right everywhere."""
    import jax
    import numpy as np
    import scipy.special

    x = np.array([0.5, 3.0], np.float32)
    np.testing.assert_allclose(jax.scipy.special.erfc(x), scipy.special.erfc(x), rtol=1e-4)
    if hasattr(jax.scipy.special, "erfcx"):
        x = np.array([0.5, 3.0, 9.0, 12.0, 100.0], np.float32)
        np.testing.assert_allclose(jax.scipy.special.erfcx(x), scipy.special.erfcx(x), rtol=1e-4)


def series() -> None:
    """The first terms of the series, above 9 in float32."""
    import jax.numpy as jnp
    import numpy as np
    import scipy.special

    x = jnp.array([9.25, 9.4, 12.0])
    tail = (1.0 - 0.5 / x**2 + 0.75 / x**4) / (x * jnp.sqrt(jnp.pi))
    np.testing.assert_allclose(tail, scipy.special.erfcx(np.asarray(x)), rtol=1e-4)


def float64() -> tuple[str, str]:
    """Is erfcx of float64 right between 26.55 and 26.64?"""
    import jax
    import numpy as np
    import scipy.special

    if not hasattr(jax.scipy.special, "erfcx"):
        return "absent", "there is no jax.scipy.special.erfcx"
    x = np.array([26.0, 26.6, 27.0])
    return compare(jax.scipy.special.erfcx(x), scipy.special.erfcx(x), rtol=1e-10)


_NEW = Rule("agrees", "", "0.12.0 has another implementation")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#38607", commit="jax#37580 jax#38822 jax#40153"),
    touches=("jax.scipy.special.erfcx",),
    control=elsewhere,
    rules=(Rule("absent", "jax<0.10.1", "jax#37580 added it"), Rule("differs", "jax<0.12.0"), _NEW),
    cases=(
        Case(float32, workaround=Workaround("Above 9: (1 - 1 / (2 x**2) + 3 / (4 x**4)) / (x sqrt(pi))", series)),
        Case(float64, x64=True),
    ),
)
