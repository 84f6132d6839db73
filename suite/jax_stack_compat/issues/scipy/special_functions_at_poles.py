"""jax.scipy.special: digamma and loggamma at 0, and polygamma at infinity, are NaN

    jax.scipy.special.digamma(0.0)             # nan up to jaxlib 0.11.1, then -inf as in SciPy
    jax.scipy.special.digamma(-0.0)            # nan up to jaxlib 0.11.1, then -inf, SciPy: inf
    jax.scipy.special.loggamma(0.0)            # nan, SciPy: inf
    jax.scipy.special.polygamma(1, jnp.inf)    # nan, SciPy: 0
    jax.scipy.special.gammaln(-jnp.inf)        # inf, SciPy: -inf

A NaN goes through all that comes after it. That of digamma is also the gradient of `gammaln` at 0, so that a parameter
of a Dirichlet or gamma law that reaches 0 makes the whole gradient NaN (jax#37763). jax#38651 gathers such reports: a
limit can be a convention, and other things come first. jax#37917 calls NaN defensible at a pole with two sides. For
`gammaln(-jnp.inf)` SciPy differs from the C standard, which has infinity, as `math.lgamma` does (scipy/scipy#13399).

Seen in these runs:

- jax 0.11.1 and 0.11.2 have the same Python for digamma, so that the change is jaxlib's.
- `polygamma(0, 0.0)` and `jax.grad(gammaln)(0.0)` were -infinity from 0.11.2 on too.
- Subnormal numbers are 0 for digamma on a CPU, before and after.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, members


def digamma() -> tuple[str, str]:
    """What is digamma at 0.0, where SciPy has -infinity?"""
    import jax
    import jax.numpy as jnp

    got = str(float(jax.scipy.special.digamma(jnp.array(0.0))))
    return {"nan": "nan", "-inf": "minus-infinity"}.get(got, "other"), got


def away_from_poles() -> None:
    """At 1, between the poles and at infinity digamma, gammaln and polygamma are SciPy's."""
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


def limit_of_digamma() -> None:
    """Infinity with the other sign, where x is 0."""
    import jax
    import jax.numpy as jnp

    x = jnp.array([0.0, -0.0, 1.0])
    got = jnp.where(x == 0, jnp.copysign(jnp.inf, -x), jax.scipy.special.digamma(x))
    assert got[:2].tolist() == [-jnp.inf, jnp.inf]
    assert abs(float(got[2]) + 0.5772157) < 1e-5


def digamma_of_negative_zero() -> tuple[str, str]:
    """What is digamma at -0.0, where SciPy has infinity?"""
    import jax
    import jax.numpy as jnp

    got = str(float(jax.scipy.special.digamma(jnp.array(-0.0))))
    return {"nan": "nan", "-inf": "minus-infinity", "inf": "infinity"}.get(got, "other"), got


def loggamma() -> tuple[str, str]:
    """What is loggamma at 0.0, where SciPy has infinity?"""
    import jax
    import jax.numpy as jnp

    if not hasattr(jax.scipy.special, "loggamma"):
        return "absent", "there is no jax.scipy.special.loggamma"
    got = str(float(jax.scipy.special.loggamma(jnp.array(0.0))))
    return {"nan": "nan", "inf": "infinity"}.get(got, "other"), got


def by_gammaln() -> None:
    """The same for real numbers from 0 on."""
    import jax
    import jax.numpy as jnp

    got = jax.scipy.special.gammaln(jnp.array([0.0, 3.0]))
    assert float(got[0]) == jnp.inf
    assert abs(float(got[1]) - 0.6931472) < 1e-5


def polygamma() -> tuple[str, str]:
    """What is polygamma(1, x) at infinity, where SciPy has 0?"""
    import jax
    import jax.numpy as jnp

    got = str(float(jax.scipy.special.polygamma(1, jnp.array(jnp.inf))))
    return {"nan": "nan", "0.0": "zero"}.get(got, "other"), got


