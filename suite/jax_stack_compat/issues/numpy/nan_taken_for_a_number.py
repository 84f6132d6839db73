"""xlogy(0, nan), heaviside, rel_entr and uniform.pdf of NaN are not NaN

xlogy and xlog1py return 0 where x is 0, even if y is NaN (jax#37751). Comparisons are false for NaN, so heaviside,
rel_entr and uniform treat NaN like another number: a density of 1 keeps a log-likelihood finite (jax#38317). jax#37915
fixes xlogy and xlog1py, jax#38106 fixes heaviside. Upstream gives edge cases of NaN low priority: whether NaN is
correct may be a convention (jax#38651).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def xlogy() -> tuple[str, str]:
    """Are xlogy(0, nan) and xlog1py(0, nan) of jax.scipy.special NaN?"""
    from jax.scipy.special import xlog1py, xlogy

    nan = float("nan")
    return compare([float(xlogy(0.0, nan)), float(xlog1py(0.0, nan))], [nan, nan])


def numbers() -> None:
    """Without NaN, heaviside, xlogy and uniform.pdf agree with NumPy and SciPy; norm.pdf(nan) is NaN."""
    import jax.numpy as jnp
    import numpy as np
    from jax.scipy.special import xlogy
    from jax.scipy.stats import norm, uniform

    assert jnp.heaviside(jnp.array([-1.0, 0.0, 2.0]), 0.5).tolist() == [0.0, 0.5, 1.0]
    assert float(xlogy(0.0, 0.0)) == 0.0
    np.testing.assert_allclose([uniform.pdf(0.5), uniform.pdf(2.0)], [1.0, 0.0])
    assert np.isnan(norm.pdf(jnp.nan))


def add_what_came_in() -> None:
    """With jnp.where, heaviside, xlogy and uniform.pdf return NaN where the argument is NaN."""
    import jax
    import jax.numpy as jnp

    x = jnp.array([jnp.nan, 2.0])
    for result in (jnp.heaviside(x, 0.5), jax.scipy.special.xlogy(0.0, x), jax.scipy.stats.uniform.pdf(x)):
        assert jnp.isnan(jnp.where(jnp.isnan(x), x, result)).tolist() == [True, False]


def keep_nan_among_numbers() -> None:
    """In float32 and float16 matrices, jnp.where keeps NaN; the other results agree with NumPy and SciPy."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import scipy

    for dtype in ("float32", "float16"):
        x = np.array([[np.nan, -1.5, 0.0], [0.25, 3.0, np.nan]], dtype)
        for got, wanted in (
            (jnp.heaviside(x, 0.5), np.heaviside(x, 0.5)),
            (jax.scipy.special.xlogy(0.0, x), scipy.special.xlogy(0.0, x)),
            (jax.scipy.stats.uniform.pdf(x, -1, 3), scipy.stats.uniform.pdf(x, -1, 3)),
        ):
            np.testing.assert_allclose(jnp.where(jnp.isnan(x), x, got), wanted, rtol=2e-3)


def heaviside() -> tuple[str, str]:
    """Is jnp.heaviside(nan, 0.5) NaN?"""
    import jax.numpy as jnp

    nan = float("nan")
    return compare(jnp.heaviside(jnp.array([nan, -1.0, 0.0, 2.0]), 0.5), [nan, 0.0, 0.5, 1.0])


def rel_entr() -> tuple[str, str]:
    """Are rel_entr(0, nan) and rel_entr(nan, 1) of jax.scipy.special NaN?"""
    from jax.scipy.special import rel_entr

    nan = float("nan")
    return compare([float(rel_entr(0.0, nan)), float(rel_entr(nan, 1.0))], [nan, nan])


