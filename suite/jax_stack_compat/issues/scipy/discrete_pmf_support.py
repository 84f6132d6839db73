"""Discrete distributions of jax.scipy.stats give probability to what is no integer

    jax.scipy.stats.binom.pmf(2.5, 5, 0.8)       # 0.111 on every release, SciPy: 0
    jax.scipy.stats.poisson.logpmf(1.5, 2.0)     # -1.24 up to jax 0.4.26, SciPy: -inf

The formulas have gamma functions for factorials, which go on between the integers, and nothing cuts them off: jax#5650
says so of poisson, in 2021. jax#19150 plotted `binom.pmf` over a fine grid and saw it oscillate beyond n; jax#19166, in
0.4.24, made it 0 there, and left what is between 0 and n. jax#20891, in 0.4.27, made `poisson` 0 for what is no
integer, to be as SciPy is.

Seen in these runs: `binom`, `geom`, `nbinom` and `betabinom` give 1.5 a probability above 0, from jax 0.4.18 on. So
counts that were scaled or averaged before they reach a likelihood get a finite one.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def between_integers() -> tuple[str, str]:
    """Is the probability of 1.5 zero for binom, geom, nbinom and betabinom?"""
    import numpy as np
    from jax.scipy import stats

    laws = ((stats.binom, 5, 0.8), (stats.geom, 0.5), (stats.nbinom, 5, 0.5), (stats.betabinom, 5, 1.0, 1.0))
    return compare([np.exp(law.logpmf(1.5, *numbers)) for law, *numbers in laws], [0.0] * 4)


def integers() -> None:
    """At integers, inside and outside, all are SciPy's."""
    import jax.scipy.stats as ours
    import numpy as np
    import scipy.stats as theirs

    for law, *numbers in (("binom", 5, 0.8), ("geom", 0.5), ("nbinom", 5, 0.5), ("poisson", 2.0)):
        got, wanted = (getattr(stats, law).logpmf(np.array([-1, 1, 2]), *numbers) for stats in (ours, theirs))
        np.testing.assert_allclose(got, wanted, rtol=1e-4)


def mask() -> None:
    """What is no integer masked by hand."""
    import jax.numpy as jnp
    from jax.scipy.stats import binom
    from jax.scipy.stats import poisson as law

    k = jnp.array([1.5, 2.0, 6.5])
    got = jnp.where((k == jnp.floor(k)) & (k <= 5), binom.pmf(k, 5, 0.8), 0.0).tolist()
    assert [got[0], got[2]] == [0.0, 0.0], got
    assert abs(got[1] - 0.0512) < 1e-5, got
    assert jnp.where(k == jnp.floor(k), law.logpmf(k, 2.0), -jnp.inf)[0] == -jnp.inf


def binom_beyond_n() -> tuple[str, str]:
    """Is the probability of 6.5 in 5 trials zero?"""
    from jax.scipy.stats import binom

    return compare(binom.pmf(6.5, 5, 0.8), 0.0)


def poisson() -> tuple[str, str]:
    """Is the probability of 1.5 events zero?"""
    import numpy as np
    from jax.scipy.stats import poisson as law

    return compare(np.exp(law.logpmf(1.5, 2.0)), 0.0)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#19150", fix="jax#19166 jax#20891"),
    touches=members(
        "jax.scipy.stats", "binom poisson geom nbinom betabinom", " if unseen and not within('jax.numpy.where')"
    ),
    control=integers,
    workaround=Workaround("Mask by hand: jnp.where(k == jnp.floor(k), law.logpmf(k, …), -jnp.inf).", mask),
    cases=(
        Case(between_integers, rules=(Rule("differs"),)),
        Case(binom_beyond_n, rules=(Rule("differs", "jax<0.4.24"), Rule("agrees", "", "jax#19166"))),
        Case(poisson, rules=(Rule("differs", "jax<0.4.27"), Rule("agrees", "", "jax#20891"))),
    ),
)