def zero_at_infinity() -> None:
    """0 where x is infinity."""
    import jax
    import jax.numpy as jnp

    x = jnp.array([jnp.inf, 1.0])
    got = jnp.where(jnp.isposinf(x), 0.0, jax.scipy.special.polygamma(1, x))
    assert float(got[0]) == 0.0
    assert abs(float(got[1]) - 1.6449341) < 1e-4


def gammaln() -> tuple[str, str]:
    """What is gammaln at -infinity, where SciPy has -infinity and math.lgamma infinity?"""
    import jax
    import jax.numpy as jnp

    got = str(float(jax.scipy.special.gammaln(jnp.array(-jnp.inf))))
    return {"inf": "infinity", "-inf": "minus-infinity"}.get(got, "other"), got


def minus_infinity() -> None:
    """-infinity where x is -infinity."""
    import jax
    import jax.numpy as jnp

    x = jnp.array([-jnp.inf, jnp.inf])
    got = jnp.where(jnp.isneginf(x), -jnp.inf, jax.scipy.special.gammaln(x))
    assert got.tolist() == [-jnp.inf, jnp.inf]


_BARE = "not within('jax.numpy.where')"
_DIGAMMA = members("jax", "scipy.special.digamma lax.digamma", f"(x) if x == 0 and {_BARE}")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#37763 jax#38261 jax#38240 jax#38608 jax#38264 jax#38651 scipy/scipy#13399",
        change="jax#37917 xla#47754",
    ),
    control=away_from_poles,
    behaviours={"nan": "affected", "other": "different"},
    cases=(
        Case(
            digamma,
            behaviours={"nan": "affected", "minus-infinity": "clear", "other": "different"},
            rules=(Rule("nan", "jaxlib<0.11.2"), Rule("minus-infinity")),
            workaround=Workaround(
                "jnp.where(x == 0, jnp.copysign(jnp.inf, -x), jax.scipy.special.digamma(x))", limit_of_digamma
            ),
            touches=_DIGAMMA,
        ),
        Case(
            digamma_of_negative_zero,
            behaviours={
                "nan": "affected",
                "minus-infinity": "affected",
                "infinity": "clear",
                "other": "different",
            },
            rules=(Rule("nan", "jaxlib<0.11.2"), Rule("minus-infinity")),
            workaround=Workaround(
                "jnp.where(x == 0, jnp.copysign(jnp.inf, -x), jax.scipy.special.digamma(x))", limit_of_digamma
            ),
            touches=_DIGAMMA,
        ),
        Case(
            loggamma,
            behaviours={"nan": "affected", "infinity": "clear", "other": "different"},
            rules=(Rule("absent", "jax<0.10.0", "d940b1b159"), Rule("nan", "", "jax#38240 is open")),
            workaround=Workaround("gammaln, for real numbers from 0 on.", by_gammaln),
            touches=("jax.scipy.special.loggamma(z) if z == 0",),
        ),
        Case(
            polygamma,
            behaviours={"nan": "affected", "zero": "clear", "other": "different"},
            rules=(Rule("nan", "", "jax#38608 is open"),),
            workaround=Workaround(
                "jnp.where(jnp.isposinf(x), 0.0, jax.scipy.special.polygamma(n, x))", zero_at_infinity
            ),
            touches=(f"jax.scipy.special.polygamma if uses('jax.numpy.inf') and {_BARE}",),
        ),
        Case(
            gammaln,
            behaviours={"infinity": "documented", "minus-infinity": "different", "other": "different"},
            rules=(Rule("infinity", "", "as the C standard has it"),),
            workaround=Workaround("jnp.where(jnp.isneginf(x), -jnp.inf, jax.scipy.special.gammaln(x))", minus_infinity),
            touches=("jax.scipy.special.gammaln(x) if x < 0 and uses('jax.numpy.inf')",),
        ),
    ),
)
