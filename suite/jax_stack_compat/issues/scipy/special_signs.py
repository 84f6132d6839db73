"""jax.scipy.special: beta and gamma lose the sign, and rel_entr(0, q) is q

JAX computed `beta` and `gamma` from `gammaln`, the logarithm of an absolute value; jax#20589 and jax#18683 multiply by
the sign. At negative integers where the poles cancel, `beta` and `betaln` subtract infinities and return NaN
(`betaln_at_poles`, `beta_at_poles`); jax#38614 would change `betaln`. jax#21193 fixes `rel_entr(p, q)`, which returned
q where p is 0.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def beta() -> tuple[str, str]:
    """Does jax.scipy.special.beta have SciPy's sign at (-0.5, 1), (-1.5, 1) and (-0.5, -0.7)?"""
    import jax
    import numpy as np
    import scipy.special

    if not hasattr(jax.scipy.special, "beta"):
        return "absent", "there is no jax.scipy.special.beta"
    a, b = np.array([[-0.5, -1.5, -0.5], [1.0, 1.0, -0.7]], np.float32)
    return compare(jax.scipy.special.beta(a, b), scipy.special.beta(a, b), rtol=1e-4)


def positive() -> None:
    """For positive arguments, gamma, betaln, rel_entr and kl_div agree with SciPy."""
    import jax
    import numpy as np
    import scipy.special

    a, b = np.array([[0.5, 2.0, 3.5], [1.0, 3.0, 0.7]], np.float32)
    np.testing.assert_allclose(jax.scipy.special.gamma(a), scipy.special.gamma(a), rtol=1e-4)
    for name in ("betaln", "rel_entr", "kl_div"):
        if hasattr(jax.scipy.special, name):
            ours, theirs = getattr(jax.scipy.special, name), getattr(scipy.special, name)
            np.testing.assert_allclose(ours(a, b), theirs(a, b), rtol=1e-4, atol=1e-5)


def signs_of_three_gammas() -> None:
    """exp(betaln(a, b)) times gamma's signs at a, b and a + b agrees with SciPy (example of jax#20587)."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import scipy.special

    k = np.arange(40, dtype=np.float32)
    a, b = 14.25 - k, 1 + k
    got = jnp.exp(jax.scipy.special.betaln(a, b))
    for x in (a, b, a + b):
        got = got * jnp.where((x < 0) & (jnp.floor(x) % 2 == 1), -1, 1)
    np.testing.assert_allclose(got, scipy.special.beta(a, b), rtol=1e-3)


def signed_beta(a: Any, b: Any) -> Any:
    """Return beta as its absolute value times the signs of gamma at a, b and a + b."""
    import jax
    import jax.numpy as jnp

    got = jnp.exp(jax.scipy.special.betaln(a, b))
    for x in (a, b, a + b):
        got = got * jnp.where((x < 0) & (jnp.floor(x) % 2 == 1), -1, 1)
    return got


def scipy_beta(a: Any, b: Any) -> Any:
    """Return SciPy's beta."""
    import scipy.special

    return scipy.special.beta(a, b)


def beta_at_poles() -> tuple[str, str]:
    """Does jax.scipy.special.beta(x, 1) return 1 / x for x of -1, -2 and -3?"""
    import jax
    import jax.numpy as jnp

    if not hasattr(jax.scipy.special, "beta"):
        return "absent", "there is no jax.scipy.special.beta"
    x = jnp.array([-1.0, -2.0, -3.0])
    return compare(jax.scipy.special.beta(x, 1.0), 1 / x, rtol=1e-5)


def gamma() -> tuple[str, str]:
    """Does jax.scipy.special.gamma have SciPy's sign at -0.5, -1.5 and -2.5?"""
    import jax
    import numpy as np
    import scipy.special

    x = np.array([-0.5, -1.5, -2.5], np.float32)
    return compare(jax.scipy.special.gamma(x), scipy.special.gamma(x), rtol=1e-5)


def sign_of_floor() -> None:
    """abs(gamma(x)), negated where x < 0 and floor(x) is odd, agrees with exact values."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([-0.5, -1.5, -2.5, 1.5])
    got = jnp.where((x < 0) & (jnp.floor(x) % 2 == 1), -1, 1) * jnp.abs(jax.scipy.special.gamma(x))
    np.testing.assert_allclose(got, [-3.5449077, 2.3632718, -0.9453087, 0.8862269], rtol=1e-4)


def signed_gamma(x: Any) -> Any:
    """Return abs(gamma(x)), negated where x < 0 and floor(x) is odd."""
    import jax
    import jax.numpy as jnp

    return jnp.where((x < 0) & (jnp.floor(x) % 2 == 1), -1, 1) * jnp.abs(jax.scipy.special.gamma(x))


def scipy_gamma(x: Any) -> Any:
    """Return SciPy's gamma."""
    import scipy.special

    return scipy.special.gamma(x)


