"""jax.scipy.special: gamma and beta of negative numbers with the wrong sign or NaN, rel_entr(0, q) not 0

    jax.scipy.special.gamma(-0.5)            # 3.54 up to jax 0.4.20, should be -3.54
    jax.scipy.special.beta(-0.5, 1.0)        # 2 from 0.4.21 to 0.4.26, should be -2
    jax.scipy.special.rel_entr(0.0, 0.7)     # 0.7 up to 0.4.28, should be 0
    jax.scipy.special.betaln(-3.0, 2.0)      # NaN, should be -1.79

Gamma and beta are exponentials of sums of `gammaln`, which is the logarithm of an absolute value: the sign has to come
from elsewhere. jax#18683 gave it to gamma (0.4.21), jax#20589 to beta (0.4.27). Where a pole above cancels one below,
the sum is infinity less infinity, a NaN; jax#38243 and jax#38270 about that are open. jax#21193 mended `rel_entr`, a
term of the Kullback-Leibler divergence: it gave q where p is 0, which makes the divergence of disjoint laws 1.

Seen in these runs: beta came with 0.4.21, the release that mended gamma, and up to 0.4.26 it has the fault that gamma
had.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def gamma() -> tuple[str, str]:
    """Has gamma SciPy's sign between the negative integers?"""
    import jax
    import numpy as np
    import scipy.special

    x = np.array([-0.5, -1.5, -2.5], np.float32)
    return compare(jax.scipy.special.gamma(x), scipy.special.gamma(x), rtol=1e-5)


def reflection() -> None:
    """The reflection formula, which needs gamma of positive numbers alone."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([-0.5, -1.5, -2.5])
    got = jnp.pi / (jnp.sin(jnp.pi * x) * jnp.exp(jax.scipy.special.gammaln(1.0 - x)))
    np.testing.assert_allclose(got, [-3.5449077, 2.3632718, -0.9453087], rtol=1e-4)


def beta() -> tuple[str, str]:
    """Has beta SciPy's sign for negative arguments?"""
    import jax
    import numpy as np
    import scipy.special

    if not hasattr(jax.scipy.special, "beta"):
        return "absent", "there is no jax.scipy.special.beta"
    a, b = np.array([[-0.5, -1.5, -0.5], [1.0, 1.0, -0.7]], np.float32)
    return compare(jax.scipy.special.beta(a, b), scipy.special.beta(a, b), rtol=1e-4)


def rel_entr() -> tuple[str, str]:
    """Is rel_entr(0, q) 0, as the limit of p log(p / q)?"""
    import jax
    import numpy as np
    import scipy.special

    p, q = np.array([[0.3, 0.0, 0.0], [0.3, 0.7, 0.0]], np.float32)
    return compare(jax.scipy.special.rel_entr(p, q), scipy.special.rel_entr(p, q), rtol=1e-5)


def positive() -> None:
    """For positive arguments all are SciPy's."""
    import jax
    import numpy as np
    import scipy.special

    a, b = np.array([[0.5, 2.0, 3.5], [1.0, 3.0, 0.7]], np.float32)
    np.testing.assert_allclose(jax.scipy.special.gamma(a), scipy.special.gamma(a), rtol=1e-4)
    for name in ("betaln", "rel_entr", "kl_div"):
        if hasattr(jax.scipy.special, name):
            ours, theirs = getattr(jax.scipy.special, name), getattr(scipy.special, name)
            np.testing.assert_allclose(ours(a, b), theirs(a, b), rtol=1e-4, atol=1e-5)


def masked() -> None:
    """The limit by jnp.where, where p is 0."""
    import jax
    import jax.numpy as jnp

    p, q = jnp.array([0.3, 0.0]), jnp.array([0.3, 0.7])
    assert jnp.where(p == 0, 0.0, jax.scipy.special.rel_entr(p, q)).tolist() == [0.0, 0.0]


def betaln_at_poles() -> tuple[str, str]:
    """Is betaln SciPy's at negative integers where it is finite?"""
    import jax
    import numpy as np
    import scipy.special

    a, b = np.array([[-2.0, -3.0, -4.0], [1.0, 2.0, 4.0]], np.float32)
    return compare(jax.scipy.special.betaln(a, b), scipy.special.betaln(a, b), rtol=1e-5)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#20587 jax#21192 jax#21265 jax#38243 jax#38270", fix="jax#18683 jax#20589 jax#21193"
    ),
    control=positive,
    cases=(
        Case(
            rel_entr,
            rules=(Rule("differs", "jax<0.4.29"), Rule("agrees", "", "jax#21193 (818e7d92a4)")),
            workaround=Workaround("Mask it: jnp.where(p == 0, 0.0, rel_entr(p, q)).", masked),
            touches=("jax.scipy.special.rel_entr(p, q) if p == 0 and not within('jax.numpy.where')",),
        ),
        Case(
            gamma,
            rules=(Rule("differs", "jax<0.4.21"), Rule("agrees", "", "jax#18683 (01fde43fce)")),
            workaround=Workaround("Reflect: pi / (sin(pi * x) * exp(gammaln(1 - x))).", reflection),
            touches=("jax.scipy.special.gamma(x) if x < 0",),
        ),
        Case(
            beta,
            rules=(
                Rule("absent", "jax<0.4.21"),
                Rule("differs", "jax<0.4.27"),
                Rule("agrees", "", "jax#20589 (97b15cc64b)"),
            ),
            touches=("jax.scipy.special.beta(a, b) if a < 0 or b < 0",),
        ),
        Case(
            betaln_at_poles,
            rules=(Rule("differs", "", "jax#38243 is open"),),
            touches=("jax.scipy.special.betaln(a, b) if a in (-1, -2, -3, -4, -5) or b in (-1, -2, -3, -4, -5)",),
        ),
    ),
)
