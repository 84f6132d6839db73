"""jax.scipy.special.gamma of a negative integer is NaN since jax 0.4.36: it was infinity

    jax.scipy.special.gamma(-1.0)        # inf up to jax 0.4.35, nan from 0.4.36
    jax.scipy.special.beta(-1.0, 2.0)    # likewise

To the left of a pole gamma goes to one infinity and to the right of it to the other: NaN says that there is no value.
SciPy decided so (scipy/scipy#21827), JAX followed, and the changelog has it. JAX was first to release it: beside jax
0.4.36 to 0.4.38 an installer gave a SciPy that says infinity. What counts infinities (`jnp.isinf`, a comparison with a
bound) sees none any more, and a NaN goes through whatever comes after it. The wrong sign that gamma had between its
poles is special-signs.

`gamma(-0.0)` changed its sign by the same commit, from infinity to minus infinity.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def gamma() -> tuple[str, str]:
    """What is gamma at -1 and -2?"""
    import jax
    import jax.numpy as jnp

    got = str(jax.scipy.special.gamma(jnp.array([-1.0, -2.0])).tolist())
    return {"[inf, inf]": "infinity", "[nan, nan]": "nan"}.get(got, "other"), got


def positive() -> None:
    """For positive numbers it is the factorial on every release."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    np.testing.assert_allclose(
        jax.scipy.special.gamma(jnp.array([1.0, 2.0, 3.0, 4.0])), [1.0, 1.0, 2.0, 6.0], rtol=1e-5
    )


def by_logarithm() -> None:
    """The logarithm of its absolute value is infinity at each pole, on every release."""
    import jax
    import jax.numpy as jnp

    assert bool(jnp.all(jnp.isposinf(jax.scipy.special.gammaln(jnp.array([-1.0, -2.0, -0.0])))))


def negative_zero() -> tuple[str, str]:
    """What is gamma at -0.0?"""
    import jax
    import jax.numpy as jnp

    got = str(float(jax.scipy.special.gamma(jnp.array(-0.0))))
    return {"inf": "infinity", "-inf": "minus-infinity"}.get(got, "other"), got


def beta() -> tuple[str, str]:
    """What is beta at -1 and 2, where one pole is not cancelled by another?"""
    import jax

    if not hasattr(jax.scipy.special, "beta"):
        return "absent", "there is no jax.scipy.special.beta"
    got = str(float(jax.scipy.special.beta(-1.0, 2.0)))
    return {"inf": "infinity", "nan": "nan"}.get(got, "other"), got


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(change="scipy/scipy#21827 jax@c5e8ae80f9", docs="jax:changelog.html"),
    touches=("jax.scipy.special.gamma", "jax.scipy.special.gammasgn", "jax.scipy.special.beta"),
    control=positive,
    behaviours={"infinity": "clear", "nan": "documented", "other": "different"},
    workaround=Workaround("Ask gammaln, which is infinity at the poles.", by_logarithm),
    cases=(
        Case(gamma, rules=(Rule("infinity", "jax<0.4.36"), Rule("nan", "", "c5e8ae80f9"))),
        Case(
            negative_zero,
            behaviours={"infinity": "clear", "minus-infinity": "documented", "other": "different"},
            rules=(Rule("infinity", "jax<0.4.36"), Rule("minus-infinity", "", "c5e8ae80f9")),
        ),
        Case(beta, rules=(Rule("absent", "jax<0.4.21"), Rule("infinity", "jax<0.4.36"), Rule("nan", "", "c5e8ae80f9"))),
    ),
)
