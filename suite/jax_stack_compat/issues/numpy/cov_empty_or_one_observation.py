"""jnp.cov of no observations was 0, and of one row with rowvar=False a number, up to jax 0.7.2

    jnp.cov(jnp.array([]))                             # -0 up to jax 0.7.2, NaN from 0.8.0
    jnp.cov(jnp.array([[1.0, 2.0, 4.0]]), rowvar=False, ddof=0)     # 1.556, then a 3 by 3 matrix of 0

The covariance of nothing is not known, and 0 passes every check for NaN (jax#32296, found by array-api-extra's tests).
One row with `rowvar=False` is one observation of three variables; it was taken for three observations of one, and gave
their variance. That was NumPy's rule too, until numpy#27658 had it called a bug: NumPy from 2.2 gives the matrix.
jax#32305 and f36c44f669 changed both in 0.8.0, and the changelog says so.

Seen in these runs:

- `jnp.corrcoef` of such a row changed with it: a single number up to 0.7.2, a matrix of NaN from 0.8.0 on.
- With a second array of one row, `jnp.cov(x, x, rowvar=False)` is a 2 by 2 matrix up to 0.7.2, and raises from 0.8.0
  on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def empty() -> tuple[str, str]:
    """Is the covariance of no observations NaN?"""
    import jax.numpy as jnp
    import numpy as np

    return compare(jnp.cov(jnp.zeros((2, 0))), np.full((2, 2), np.nan))


def several_observations() -> None:
    """Two observations and more, and one variable, are NumPy's on every release."""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([[1.0, 2.0, 4.0], [0.5, 1.0, -1.0]], np.float32)
    np.testing.assert_allclose(jnp.cov(jnp.asarray(x), rowvar=False), np.cov(x, rowvar=False), rtol=1e-5)
    np.testing.assert_allclose(jnp.corrcoef(jnp.asarray(x)), np.corrcoef(x), rtol=1e-5)
    np.testing.assert_allclose(jnp.cov(jnp.asarray(x[0])), np.cov(x[0]), rtol=1e-5)


def by_columns() -> None:
    """Variables as rows, and the empty one asked for: the same everywhere."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([[1.0, 2.0, 4.0]])
    assert np.array_equal(jnp.cov(x.T, ddof=0), np.zeros((3, 3)))
    assert np.array_equal(jnp.cov(jnp.concatenate([x, x], axis=1).T, ddof=0), np.zeros((6, 6)))
    nothing = jnp.zeros((2, 0))
    assert np.all(np.isnan(jnp.where(nothing.shape[1] > 0, jnp.cov(nothing), jnp.nan)))


def one_row() -> tuple[str, str]:
    """Is the covariance of one observation of three variables, with ddof=0, the 3 by 3 matrix of 0?"""
    import jax.numpy as jnp
    import numpy as np

    return compare(jnp.cov(jnp.array([[1.0, 2.0, 4.0]]), rowvar=False, ddof=0), np.zeros((3, 3)))


def corrcoef_one_row() -> tuple[str, str]:
    """Is the correlation of one observation of three variables a 3 by 3 matrix of NaN, and not 1?"""
    import jax.numpy as jnp
    import numpy as np

    return compare(jnp.corrcoef(jnp.array([[1.0, 2.0, 4.0]]), rowvar=False), np.full((3, 3), np.nan))


def two_rows_apart() -> tuple[str, str]:
    """Is the covariance of one observation of three and three variables, given as x and y, 6 by 6?"""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([[1.0, 2.0, 4.0]])
    return compare(jnp.cov(x, x, rowvar=False, ddof=0), np.zeros((6, 6)))


_BEFORE = Rule("differs", "jax<0.8.0")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#32296 numpy/numpy#27658", fix="jax#32305 jax@f36c44f669"),
    control=several_observations,
    rules=(_BEFORE, Rule("agrees", "", "f36c44f669, and the changelog")),
    workaround=Workaround("Put the variables in rows, x.T, and ask x.shape for the empty one.", by_columns),
    cases=(
        Case(
            empty,
            rules=(_BEFORE, Rule("agrees", "", "jax#32305 (cd70450188)")),
            touches=("jax.numpy.cov if unseen and not within('jax.numpy.where')",),
        ),
        Case(one_row, touches=("jax.numpy.cov(m, y, rowvar) if rowvar == False and len(m) == 1",)),
        Case(corrcoef_one_row, touches=("jax.numpy.corrcoef(x, y, rowvar) if rowvar == False and len(x) == 1",)),
        Case(
            two_rows_apart,
            signatures={
                "refused": Signature("TypeError", "Cannot concatenate arrays with shapes that differ", everyday=True)
            },
            rules=(_BEFORE, Rule("refused", "", "came with f36c44f669")),
            touches=("jax.numpy.cov(m, y, rowvar) if rowvar == False and given(y) and len(m) == 1",),
        ),
    ),
)
