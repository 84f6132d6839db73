"""jnp.polyfit(x, y, deg, cov=True) gives the covariance of the first of several fits for all, up to jax 0.6.0

    jnp.polyfit(x, y, 1, cov=True)[1].shape     # y of shape (6, 3): (2, 2, 1) up to jax 0.6.0, should be (2, 2, 3)

With several columns in y there are several fits, and each has residuals of its own. The scale of the covariance was
taken from the first column. The shape has a trailing axis of 1, which broadcasts, so error bars made of it look right
for all fits. jax#24073 was opened in October 2024 and mended in April 2025 (21f9d23658); 0.6.1 is the first release
that has it. The coefficients were right, and so is one column.

Seen in these runs: with weights (`w=`) it goes wrong in the same way, up to 0.6.0.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def scaled() -> tuple[str, str]:
    """Are the variances of the slopes of three fits those of NumPy?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.arange(6.0)
    y = np.stack([x**2, 3.0 * x + np.array([0.0, 1.0, 0.0, -1.0, 0.0, 2.0]), x**3], 1)
    return compare(jnp.polyfit(x, y, 1, cov=True)[1][0, 0], np.polyfit(x, y, 1, cov=True)[1][0, 0], rtol=1e-3)


def one_fit() -> None:
    """The coefficients of several fits are right, and so is the covariance of a single one."""
    import jax.numpy as jnp
    import numpy as np

    x = np.arange(6.0)
    y = np.stack([x**2, x**3], 1)
    np.testing.assert_allclose(jnp.polyfit(x, y, 1), np.polyfit(x, y, 1), rtol=1e-3)
    for ours, theirs in zip(jnp.polyfit(x, y[:, 0], 1, cov=True), np.polyfit(x, y[:, 0], 1, cov=True), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3)


def one_by_one() -> None:
    """A fit for each column, by vmap."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = np.arange(6.0)
    y = np.stack([x**2, x**3], 1)
    covariances = jax.vmap(lambda column: jnp.polyfit(x, column, 1, cov=True)[1], in_axes=1, out_axes=-1)(y)
    np.testing.assert_allclose(covariances, np.polyfit(x, y, 1, cov=True)[1], rtol=1e-3)


def weighted() -> tuple[str, str]:
    """And those of weighted fits?"""
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
        "jax.numpy.polyfit(x, y, deg, rcond, full, w, cov) "
        "if unseen and given(cov) and cov != False and not within('jax.vmap', 'equinox.filter_vmap')",
    ),
    control=one_fit,
    rules=(Rule("differs", "jax<0.6.1"), Rule("agrees", "", "21f9d23658")),
    workaround=Workaround("Fit column by column: jax.vmap(..., in_axes=1, out_axes=-1).", one_by_one),
    cases=(Case(scaled), Case(weighted)),
)
