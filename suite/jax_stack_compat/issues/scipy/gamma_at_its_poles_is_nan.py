"""jax.scipy.special.gamma of a negative integer is NaN, not infinity

At negative integers, the limits of `gamma` from below and above have opposite signs, so `gamma` and `gammasgn` return
NaN. SciPy also returns NaN at negative integers since scipy/scipy#21827; the changelog says so. `beta` multiplies
values of `gammasgn`. jax@c5e8ae80f9 also gave `gamma(-0.0)` the sign of the zero, and documents the sign.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, members


def gamma() -> tuple[str, str]:
    """What does gamma(x) return for x of -1 and -2?"""
    import jax
    import jax.numpy as jnp

    got = str(jax.scipy.special.gamma(jnp.array([-1.0, -2.0])).tolist())
    return {"[inf, inf]": "infinity", "[nan, nan]": "nan"}.get(got, "other"), got


def positive() -> None:
    """At 1, 2, 3 and 4, gamma returns the factorials of 0, 1, 2 and 3."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    np.testing.assert_allclose(
        jax.scipy.special.gamma(jnp.array([1.0, 2.0, 3.0, 4.0])), [1.0, 1.0, 2.0, 6.0], rtol=1e-5
    )


def by_logarithm() -> None:
    """At -1, -2 and -0.0, gammaln is infinite."""
    import jax
    import jax.numpy as jnp

    assert bool(jnp.all(jnp.isposinf(jax.scipy.special.gammaln(jnp.array([-1.0, -2.0, -0.0])))))


def poles(x: Any) -> Any:
    """Return True where gammaln is infinity: at the poles of gamma."""
    import jax

    return jax.numpy.isposinf(jax.scipy.special.gammaln(x))


def integers_up_to_zero(x: Any) -> Any:
    """Return True where x is an integer that is not positive."""
    import numpy as np

    return (x <= 0) & (x == np.floor(x))


def negative_zero() -> tuple[str, str]:
    """What does gamma(-0.0) return?"""
    import jax
    import jax.numpy as jnp

    got = str(float(jax.scipy.special.gamma(jnp.array(-0.0))))
    return {"inf": "infinity", "-inf": "minus-infinity"}.get(got, "other"), got


def beta() -> tuple[str, str]:
    """What does beta(-1, 2) return, where gamma(-1) is the only pole?"""
    import jax

    if not hasattr(jax.scipy.special, "beta"):
        return "absent", "there is no jax.scipy.special.beta"
    got = str(float(jax.scipy.special.beta(-1.0, 2.0)))
    return {"inf": "infinity", "nan": "nan"}.get(got, "other"), got


# For a + b <= 0, gamma(a + b) is a pole, too.
_ONE_POLE = " or ".join(f"({x} == -{n} and {y} > {n})" for x, y in ("ab", "ba") for n in range(1, 6))
_POLES = Workaround(
    "Find poles at finite x <= 0, subnormals apart, with jnp.isposinf(gammaln(x)).",
    by_logarithm,
    elsewhere=Elsewhere(
        poles,
        integers_up_to_zero,
        (
            *("float32 matrix", "float32 batch", "positive float32 vector", "zero float32 scalar", "float32 empty"),
            *("int32 matrix", "float16 vector"),
        ),
    ),
)

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(change="jax@c5e8ae80f9", discussion="scipy/scipy#21827", docs="jax:changelog.html"),
    control=positive,
    behaviours={"infinity": "clear", "nan": "documented", "other": "different"},
    cases=(
        Case(
            gamma,
            rules=(Rule("infinity", "jax<0.4.36"), Rule("nan", "", "jax#24945 (c5e8ae80f9)")),
            workaround=_POLES,
            touches=members("jax.scipy.special", "gamma gammasgn", "(x) if x < 0"),
        ),
        Case(
            negative_zero,
            behaviours={"infinity": "clear", "minus-infinity": "documented", "other": "different"},
            rules=(Rule("infinity", "jax<0.4.36"), Rule("minus-infinity", "", "jax#24945 (c5e8ae80f9)")),
            workaround=_POLES,
            touches=("jax.scipy.special.gamma(x) if x == 0",),
        ),
        Case(
            beta,
            behaviours={"infinity": "clear", "nan": "affected", "other": "different"},
            rules=(
                Rule("absent", "jax<0.4.21"),
                Rule("infinity", "jax<0.4.36"),
                Rule("nan", "", "jax#24945 (c5e8ae80f9)"),
            ),
            touches=(f"jax.scipy.special.beta(a, b) if {_ONE_POLE}",),
        ),
    ),
)
