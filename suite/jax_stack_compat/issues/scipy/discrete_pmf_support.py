"""Discrete jax.scipy.stats distributions give non-integers a probability

JAX's formulas for discrete distributions, most with gamma functions for factorials, also give non-integers a
probability (jax#5650). With jax#20891, `poisson` returns 0 for non-integers, as in SciPy; with jax#19166, `binom`
returns 0 from n + 1 on (jax#19150). Between the integers of their support, five other distributions do not return 0
on the releases that were run (`between_integers`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare, members


def poisson() -> tuple[str, str]:
    """Does poisson.logpmf(1.5, 2.0) give 1.5 events the probability 0?"""
    import numpy as np
    from jax.scipy.stats import poisson as law

    return compare(np.exp(law.logpmf(1.5, 2.0)), 0.0)


def integers() -> None:
    """At integers inside and outside the support, binom, geom, nbinom and poisson agree with SciPy."""
    import jax.scipy.stats as ours
    import numpy as np
    import scipy.stats as theirs

    for law, *numbers in (("binom", 5, 0.8), ("geom", 0.5), ("nbinom", 5, 0.5), ("poisson", 2.0)):
        got, wanted = (getattr(stats, law).logpmf(np.array([-1, 1, 2]), *numbers) for stats in (ours, theirs))
        np.testing.assert_allclose(got, wanted, rtol=1e-4)


def mask() -> None:
    """With a mask, binom.pmf is 0 at 1.5 and 6.5 and unchanged at 2, and poisson.logpmf is -inf at 1.5."""
    import jax.numpy as jnp
    from jax.scipy.stats import binom
    from jax.scipy.stats import poisson as law

    k = jnp.array([1.5, 2.0, 6.5])
    got = jnp.where((k == jnp.floor(k)) & (k <= 5), binom.pmf(k, 5, 0.8), 0.0).tolist()
    assert [got[0], got[2]] == [0.0, 0.0], got
    assert abs(got[1] - 0.0512) < 1e-5, got
    assert jnp.where(k == jnp.floor(k), law.logpmf(k, 2.0), -jnp.inf)[0] == -jnp.inf


def masked(k: Any) -> Any:
    """Return logpmf of four distributions, with -inf where k is not an integer."""
    import jax.numpy as jnp
    from jax.scipy import stats

    laws = (stats.poisson, 2.0), (stats.binom, 5, 0.8), (stats.geom, 0.5), (stats.nbinom, 5, 0.5)
    return jnp.stack([jnp.where(k == jnp.floor(k), law.logpmf(k, *numbers), -jnp.inf) for law, *numbers in laws])


def scipy_logpmf(k: Any) -> Any:
    """Return SciPy's logpmf of poisson, binom, geom and nbinom."""
    import numpy as np
    from scipy import stats

    laws = (stats.poisson, 2.0), (stats.binom, 5, 0.8), (stats.geom, 0.5), (stats.nbinom, 5, 0.5)
    return np.stack([law.logpmf(k, *numbers) for law, *numbers in laws])


def between_integers() -> tuple[str, str]:
    """Does logpmf of bernoulli, binom, geom, nbinom and betabinom give 0.5 or 1.5 the probability 0?"""
    import numpy as np
    from jax.scipy import stats

    laws: Any = ((stats.bernoulli, 0.5, 0.3), (stats.binom, 1.5, 5, 0.8), (stats.geom, 1.5, 0.5))
    laws += ((stats.nbinom, 1.5, 5, 0.5), (stats.betabinom, 1.5, 5, 1.0, 1.0))
    return compare([np.exp(law.logpmf(*numbers)) for law, *numbers in laws], [0.0] * 5)


def binom_beyond_n() -> tuple[str, str]:
    """Does binom.pmf(6.5, 5, 0.8) give 6.5 successes in 5 trials the probability 0?"""
    from jax.scipy.stats import binom

    return compare(binom.pmf(6.5, 5, 0.8), 0.0)


_NOT_AN_INTEGER = (
    "(k) if (form(k) in ('jax.numpy.linspace', 'jax.numpy.mean', 'mean') and unseen or seen("
    + " or ".join(f"{n} < k < {n + 1}" for n in range(10))
    + ")) and not within('jax.numpy.where')"
)
_BETWEEN = " ".join(f"{law}.pmf {law}.logpmf" for law in ("bernoulli", "binom", "geom", "nbinom", "betabinom"))

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#5650 jax#19150", fix="jax#20891 jax#19166"),
    control=integers,
    workaround=Workaround(
        "Without loc, mask non-integers: jnp.where(k == jnp.floor(k), law.logpmf(k, …), -jnp.inf).",
        mask,
        elsewhere=Elsewhere(
            masked,
            scipy_logpmf,
            (
                *("float32 vector", "positive float32 matrix", "zero float32 scalar", "float32 empty"),
                *("int32 matrix", "uint8 vector"),
            ),
            rtol=1e-4,
            atol=1e-5,
        ),
    ),
    cases=(
        Case(
            poisson,
            rules=(Rule("differs", "jax<0.4.27"), Rule("agrees", "", "jax#20891 (95ed0538fd)")),
            touches=members("jax.scipy.stats", "poisson.pmf poisson.logpmf", _NOT_AN_INTEGER),
        ),
        Case(
            between_integers,
            rules=(Rule("differs"),),
            touches=members("jax.scipy.stats", _BETWEEN, _NOT_AN_INTEGER),
        ),
        Case(
            binom_beyond_n,
            rules=(Rule("differs", "jax<0.4.24"), Rule("agrees", "", "jax#19166 (77258cd6bd)")),
            touches=members("jax.scipy.stats", "binom.pmf binom.logpmf", _NOT_AN_INTEGER),
        ),
    ),
)