def rel_entr() -> tuple[str, str]:
    """Does jax.scipy.special.rel_entr(0, q) return 0, the limit of p log(p / q)?"""
    import jax
    import numpy as np
    import scipy.special

    p, q = np.array([[0.3, 0.0, 0.0], [0.3, 0.7, 0.0]], np.float32)
    return compare(jax.scipy.special.rel_entr(p, q), scipy.special.rel_entr(p, q), rtol=1e-5)


def masked() -> None:
    """With jnp.where, rel_entr returns 0 where p is 0."""
    import jax
    import jax.numpy as jnp

    p, q = jnp.array([0.3, 0.0]), jnp.array([0.3, 0.7])
    assert jnp.where(p == 0, 0.0, jax.scipy.special.rel_entr(p, q)).tolist() == [0.0, 0.0]


def relative_entropy(p: Any, q: Any) -> Any:
    """Return rel_entr, with 0 where p is 0."""
    import jax
    import jax.numpy as jnp

    return jnp.where(p == 0, 0.0, jax.scipy.special.rel_entr(p, q))


def scipy_relative_entropy(p: Any, q: Any) -> Any:
    """Return SciPy's rel_entr."""
    import scipy.special

    return scipy.special.rel_entr(p, q)


def betaln_at_poles() -> tuple[str, str]:
    """Does jax.scipy.special.betaln agree with SciPy at negative integers where betaln is finite?"""
    import jax
    import numpy as np
    import scipy.special

    a, b = np.array([[-2.0, -3.0, -4.0], [1.0, 2.0, 4.0]], np.float32)
    return compare(jax.scipy.special.betaln(a, b), scipy.special.betaln(a, b), rtol=1e-5)


_PAIRS = (
    *("positive float32 matrix, positive float32 matrix", "unit float64 vector, unit float64 scalar"),
    *("positive float32 empty, positive float32 empty",),
)
_INTEGERS = "(-1, -2, -3, -4, -5)"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#20587 jax#21192 jax#21265 jax#38243 jax#38270",
        fix="jax#18683 jax#20589 jax#21193",
        attempt="jax#38614",
    ),
    control=positive,
    cases=(
        Case(
            beta,
            rules=(
                Rule("absent", "jax<0.4.21"),
                Rule("differs", "jax<0.4.27"),
                Rule("agrees", "", "jax#20589 (97b15cc64b)"),
            ),
            workaround=Workaround(
                "Below 8, except at poles, multiply jnp.exp(betaln(a, b)) by gamma's signs at a, b, a+b.",
                signs_of_three_gammas,
                elsewhere=Elsewhere(
                    signed_beta, scipy_beta, ("float32 matrix, positive float32 matrix", *_PAIRS), rtol=1e-3
                ),
            ),
            touches=("jax.scipy.special.beta(a, b) if a < 0 or b < 0",),
        ),
        Case(
            beta_at_poles,
            rules=(Rule("absent", "jax<0.4.21"), Rule("differs", "", "jax#38270 is open")),
            touches=(f"jax.scipy.special.beta(a, b) if a in {_INTEGERS} or b in {_INTEGERS}",),
        ),
        Case(
            gamma,
            rules=(Rule("differs", "jax<0.4.21"), Rule("agrees", "", "jax#18683 (01fde43fce)")),
            workaround=Workaround(
                "For negative x except integers, where jnp.floor(x) is odd, take -jnp.abs(gamma(x)).",
                sign_of_floor,
                elsewhere=Elsewhere(
                    signed_gamma,
                    scipy_gamma,
                    ("float32 matrix", "float32 batch", "float64 vector", "positive int32 vector", "float32 empty"),
                    rtol=1e-3,
                ),
            ),
            touches=("jax.scipy.special.gamma(x) if x < 0 and not within('jax.numpy.where')",),
        ),
        Case(
            rel_entr,
            rules=(Rule("differs", "jax<0.4.29"), Rule("agrees", "", "jax#21193 (818e7d92a4)")),
            workaround=Workaround(
                "For q >= 0, use jnp.where(p == 0, 0.0, rel_entr(p, q)).",
                masked,
                elsewhere=Elsewhere(
                    relative_entropy,
                    scipy_relative_entropy,
                    (*_PAIRS, "zero float32 vector, positive float32 vector", "zero int32 one, unit float32 scalar"),
                    rtol=1e-4,
                    atol=1e-5,
                ),
            ),
            touches=("jax.scipy.special.rel_entr(p, q) if p == 0 and not within('jax.numpy.where')",),
        ),
        Case(
            betaln_at_poles,
            rules=(Rule("differs", "", "jax#38243 is open"),),
            touches=(f"jax.scipy.special.betaln(a, b) if a in {_INTEGERS} or b in {_INTEGERS}",),
        ),
    ),
)
