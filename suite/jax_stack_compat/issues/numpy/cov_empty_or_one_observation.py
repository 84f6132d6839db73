"""jnp.cov returned 0 for no observations, and a variance for one

Without observations `jnp.cov` returned -0.0, where NumPy returns NaN (jax#32296, fixed in jax#32305). With
`rowvar=False`, a row is one observation of several variables; JAX took the row for one variable, as NumPy did before
2.2 (numpy#27658). jax#32308 follows NumPy 2.2; since then `jnp.cov(vector, row, rowvar=False)` raises a TypeError
(`vector_and_row`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare, members


def empty_vector() -> tuple[str, str]:
    """Does jnp.cov of an empty vector return NaN?"""
    import jax.numpy as jnp

    return compare(jnp.cov(jnp.array([])), float("nan"))


def several_observations() -> None:
    """jnp.cov and jnp.corrcoef agree with NumPy for two or more observations, also of one variable."""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([[1.0, 2.0, 4.0], [0.5, 1.0, -1.0]], np.float32)
    np.testing.assert_allclose(jnp.cov(jnp.asarray(x), rowvar=False), np.cov(x, rowvar=False), rtol=1e-5)
    np.testing.assert_allclose(jnp.corrcoef(jnp.asarray(x)), np.corrcoef(x), rtol=1e-5)
    np.testing.assert_allclose(jnp.cov(jnp.asarray(x[0])), np.cov(x[0]), rtol=1e-5)


def by_columns() -> None:
    """jnp.cov(x.T) has a row and a column for each variable, and jnp.where gives NaN for no observations."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([[1.0, 2.0, 4.0]])
    assert np.array_equal(jnp.cov(x.T, ddof=0), np.zeros((3, 3)))
    assert np.array_equal(jnp.cov(jnp.concatenate([x, x], axis=1).T, ddof=0), np.zeros((6, 6)))
    nothing = jnp.zeros((2, 0))
    assert np.all(np.isnan(jnp.where(nothing.shape[1] > 0, jnp.cov(nothing), jnp.nan)))


def cov_unless_empty(x: Any) -> Any:
    """Return the covariance, or NaN if there are no observations."""
    import jax.numpy as jnp

    return jnp.where(x.size > 0, jnp.cov(x), jnp.nan)


def numpy_cov(x: Any) -> Any:
    """Return NumPy's covariance, without its warnings."""
    import warnings

    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.cov(x)


def cov_of_columns(x: Any) -> Any:
    """Return the covariance of columns, also for one row."""
    import jax.numpy as jnp

    return jnp.cov(jnp.atleast_2d(x).T, ddof=0)


def mean_products(x: Any) -> Any:
    """Return the mean products of the columns' deviations."""
    import numpy as np

    rows = np.atleast_2d(x).astype(np.float64)
    apart = rows - rows.mean(axis=0)
    return np.squeeze(apart.T @ apart / len(rows))


def empty() -> tuple[str, str]:
    """Does jnp.cov of two variables without observations return NaN?"""
    import jax.numpy as jnp
    import numpy as np

    return compare(jnp.cov(jnp.zeros((2, 0))), np.full((2, 2), np.nan))


def one_row() -> tuple[str, str]:
    """Does jnp.cov of one row of three numbers, with rowvar=False and ddof=0, return a 3 by 3 matrix of 0?"""
    import jax.numpy as jnp
    import numpy as np

    return compare(jnp.cov(jnp.array([[1.0, 2.0, 4.0]]), rowvar=False, ddof=0), np.zeros((3, 3)))


def corrcoef_one_row() -> tuple[str, str]:
    """Does jnp.corrcoef of one row of three numbers, with rowvar=False, return a 3 by 3 matrix of NaN?"""
    import jax.numpy as jnp
    import numpy as np

    return compare(jnp.corrcoef(jnp.array([[1.0, 2.0, 4.0]]), rowvar=False), np.full((3, 3), np.nan))


def two_rows_apart() -> tuple[str, str]:
    """Does jnp.cov(x, y, rowvar=False) of two rows of three numbers return a 6 by 6 matrix?"""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([[1.0, 2.0, 4.0]])
    return compare(jnp.cov(x, x, rowvar=False, ddof=0), np.zeros((6, 6)))


def vector_and_row() -> tuple[str, str]:
    """Does jnp.cov(x, y, rowvar=False) of a vector and a row return a 2 by 2 matrix, as NumPy does?"""
    import jax.numpy as jnp

    x, y = jnp.array([1.0, 2.0, 4.0]), jnp.array([[0.5, 1.0, -1.0]])
    return compare(jnp.cov(x, y, rowvar=False), [[7 / 3, -4 / 3], [-4 / 3, 13 / 12]], rtol=1e-5)