def relative_entropy() -> None:
    """With jnp.where, rel_entr(p, q) is NaN where p or q is NaN, and elsewhere agrees with SciPy."""
    import jax.numpy as jnp
    import numpy as np
    from jax.scipy.special import rel_entr

    nan = jnp.nan
    p, q = jnp.array([0.0, nan, 1.0, 1.0, 0.0]), jnp.array([nan, 1.0, 2.0, 0.0, 1.0])
    got = jnp.where(jnp.isnan(p + q), nan, jnp.where(p == 0, 0, rel_entr(p, q)))
    np.testing.assert_allclose(got, [nan, nan, -np.log(2), np.inf, 0.0], rtol=1e-6)


def relative_entropies() -> None:
    """In float32 and float16, rel_entr with jnp.where agrees with SciPy, also where p or q is NaN."""
    import jax.numpy as jnp
    import numpy as np
    import scipy
    from jax.scipy.special import rel_entr

    for dtype in ("float32", "float16"):
        q = np.array([np.nan, 0.0, 0.25, 1.0, 3.0], dtype)
        p = q[:, None]
        got = jnp.where(jnp.isnan(p + q), jnp.nan, jnp.where(p == 0, 0, rel_entr(p, q)))
        np.testing.assert_allclose(got, scipy.special.rel_entr(p, q), rtol=2e-3)


def uniform() -> tuple[str, str]:
    """Are pdf(nan) and logpdf(nan) of jax.scipy.stats.uniform NaN?"""
    from jax.scipy.stats import uniform

    nan = float("nan")
    return compare([float(uniform.pdf(nan)), float(uniform.logpdf(nan))], [nan, nan])


_WHERE = Workaround(
    "Return NaN where x is NaN: jnp.where(jnp.isnan(x), x, f(x)).", add_what_came_in, elsewhere=keep_nan_among_numbers
)
_NUMBERS = ("jax.numpy.linspace", "jax.numpy.arange", "jax.random.uniform", "jax.random.normal")
_OPEN = f"if not form(x) in {_NUMBERS} and unseen and without('jax.numpy.isnan')"
# A literal NaN.
_NAN = "if without('jax.numpy.isnan') and x == 'jax.numpy.nan'"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#37751 jax#38105 jax#38262 jax#38317", fix="jax#37915 jax#38106", discussion="jax#38651"
    ),
    control=numbers,
    rules=(Rule("differs", "jax<0.12.0"), Rule("agrees")),
    workaround=_WHERE,
    cases=(
        Case(
            xlogy,
            rules=(Rule("differs", "jax<0.10.2"), Rule("agrees", "", "jax#37915 (60912d9674)")),
            workaround=Workaround(
                "Return NaN where y is NaN: jnp.where(jnp.isnan(y), y, xlogy(x, y)).",
                add_what_came_in,
                elsewhere=keep_nan_among_numbers,
            ),
            touches=(
                *members("jax.scipy.special", "xlogy xlog1py", f"(factor, x) {_OPEN} and factor == 0"),
                *members("jax.scipy.special", "xlogy xlog1py", f"(factor, x) {_NAN} and unseen"),
            ),
        ),
        Case(
            heaviside,
            rules=(Rule("differs", "jax<0.10.2"), Rule("agrees", "", "jax#38106 (88b3d13390)")),
            touches=(f"jax.numpy.heaviside(x) {_OPEN}", f"jax.numpy.heaviside(x) {_NAN}"),
        ),
        Case(
            rel_entr,
            workaround=Workaround(
                "For p, q >= 0: jnp.where(jnp.isnan(p + q), jnp.nan, jnp.where(p == 0, 0, rel_entr(p, q))).",
                relative_entropy,
                elsewhere=relative_entropies,
            ),
            touches=(
                f"jax.scipy.special.rel_entr(x) {_OPEN}",
                f"jax.scipy.special.rel_entr(x, y) {_NAN}",
            ),
        ),
        Case(
            uniform,
            touches=(
                *members("jax.scipy.stats.uniform", "pdf logpdf cdf", f"(x) {_OPEN}"),
                *members("jax.scipy.stats.uniform", "pdf logpdf cdf", f"(x) {_NAN}"),
            ),
        ),
    ),
)
