"""jnp.var gave negative variances where ddof is larger than the number of samples; jnp.cov does still

    jnp.var(jnp.arange(3.0), ddof=4)     # -2 up to jax 0.4.28, NaN from 0.4.29
    jnp.cov(jnp.arange(3.0), ddof=4)     # -2, infinite in NumPy

The sum of squares is divided by n - ddof, and nothing looked at the sign of that. A mask counts: with two samples left
by `where=` and the ddof=3 of an unmasked array the variance was -0.5. jax#21330 asked what the array API standard asks,
NaN where n <= ddof; jax#21362 does that for `var` and `std` from 0.4.29. NumPy gives infinity. At n = ddof JAX's answer
went from infinity to NaN.

Seen in these runs: there were negative variances at all; jax#21330 shows empty arrays and -0. And `jnp.cov` was left as
it was, with weights and without: a covariance matrix with negative numbers on its diagonal comes back on every release,
with no warning (NumPy warns). `jnp.nanvar` was right before.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def var() -> tuple[str, str]:
    """Is the variance of three numbers with ddof=4 free of negative values?"""
    import jax.numpy as jnp

    given = float(jnp.var(jnp.arange(3.0), ddof=4))
    return "negative" if given < 0.0 else "not-negative", f"the variance is {given}"


def fewer() -> None:
    """With ddof below n all are right, and nanvar gives NaN above it."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.arange(3.0)
    np.testing.assert_allclose([jnp.var(x, ddof=1), jnp.cov(x, ddof=1), jnp.nanvar(x, ddof=2)], [1.0, 1.0, 2.0])
    assert np.isnan(jnp.nanvar(x, ddof=4))


def by_hand() -> None:
    """The variance with ddof=0, scaled by hand where there are samples enough."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.arange(3.0)
    for ddof, wanted in ((1, 1.0), (3, np.nan), (4, np.nan)):
        scale = x.size / (x.size - ddof) if x.size > ddof else jnp.nan
        np.testing.assert_allclose([jnp.var(x) * scale, jnp.cov(x, ddof=0) * scale], [wanted, wanted])


def masked_var() -> tuple[str, str]:
    """And that of three numbers of which where= leaves two, with ddof=3?"""
    import jax.numpy as jnp

    given = float(jnp.var(jnp.arange(3.0), ddof=3, where=jnp.array([True, True, False])))
    return "negative" if given < 0.0 else "not-negative", f"the variance is {given}"


def cov() -> tuple[str, str]:
    """Is the diagonal of a covariance matrix of three samples with ddof=4 free of negative values?"""
    import jax.numpy as jnp

    given = jnp.diag(jnp.cov(jnp.array([[0.0, 1.0, 2.0], [0.0, 3.0, 0.0]]), ddof=4)).tolist()
    return "negative" if min(given) < 0.0 else "not-negative", f"the variances are {given}"


_BY_HAND = Workaround("Scale it: jnp.var(x) * (n / (n - ddof) if n > ddof else jnp.nan).", by_hand)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#21330", fix="jax#21362"),
    touches=("jax.numpy.var(ddof=)", "jax.numpy.cov(ddof=)"),
    control=fewer,
    behaviours={"negative": "affected", "not-negative": "clear"},
    rules=(Rule("negative", "jax<0.4.29"), Rule("not-negative", "", "jax#21362 (3c201e0b8c)")),
    cases=(
        Case(
            var,
            workaround=_BY_HAND,
            touches=("jax.numpy.var(a, axis, dtype, out, ddof) if ddof > 1 and uses('jax.numpy.var')",),
        ),
        Case(
            masked_var,
            touches=(
                "jax.numpy.var(a, axis, dtype, out, ddof, keepdims, where) "
                "if ddof > 1 and given(where) and uses('jax.numpy.var')",
            ),
        ),
        Case(
            cov,
            rules=(Rule("negative"),),
            workaround=_BY_HAND,
            touches=("jax.numpy.cov(m, y, rowvar, bias, ddof) if ddof > 1 and uses('jax.numpy.cov')",),
        ),
    ),
)
