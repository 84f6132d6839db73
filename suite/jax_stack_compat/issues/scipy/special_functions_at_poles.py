"""jax.scipy.special: digamma(0), loggamma(0) and polygamma(1, inf) are NaN

Because digamma(0) was NaN, so was the gradient of gammaln at 0 (jax#37763). XLA's digamma now returns -infinity at 0.0,
as xla#47754 describes, and also at -0.0, where SciPy returns infinity. jax#38651 gathers such reports; there, a
maintainer asks whether NaN and infinity are a matter of correctness or convention. In XLA, as in the C++ standard,
`gammaln` of -infinity is infinity (scipy/scipy#13399).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, members


def digamma() -> tuple[str, str]:
    """Is jax.scipy.special.digamma NaN at 0.0, where SciPy has -infinity?"""
    import jax
    import jax.numpy as jnp

    got = str(float(jax.scipy.special.digamma(jnp.array(0.0))))
    return {"nan": "nan", "-inf": "minus-infinity"}.get(got, "other"), got


def away_from_poles() -> None:
    """At 1, between the poles and at infinity, digamma, gammaln and polygamma agree with SciPy."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import scipy.special

    x = np.array([1.0, 0.5, -0.5], np.float32)
    np.testing.assert_allclose(jax.scipy.special.digamma(x), scipy.special.digamma(x), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(jax.scipy.special.gammaln(x), scipy.special.gammaln(x), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(jax.scipy.special.polygamma(1, x[:2]), scipy.special.polygamma(1, x[:2]), rtol=1e-5)
    assert float(jax.scipy.special.digamma(jnp.array(jnp.inf))) == np.inf
    assert float(jax.scipy.special.gammaln(jnp.array(0.0))) == np.inf


def minus_one_by_x() -> None:
    """With -1 / x where x is 0, digamma has SciPy's infinities at 0.0, -0.0 and the integer 0."""
    import jax
    import jax.numpy as jnp

    x = jnp.array([0.0, -0.0, 1.0])
    got = jnp.where(x == 0, -1 / x, jax.scipy.special.digamma(x))
    assert got[:2].tolist() == [-jnp.inf, jnp.inf]
    assert abs(float(got[2]) + 0.5772157) < 1e-5
    assert jnp.where(True, -1 / jnp.array(0), 0.0) == -jnp.inf


def digamma_with_poles(x: Any) -> Any:
    """Return digamma, and -1 / x where x is 0."""
    import jax
    import jax.numpy as jnp

    return jnp.where(x == 0, -1 / x, jax.scipy.special.digamma(x))


def scipy_digamma(x: Any) -> Any:
    """Return SciPy's digamma."""
    import scipy.special

    return scipy.special.digamma(x)


def gradient_of_gammaln() -> tuple[str, str]:
    """Is jax.grad(jax.scipy.special.gammaln) NaN at 0.0?"""
    import jax

    got = str(float(jax.grad(jax.scipy.special.gammaln)(0.0)))
    return {"nan": "nan", "-inf": "minus-infinity"}.get(got, "other"), got


def log_taken_apart() -> None:
    """The gradient of gammaln(x + 1) - log(x) is -infinity at 0, and digamma(1) at 1."""
    import jax
    import jax.numpy as jnp

    gradient = jax.grad(lambda x: jax.scipy.special.gammaln(x + 1) - jnp.log(x))
    assert float(gradient(0.0)) == -jnp.inf
    assert abs(float(gradient(1.0)) + 0.5772157) < 1e-5


def gradient(x: Any) -> Any:
    """Return the gradient of gammaln(x + 1) - log(x), which equals gammaln(x)."""
    import jax
    import jax.numpy as jnp

    return jax.grad(lambda x: (jax.scipy.special.gammaln(x + 1) - jnp.log(x)).sum())(x)


def digamma_of_negative_zero() -> tuple[str, str]:
    """Is jax.scipy.special.digamma NaN or -infinity at -0.0, where SciPy has infinity?"""
    import jax
    import jax.numpy as jnp

    got = str(float(jax.scipy.special.digamma(jnp.array(-0.0))))
    return {"nan": "nan", "-inf": "minus-infinity", "inf": "infinity"}.get(got, "other"), got


def loggamma() -> tuple[str, str]:
    """Is jax.scipy.special.loggamma NaN at 0.0, where SciPy has infinity?"""
    import jax
    import jax.numpy as jnp

    if not hasattr(jax.scipy.special, "loggamma"):
        return "absent", "there is no jax.scipy.special.loggamma"
    got = str(float(jax.scipy.special.loggamma(jnp.array(0.0))))
    return {"nan": "nan", "inf": "infinity"}.get(got, "other"), got


def by_gammaln() -> None:
    """At 0 and 3, gammaln agrees with SciPy's loggamma."""
    import jax
    import jax.numpy as jnp

    got = jax.scipy.special.gammaln(jnp.array([0.0, 3.0]))
    assert float(got[0]) == jnp.inf
    assert abs(float(got[1]) - 0.6931472) < 1e-5


def polygamma() -> tuple[str, str]:
    """Is jax.scipy.special.polygamma(1, x) NaN at infinity, where SciPy has 0?"""
    import jax
    import jax.numpy as jnp

    got = str(float(jax.scipy.special.polygamma(1, jnp.array(jnp.inf))))
    return {"nan": "nan", "0.0": "zero"}.get(got, "other"), got


def zero_at_infinity() -> None:
    """With jnp.where, polygamma(1, x) is 0 at infinity, and agrees with SciPy at 1."""
    import jax
    import jax.numpy as jnp

    x = jnp.array([jnp.inf, 1.0])
    got = jnp.where(jnp.isposinf(x), 0.0, jax.scipy.special.polygamma(1, x))
    assert float(got[0]) == 0.0
    assert abs(float(got[1]) - 1.6449341) < 1e-4


def infinities_of_other_arrays() -> None:
    """In float16 and float32, gammaln, and polygamma and gammaln masked at infinity, agree with SciPy."""
    import jax.numpy as jnp
    import numpy as np
    from jax.scipy import special
    from scipy import special as scipy_special

    for x in (np.array([np.inf, 0.5, 2.0], np.float16), np.array([[np.inf, 7.0], [0.25, 30.0]], np.float32)):
        for n in (1, 2, 3):
            got = jnp.where(jnp.isposinf(x), 0.0, special.polygamma(n, x))
            np.testing.assert_allclose(got, scipy_special.polygamma(n, x.astype(float)), rtol=2e-3)
        np.testing.assert_allclose(special.gammaln(x * 0.5), scipy_special.loggamma(x * 0.5), rtol=2e-2, atol=1e-5)
        np.testing.assert_allclose(special.gammaln(0 / x), scipy_special.loggamma(0 / x.astype(float)))
        got = jnp.where(jnp.isneginf(-x), -jnp.inf, special.gammaln(-x + 0.125))
        np.testing.assert_allclose(got, scipy_special.gammaln(-x.astype(float) + 0.125), rtol=2e-2)


def gammaln() -> tuple[str, str]:
    """Does jax.scipy.special.gammaln(-inf) return infinity, as math.lgamma does, or -infinity, as SciPy does?"""
    import jax
    import jax.numpy as jnp

    got = str(float(jax.scipy.special.gammaln(jnp.array(-jnp.inf))))
    return {"inf": "infinity", "-inf": "minus-infinity"}.get(got, "other"), got


def minus_infinity() -> None:
    """With jnp.where, gammaln of -infinity is -infinity."""
    import jax
    import jax.numpy as jnp

    x = jnp.array([-jnp.inf, jnp.inf])
    got = jnp.where(jnp.isneginf(x), -jnp.inf, jax.scipy.special.gammaln(x))
    assert got.tolist() == [-jnp.inf, jnp.inf]


_BARE = "not within('jax.numpy.where')"
_ABOVE = "form(x) not in ('jax.numpy.maximum', 'jax.numpy.clip', 'jax.nn.softplus', 'jax.numpy.exp')"
_ZERO = members("jax", "scipy.special.digamma lax.digamma", f"(x) if x == 0 and {_ABOVE} and {_BARE}")
_GRADIENT = f"(x) if uses('jax.grad', 'jax.value_and_grad') and {_ABOVE} and unseen"
_MAY_BE_ZERO = members("jax", "scipy.special.gammaln lax.lgamma", _GRADIENT)
_POSITIVE = ("positive float32 matrix", "zero float32 vector", "positive float64 scalar", "float32 empty")
_MINUS_ONE_BY_X = Workaround(
    "For arrays, take jnp.where(x == 0, -1 / x, digamma(x)); gradients at 0 are NaN.",
    minus_one_by_x,
    elsewhere=Elsewhere(
        digamma_with_poles,
        scipy_digamma,
        ("float32 matrix", "positive int32 vector", "zero int32 one", "zero uint8 vector", *_POSITIVE),
        rtol=1e-4,
        atol=1e-5,
    ),
)
_XLA = "as xla#47754 describes"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#37763 jax#38240 jax#38261 jax#38264 jax#38608",
        change="xla#47754",
        attempt="jax#37917 jax#38241",
        discussion="jax#38651 scipy/scipy#13399",
    ),
    control=away_from_poles,
    rules=(Rule("nan", "jaxlib<0.11.2"), Rule("minus-infinity", "", _XLA)),
    behaviours={"nan": "affected", "minus-infinity": "clear", "other": "different"},
    cases=(
        Case(digamma, workaround=_MINUS_ONE_BY_X, touches=_ZERO),
        Case(
            gradient_of_gammaln,
            workaround=Workaround(
                "For x >= 0, call jax.grad(lambda x: gammaln(x + 1) - jnp.log(x)).",
                log_taken_apart,
                elsewhere=Elsewhere(gradient, scipy_digamma, _POSITIVE, rtol=1e-4, atol=1e-5),
            ),
            touches=_MAY_BE_ZERO,
        ),
        Case(
            digamma_of_negative_zero,
            behaviours={"nan": "affected", "minus-infinity": "affected", "infinity": "clear", "other": "different"},
            workaround=_MINUS_ONE_BY_X,
            touches=_ZERO,
        ),
        Case(
            loggamma,
            behaviours={"nan": "affected", "infinity": "clear", "other": "different"},
            rules=(Rule("absent", "jax<0.10.0", "d940b1b159"), Rule("nan", "", "jax#38240 is open")),
            workaround=Workaround(
                "For real x >= 0, call gammaln(x).",
                by_gammaln,
                elsewhere=infinities_of_other_arrays,
            ),
            touches=("jax.scipy.special.loggamma(z) if z == 0",),
        ),
        Case(
            polygamma,
            behaviours={"nan": "affected", "zero": "clear", "other": "different"},
            rules=(Rule("nan", "", "jax#38608 is open"),),
            workaround=Workaround(
                "For n >= 1, mask infinity: jnp.where(jnp.isposinf(x), 0.0, polygamma(n, x)).",
                zero_at_infinity,
                elsewhere=infinities_of_other_arrays,
            ),
            touches=(f"jax.scipy.special.polygamma(n, x) if n != 0 and x == 'jax.numpy.inf' and {_BARE}",),
        ),
        Case(
            gammaln,
            behaviours={"infinity": "documented", "minus-infinity": "different", "other": "different"},
            rules=(Rule("infinity", "", "XLA's code says: lgamma(+/-inf) = +inf"),),
            workaround=Workaround(
                "Mask -infinity: jnp.where(jnp.isneginf(x), -jnp.inf, gammaln(x)).",
                minus_infinity,
                elsewhere=infinities_of_other_arrays,
            ),
            touches=("jax.scipy.special.gammaln(x) if x < 0 and uses('jax.numpy.inf')",),
        ),
    ),
)
