"""heaviside(nan), xlogy(0, nan), rel_entr(0, nan) and uniform.pdf(nan) of JAX are numbers

    jnp.heaviside(jnp.nan, 0.5)                    # 0.5 up to jax 0.10.1, should be NaN
    jax.scipy.special.xlogy(0.0, jnp.nan)          # 0 up to jax 0.10.1, should be NaN
    jax.scipy.stats.uniform.pdf(jnp.nan)           # 1 up to jax 0.11.2, should be NaN

Each compares, and every comparison with NaN is false: what stands in the last branch comes out. A density of 1 for NaN
keeps a log-likelihood finite, and a guard that looks for NaN finds none. Two were mended in 0.10.2: heaviside
(jax#38105, jax#38106), and xlogy with xlog1py (jax#37751, jax#37915). jax#38262 and jax#38317, on rel_entr and on the
uniform law, are open.

Seen in these runs: rel_entr and the uniform law give NaN from 0.12.0 on, though their issues are open.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def heaviside() -> tuple[str, str]:
    """Is the step function of NaN NaN?"""
    import jax.numpy as jnp

    nan = float("nan")
    return compare(jnp.heaviside(jnp.array([nan, -1.0, 0.0, 2.0]), 0.5), [nan, 0.0, 0.5, 1.0])


def xlogy() -> tuple[str, str]:
    """Are xlogy(0, nan) and xlog1py(0, nan) NaN?"""
    from jax.scipy.special import xlog1py, xlogy

    nan = float("nan")
    return compare([float(xlogy(0.0, nan)), float(xlog1py(0.0, nan))], [nan, nan])


def rel_entr() -> tuple[str, str]:
    """Are rel_entr(0, nan) and rel_entr(nan, 1) NaN?"""
    from jax.scipy.special import rel_entr

    nan = float("nan")
    return compare([float(rel_entr(0.0, nan)), float(rel_entr(nan, 1.0))], [nan, nan])


def uniform() -> tuple[str, str]:
    """Is the uniform density of NaN NaN?"""
    from jax.scipy.stats import uniform

    nan = float("nan")
    return compare([float(uniform.pdf(nan)), float(uniform.logpdf(nan))], [nan, nan])


def numbers() -> None:
    """For numbers all are right, and xlogy(0, 0) is 0 on purpose."""
    import jax.numpy as jnp
    import numpy as np
    from jax.scipy.special import xlogy
    from jax.scipy.stats import norm, uniform

    assert jnp.heaviside(jnp.array([-1.0, 0.0, 2.0]), 0.5).tolist() == [0.0, 0.5, 1.0]
    assert float(xlogy(0.0, 0.0)) == 0.0
    np.testing.assert_allclose([uniform.pdf(0.5), uniform.pdf(2.0)], [1.0, 0.0])
    assert np.isnan(norm.pdf(jnp.nan))


def add_what_came_in() -> None:
    """The result where the argument is NaN replaced by the argument."""
    import jax
    import jax.numpy as jnp

    x = jnp.array([jnp.nan, 2.0])
    for result in (jnp.heaviside(x, 0.5), jax.scipy.special.xlogy(0.0, x), jax.scipy.stats.uniform.pdf(x)):
        assert jnp.isnan(jnp.where(jnp.isnan(x), x, result)).tolist() == [True, False]


_WHERE = Workaround("Put it back: jnp.where(jnp.isnan(x), x, f(x)).", add_what_came_in)
# The advice asks for NaN.
_BARE = " if unseen and without('jax.numpy.isnan')"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#38105 jax#37751 jax#38262 jax#38317", fix="jax#38106 jax#37915"),
    touches=("jax.scipy.stats.uniform",),
    control=numbers,
    rules=(Rule("differs", "jax<0.12.0"), Rule("agrees")),
    cases=(
        Case(uniform, workaround=_WHERE, touches=members("jax.scipy.stats.uniform", "pdf logpdf", _BARE)),
        Case(
            heaviside,
            rules=(Rule("differs", "jax<0.10.2"), Rule("agrees", "", "jax#38106 (88b3d13390)")),
            workaround=_WHERE,
            touches=(f"jax.numpy.heaviside{_BARE}",),
        ),
        Case(
            xlogy,
            rules=(Rule("differs", "jax<0.10.2"), Rule("agrees", "", "jax#37915 (60912d9674)")),
            workaround=_WHERE,
            touches=members(
                "jax.scipy.special",
                "xlogy xlog1py",
                "(x, y) if x == 0 and type(y) not in ('int', 'float') and without('jax.numpy.isnan')",
            ),
        ),
        Case(rel_entr, touches=("jax.scipy.special.rel_entr",)),
    ),
)
