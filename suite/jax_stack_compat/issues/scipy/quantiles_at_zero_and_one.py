"""jax.scipy.stats: cauchy and gumbel quantiles of 0 and 1 are not infinite

JAX computed quantiles of `cauchy` as `tan(pi * q - pi / 2)`. Near q = 0, and at 1, the float32 argument passes the pole
of the tangent, so the sign was wrong (jax#38318, `near_zero`). `cauchy.ppf` did not check that q is a probability
(`outside`). The gumbel quantiles take q strictly between 0 and 1, and are NaN at both ends, which jax#38436 would
change.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare, members


def cauchy() -> tuple[str, str]:
    """Does jax.scipy.stats.cauchy.ppf return -infinity at 0 and infinity at 1?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    return compare(jax.scipy.stats.cauchy.ppf(jnp.array([0.0, 1.0])), [-np.inf, np.inf])


def between() -> None:
    """At 0.25, 0.5 and 0.75, jax.scipy.stats.cauchy.ppf returns -1, 0 and 1."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    got = jax.scipy.stats.cauchy.ppf(jnp.array([0.25, 0.5, 0.75]))
    np.testing.assert_allclose(got, [-1.0, 0.0, 1.0], rtol=1e-5, atol=1e-6)


def from_the_nearer_end() -> None:
    """Cauchy quantiles from tan(pi * q), or tan(pi * (1 - q)) above 0.5, are exact, also at 0 and 1."""
    import jax.numpy as jnp
    import numpy as np

    q = jnp.array([0.0, 1e-9, 0.25, 0.5, 0.75, 1.0])
    got = jnp.where(q > 0.5, 1, -1) / jnp.tan(jnp.pi * jnp.where(q > 0.5, 1 - q, q))
    np.testing.assert_allclose(got, [-np.inf, -318309886.2, -1.0, 0.0, 1.0, np.inf], rtol=1e-6, atol=1e-6)


def quantiles(q: Any) -> Any:
    """Return Cauchy quantiles from tan(pi * q), or from tan(pi * (1 - q)) above 0.5."""
    import jax.numpy as jnp

    return jnp.where(q > 0.5, 1, -1) / jnp.tan(jnp.pi * jnp.where(q > 0.5, 1 - q, q))


def scipy_quantiles(q: Any) -> Any:
    """Return SciPy's quantiles in float64."""
    import numpy as np
    import scipy.stats

    return scipy.stats.cauchy.ppf(np.asarray(q, np.float64))


def near_zero() -> tuple[str, str]:
    """Does jax.scipy.stats.cauchy.ppf of 1e-9 return -318309886?"""
    import jax
    import jax.numpy as jnp

    return compare(jax.scipy.stats.cauchy.ppf(jnp.array(1e-9)), -318309886.2, rtol=1e-3)


def outside() -> tuple[str, str]:
    """Does jax.scipy.stats.cauchy.ppf return NaN for -0.5 and 2, which are not probabilities?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    return compare(jax.scipy.stats.cauchy.ppf(jnp.array([-0.5, 2.0])), [np.nan, np.nan])


def gumbel() -> tuple[str, str]:
    """Do gumbel_r.ppf and gumbel_l.ppf return -infinity at 0 and infinity at 1?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    if not hasattr(jax.scipy.stats, "gumbel_r"):
        return "absent", "there is no jax.scipy.stats.gumbel_r"
    q = jnp.array([0.0, 1.0])
    got = [jax.scipy.stats.gumbel_r.ppf(q), jax.scipy.stats.gumbel_l.ppf(q)]
    return compare(jnp.concatenate(got), [-np.inf, np.inf, -np.inf, np.inf])


def ends_of_gumbel() -> None:
    """With the values at 0 and 1 set by jnp.where, the quantiles of gumbel_r agree with SciPy."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    q = jnp.array([0.0, 0.5, 1.0])
    inside = jax.scipy.stats.gumbel_r.ppf(q) if hasattr(jax.scipy.stats, "gumbel_r") else -jnp.log(-jnp.log(q))
    got = jnp.where(q == 0, -jnp.inf, jnp.where(q == 1, jnp.inf, inside))
    np.testing.assert_allclose(got, [-np.inf, 0.36651292, np.inf], rtol=1e-4)


def gumbel_quantiles(q: Any) -> Any:
    """Return the quantiles of gumbel_r and gumbel_l, with infinities set at 0 and 1."""
    import jax
    import jax.numpy as jnp

    both = jnp.stack([jax.scipy.stats.gumbel_r.ppf(q), jax.scipy.stats.gumbel_l.ppf(q)])
    return jnp.where(q == 0, -jnp.inf, jnp.where(q == 1, jnp.inf, both))


def scipy_gumbel_quantiles(q: Any) -> Any:
    """Return SciPy's quantiles in float64."""
    import numpy as np
    import scipy.stats

    q = np.asarray(q, np.float64)
    return np.stack([scipy.stats.gumbel_r.ppf(q), scipy.stats.gumbel_l.ppf(q)])


_PROBABILITIES = ("unit float32 matrix", "unit float64 scalar", "bool vector", "zero int32 one", "float32 empty")
_BARE = "not within('jax.numpy.where')"
_HALVES = Workaround(
    "For probabilities q, compute ppf and -isf as jnp.where(q>0.5, 1, -1)/jnp.tan(jnp.pi*jnp.where(q>0.5, 1-q, q)).",
    from_the_nearer_end,
    elsewhere=Elsewhere(quantiles, scipy_quantiles, _PROBABILITIES, rtol=1e-5, atol=1e-6),
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#38318", attempt="jax#38435 jax#38436"),
    control=between,
    rules=(Rule("differs", "jax<0.12.0"), Rule("agrees", "", "jax/_src/scipy/stats/cauchy.py")),
    cases=(
        Case(
            cauchy,
            workaround=_HALVES,
            touches=members("jax.scipy.stats.cauchy", "ppf isf", f"(q) if q in (0, 1) and {_BARE}"),
        ),
        Case(
            near_zero,
            workaround=_HALVES,
            touches=members("jax.scipy.stats.cauchy", "ppf isf", "(q) if 0 < q < 1e-6 and not uses('jax_enable_x64')"),
        ),
        Case(outside, touches=members("jax.scipy.stats.cauchy", "ppf isf", f"(q) if (q < 0 or q > 1) and {_BARE}")),
        Case(
            gumbel,
            rules=(Rule("absent", "jax<0.7.0"), Rule("differs", "", "jax#38436 is open")),
            workaround=Workaround(
                "Set the infinite quantiles: jnp.where(q == 0, -jnp.inf, jnp.where(q == 1, jnp.inf, gumbel_r.ppf(q))).",
                ends_of_gumbel,
                elsewhere=Elsewhere(gumbel_quantiles, scipy_gumbel_quantiles, _PROBABILITIES, rtol=1e-4, atol=1e-6),
            ),
            touches=members("jax.scipy.stats", "gumbel_r.ppf gumbel_l.ppf", f"(p) if p in (0, 1) and {_BARE}"),
        ),
    ),
)