def stacked_vectors() -> None:
    """jnp.cov of two vectors stacked as rows treats each vector as one variable."""
    import jax.numpy as jnp
    import numpy as np

    x, y = jnp.array([1.0, 2.0, 4.0]), jnp.array([[0.5, 1.0, -1.0]])
    got = jnp.cov(jnp.stack([x, jnp.ravel(y)]))
    np.testing.assert_allclose(got, [[7 / 3, -4 / 3], [-4 / 3, 13 / 12]], rtol=1e-5)


def cov_of_two(x: Any, y: Any) -> Any:
    """Return the covariance of two vectors."""
    import jax.numpy as jnp

    return jnp.cov(jnp.stack([jnp.ravel(x), jnp.ravel(y)]))


def numpy_cov_of_two(x: Any, y: Any) -> Any:
    """Return NumPy's covariance of two vectors."""
    import numpy as np

    return np.cov(np.ravel(x), np.ravel(y))


_BEFORE = Rule("differs", "jax<0.8.0")
_EMPTY = Rule("agrees", "", "jax#32305 (cd70450188)")
# These have observations, as far as code shows.
_MADE = (
    *members("jax.random", "normal uniform multivariate_normal"),
    *members("jax.numpy", "arange linspace stack vstack ones"),
)
_ANY = f"jax.numpy.cov(m) if unseen and form(m) not in {_MADE} and not within('jax.numpy.where')"
# An array of literals has perhaps one row. Of others the code does not show it, so that `rowvar` narrows nothing.
_ARRAY = "(form(m) in ('jax.numpy.array', 'jax.numpy.asarray') and seen(m == m) or form(m) == 'jax.numpy.atleast_2d')"
_SHOWN = f"(m, y, rowvar) if rowvar == False and unseen and {_ARRAY}"
_UNSEEN = "(m, y, rowvar) if given(rowvar) and not rowvar != False and unseen"
_REFUSED = {"refused": Signature("TypeError", "Cannot concatenate arrays with shapes that differ", everyday=True)}
_NAN = Workaround(
    "Write jnp.where(x.size > 0, jnp.cov(x), jnp.nan).",
    by_columns,
    elsewhere=Elsewhere(
        cov_unless_empty,
        numpy_cov,
        ("float32 empty", "float32 vector", "float32 matrix", "int32 matrix", "zero float32 vector"),
        rtol=1e-4,
        atol=1e-5,
    ),
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#32296 numpy/numpy#27658",
        fix="jax#32305 jax#32308",
        attempt="jax#29607",
        discussion="jax#37966",
    ),
    control=several_observations,
    rules=(_BEFORE, Rule("agrees", "", "jax#32308 (f36c44f669)")),
    workaround=Workaround(
        "Put the variables in rows: pass x.T, instead of x with rowvar=False.",
        by_columns,
        elsewhere=Elsewhere(
            cov_of_columns,
            mean_products,
            ("float32 vector", "float32 matrix", "int32 vector", "float32 one", "int32 matrix"),
            rtol=1e-4,
            atol=1e-5,
        ),
    ),
    cases=(
        Case(empty_vector, rules=(_BEFORE, _EMPTY), workaround=_NAN, touches=(_ANY,)),
        Case(empty, rules=(_BEFORE, _EMPTY), workaround=_NAN, touches=(_ANY,)),
        Case(one_row, touches=(f"jax.numpy.cov{_SHOWN}", f"jax.numpy.cov{_UNSEEN}")),
        Case(corrcoef_one_row, touches=(f"jax.numpy.corrcoef{_SHOWN}", f"jax.numpy.corrcoef{_UNSEEN}")),
        Case(
            two_rows_apart,
            signatures=_REFUSED,
            rules=(_BEFORE, Rule("refused", "", "jax#32308; NumPy 2.2 raises a ValueError")),
            touches=(f"jax.numpy.cov{_SHOWN} and given(y)", f"jax.numpy.cov{_UNSEEN} and given(y)"),
        ),
        Case(
            vector_and_row,
            signatures=_REFUSED,
            behaviours={"refused": "affected"},
            rules=(Rule("agrees", "jax<0.8.0"), Rule("refused", "", "since jax#32308 a vector counts as a row")),
            workaround=Workaround(
                "Stack non-empty vectors as rows: jnp.cov(jnp.stack([jnp.ravel(x), jnp.ravel(y)])).",
                stacked_vectors,
                elsewhere=Elsewhere(
                    cov_of_two,
                    numpy_cov_of_two,
                    (
                        "float32 vector, float32 vector",
                        "int32 vector, float32 vector",
                        "float32 matrix, float32 matrix",
                    ),
                    rtol=1e-4,
                    atol=1e-5,
                ),
            ),
            touches=("jax.numpy.cov(m, y, rowvar) if unseen and rowvar == False and given(y)",),
        ),
    ),
)
