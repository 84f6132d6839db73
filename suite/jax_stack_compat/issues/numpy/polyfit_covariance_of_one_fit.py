"""jnp.polyfit(cov=True) of several fits returns one covariance

NumPy fits each column of y separately, and stacks their covariance matrices along the last axis. jnp.polyfit scaled by
the residuals of the first column, and returned one matrix with a last axis of length 1, which broadcasts (jax#24073).
21f9d23658 uses the residuals of all columns. `one_fit` shows that the coefficients, and the covariance of one column,
agree with NumPy.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def scaled() -> tuple[str, str]:
    """For y with three columns, does jnp.polyfit(x, y, 1, cov=True) give NumPy's variances of the slopes?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.arange(6.0)
    y = np.stack([x**2, 3.0 * x + np.array([0.0, 1.0, 0.0, -1.0, 0.0, 2.0]), x**3], 1)
    return compare(jnp.polyfit(x, y, 1, cov=True)[1][0, 0], np.polyfit(x, y, 1, cov=True)[1][0, 0], rtol=1e-3)


def one_fit() -> None:
    """jnp.polyfit agrees with NumPy for the coefficients of two columns, and the covariance of one column."""
    import jax.numpy as jnp
    import numpy as np

    x = np.arange(6.0)
    y = np.stack([x**2, x**3], 1)
    np.testing.assert_allclose(jnp.polyfit(x, y, 1), np.polyfit(x, y, 1), rtol=1e-3)
    for ours, theirs in zip(jnp.polyfit(x, y[:, 0], 1, cov=True), np.polyfit(x, y[:, 0], 1, cov=True), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3)


def one_by_one() -> None:
    """With jax.vmap over the columns, the covariances agree with NumPy."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = np.arange(6.0)
    y = np.stack([x**2, x**3], 1)
    covariances = jax.vmap(lambda column: jnp.polyfit(x, column, 1, cov=True)[1], in_axes=1, out_axes=-1)(y)
    np.testing.assert_allclose(covariances, np.polyfit(x, y, 1, cov=True)[1], rtol=1e-3)


def fitted(y: Any, w: Any) -> Any:
    """Return the covariances of lines fitted to the squares of each column."""
    import jax
    import jax.numpy as jnp

    return jax.vmap(lambda column: jnp.polyfit(jnp.arange(3.0), column, 1, w=w[0], cov=True)[1], 1, -1)(y * y)


def fitted_by_numpy(y: Any, w: Any) -> Any:
    """Return NumPy's covariances of lines fitted to the squares of each column."""
    import numpy as np

    return np.polyfit(np.arange(3.0), y * y, 1, w=w[0], cov=True)[1]


def weighted() -> tuple[str, str]:
    """For y with three columns, does jnp.polyfit(x, y, 1, w=w, cov=True) give NumPy's variances of the slopes?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.arange(6.0)
    y = np.stack([x**2, 3.0 * x + np.array([0.0, 1.0, 0.0, -1.0, 0.0, 2.0]), x**3], 1)
    ours, theirs = (module.polyfit(x, y, 1, w=x + 1.0, cov=True)[1][0, 0] for module in (jnp, np))
    return compare(ours, theirs, rtol=1e-3)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#24073", fix="jax@21f9d23658"),
    touches=(
        "jax.numpy.polyfit(x, y, deg, rcond, full, w, cov) if given(cov) and cov not in (False, 'unscaled') "
        "and not (given(full) and full) and not within('jax.vmap', 'equinox.filter_vmap') "
        "and (form(y) in ('jax.numpy.column_stack', 'numpy.column_stack') or unseen)",
    ),
    control=one_fit,
    rules=(Rule("differs", "jax<0.6.1"), Rule("agrees", "", "21f9d23658")),
    workaround=Workaround(
        "Map over the columns: jax.vmap(lambda y: jnp.polyfit(x, y, deg, w=w, cov=True)[1], 1, -1)(y).",
        one_by_one,
        elsewhere=Elsewhere(
            fitted,
            fitted_by_numpy,
            (
                "float32 matrix, unit float32 square",
                "int32 matrix, positive float32 square",
                "int8 square, unit float32 square",
            ),
            rtol=1e-3,
            atol=1e-5,
        ),
    ),
    cases=(Case(scaled), Case(weighted)),
)
