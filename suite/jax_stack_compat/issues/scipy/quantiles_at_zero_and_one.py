"""jax.scipy.stats: quantiles of probability 0 and 1 are wrong for cauchy, and NaN for gumbel_l and gumbel_r

    jax.scipy.stats.cauchy.ppf(0.0)      # 22877334 up to jax 0.11.2, should be -inf
    jax.scipy.stats.gumbel_r.ppf(1.0)    # nan, SciPy: inf

The quantile of 0 is the lower end of a distribution, and that of 1 the upper end. For cauchy the formula was the
tangent of pi * (q - 0.5). In float32 that argument lies beyond the pole, so the lower end was a large positive number.
jax 0.12.0 computes each half from its own end. For gumbel the code takes only probabilities strictly between 0 and 1.
jax#38318 reports both, and jax#38436 would mend gumbel.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def cauchy() -> tuple[str, str]:
    """Are the quantiles of 0 and 1 of the Cauchy distribution -infinity and infinity?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    return compare(jax.scipy.stats.cauchy.ppf(jnp.array([0.0, 1.0])), [-np.inf, np.inf])


def between() -> None:
    """Between 0 and 1 quantiles are right."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    got = jax.scipy.stats.cauchy.ppf(jnp.array([0.25, 0.5, 0.75]))
    np.testing.assert_allclose(got, [-1.0, 0.0, 1.0], rtol=1e-5, atol=1e-6)


def set_the_ends() -> None:
    """The ends by jnp.where."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    q = jnp.array([0.0, 0.5, 1.0])
    got = jnp.where(q == 0, -jnp.inf, jnp.where(q == 1, jnp.inf, jax.scipy.stats.cauchy.ppf(q)))
    np.testing.assert_allclose(got, [-np.inf, 0.0, np.inf], atol=1e-6)


def gumbel() -> tuple[str, str]:
    """Are they, of gumbel_r and gumbel_l?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    if not hasattr(jax.scipy.stats, "gumbel_r"):
        return "absent", "there is no jax.scipy.stats.gumbel_r"
    q = jnp.array([0.0, 1.0])
    got = [jax.scipy.stats.gumbel_r.ppf(q), jax.scipy.stats.gumbel_l.ppf(q)]
    return compare(jnp.concatenate(got), [-np.inf, np.inf, -np.inf, np.inf])


def ends_of_gumbel() -> None:
    """The ends by jnp.where."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    q = jnp.array([0.0, 0.5, 1.0])
    inside = jax.scipy.stats.gumbel_r.ppf(q) if hasattr(jax.scipy.stats, "gumbel_r") else -jnp.log(-jnp.log(q))
    got = jnp.where(q == 0, -jnp.inf, jnp.where(q == 1, jnp.inf, inside))
    np.testing.assert_allclose(got, [-np.inf, 0.36651292, np.inf], rtol=1e-4)


_WHERE = "jnp.where(q == 0, -jnp.inf, jnp.where(q == 1, jnp.inf, ppf(q)))"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#38318", attempt="jax#38436"),
    control=between,
    cases=(
        Case(
            cauchy,
            rules=(Rule("differs", "jax<0.12.0"), Rule("agrees", "", "jax/_src/scipy/stats/cauchy.py")),
            workaround=Workaround(_WHERE, set_the_ends),
            touches=(
                "jax.scipy.stats.cauchy.ppf(q) if (q == 0 or q == 1) and not within('jax.numpy.where')",
                "jax.scipy.stats.cauchy.isf(q) if (q == 0 or q == 1) and not within('jax.numpy.where')",
            ),
        ),
        Case(
            gumbel,
            rules=(Rule("absent", "jax<0.7.0"), Rule("differs", "", "jax#38436 is open")),
            workaround=Workaround(_WHERE, ends_of_gumbel),
            touches=(
                "jax.scipy.stats.gumbel_r.ppf(p) if (p == 0 or p == 1) and not within('jax.numpy.where')",
                "jax.scipy.stats.gumbel_l.ppf(p) if (p == 0 or p == 1) and not within('jax.numpy.where')",
            ),
        ),
    ),
)
