"""jnp.var and jnp.cov with a ddof above n return negative variances

`jnp.var` and `jnp.cov` divided the sum of squares by n - ddof, even if negative; n counts the elements that a mask
leaves. The array API standard asks for NaN if n is at most ddof (jax#21330). jax#21362 returns NaN in `var` and `std`,
but `jnp.cov` still divides (`cov`). NumPy warns, and returns infinity, or NaN if the sum of squares is 0.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def empty_var() -> tuple[str, str]:
    """Is jnp.var of an empty array with ddof=1 NaN?"""
    import jax.numpy as jnp

    return compare(jnp.var(jnp.asarray([]), ddof=1), float("nan"))


def fewer() -> None:
    """With ddof below n, jnp.var, jnp.cov and jnp.nanvar agree with NumPy; above n, jnp.nanvar gives NaN."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.arange(3.0)
    np.testing.assert_allclose([jnp.var(x, ddof=1), jnp.cov(x, ddof=1), jnp.nanvar(x, ddof=2)], [1.0, 1.0, 2.0])
    assert np.isnan(jnp.nanvar(x, ddof=4))


def nan_instead() -> None:
    """With jnp.where, variances and a covariance are NaN if n is at most ddof, also with a mask."""
    import jax.numpy as jnp
    import numpy as np

    x, mask = jnp.arange(3.0), jnp.array([True, True, False])
    for ddof, wanted in ((1, 1.0), (3, np.nan), (4, np.nan)):
        spread = jnp.array([jnp.var(x, ddof=ddof), jnp.cov(x, ddof=ddof)])
        np.testing.assert_allclose(jnp.where(x.size > ddof, spread, jnp.nan), [wanted, wanted])
    assert jnp.isnan(jnp.where(mask.sum() > 3, jnp.var(x, ddof=3, where=mask), jnp.nan))
    empty = jnp.asarray([])
    assert jnp.isnan(jnp.where(empty.size > 1, jnp.var(empty, ddof=1), jnp.nan))


def spreads(x: Any) -> Any:
    """Return variances and covariances with several ddof."""
    import jax.numpy as jnp

    pairs = [(d, each) for d in (0, 1, 3, 9) for each in (jnp.var(x, axis=-1, ddof=d), jnp.cov(x, ddof=d))]
    return jnp.concatenate([jnp.ravel(jnp.where(x.shape[-1] > d, each, jnp.nan)) for d, each in pairs])


def numpy_spreads(x: Any) -> Any:
    """Return NumPy's variances and covariances with several ddof in float64."""
    import warnings

    import numpy as np

    wide = np.asarray(x, np.result_type(x, np.float64))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = [(d, each) for d in (0, 1, 3, 9) for each in (np.var(wide, axis=-1, ddof=d), np.cov(wide, ddof=d))]
    return np.concatenate([np.ravel(np.where(x.shape[-1] > d, each, np.nan)) for d, each in pairs])


def var() -> tuple[str, str]:
    """Is jnp.var of three numbers with ddof=4 free of negative values?"""
    import jax.numpy as jnp

    given = float(jnp.var(jnp.arange(3.0), ddof=4))
    return "negative" if given < 0.0 else "not-negative", f"the variance is {given}"


def masked_var() -> tuple[str, str]:
    """Is jnp.var(x, ddof=3, where=mask) free of negative values if the mask leaves two of three numbers?"""
    import jax.numpy as jnp

    given = float(jnp.var(jnp.arange(3.0), ddof=3, where=jnp.array([True, True, False])))
    return "negative" if given < 0.0 else "not-negative", f"the variance is {given}"


def cov() -> tuple[str, str]:
    """Is the diagonal of jnp.cov of three samples with ddof=4 free of negative values?"""
    import jax.numpy as jnp

    given = jnp.diag(jnp.cov(jnp.array([[0.0, 1.0, 2.0], [0.0, 3.0, 0.0]]), ddof=4)).tolist()
    return "negative" if min(given) < 0.0 else "not-negative", f"the variances are {given}"


_FIXED = "jax#21362 (3c201e0b8c)"
_VAR = (
    "jax.numpy.var(a, axis, dtype, out, ddof) if ddof > 1 and unseen and not within('jax.numpy.where')",
    "jax.Array.var(axis, dtype, out, ddof) if ddof > 1",
    "jax.experimental.array_api.var(x, axis, correction) if correction > 1 and unseen",
)
_ELSEWHERE = Elsewhere(
    spreads,
    numpy_spreads,
    ("float32 matrix", "float16 vector", "uint8 square", "int32 square", "zero float32 vector", "complex64 vector"),
    rtol=1e-2,
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#21330", fix="jax#21362"),
    control=fewer,
    behaviours={"negative": "affected", "not-negative": "clear"},
    rules=(Rule("negative", "jax<0.4.29"), Rule("not-negative", "", _FIXED)),
    workaround=Workaround(
        "Replace the variance v of n samples by jnp.where(n > ddof, v, jnp.nan).",
        nan_instead,
        elsewhere=_ELSEWHERE,
    ),
    cases=(
        Case(empty_var, rules=(Rule("differs", "jax<0.4.29"), Rule("agrees", "", _FIXED)), touches=_VAR),
        Case(var, touches=_VAR),
        Case(
            masked_var,
            touches=(
                "jax.numpy.var(a, axis, dtype, out, ddof, keepdims, where) if ddof > 1 and given(where) and unseen"
                " and not within('jax.numpy.where')",
            ),
        ),
        Case(
            cov,
            rules=(Rule("negative"),),
            workaround=Workaround(
                "For n samples without weights, write jnp.where(n > ddof, jnp.cov(x, ddof=ddof), jnp.nan).",
                nan_instead,
                elsewhere=_ELSEWHERE,
            ),
            touches=(
                "jax.numpy.cov(m, y, rowvar, bias, ddof) if ddof > 1 and unseen and not within('jax.numpy.where')",
            ),
        ),
    ),
)
