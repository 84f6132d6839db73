"""jnp.setdiff1d(..., assume_unique=True) of a matrix has a wrong shape

JAX made a mask for the flattened `ar1` and applied it to `ar1` itself; jax#32340 flattens both arrays first. The result
for a column kept its second axis (`one_column`, jax#32402). The matrix [[1, 2], [3, 4]] raised an IndexError
(`matrix`); with `size=2`, its result had two axes (`with_size`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare


def one_column() -> tuple[str, str]:
    """Does jnp.setdiff1d of a column, with assume_unique=True, return a one-dimensional array?"""
    import jax.numpy as jnp

    return compare(jnp.setdiff1d(jnp.array([[1], [2], [3]]), jnp.array([2]), assume_unique=True), [1, 3])


def not_assumed() -> None:
    """jnp.setdiff1d gives NumPy's values for a matrix without assume_unique, and for a vector with it."""
    import jax.numpy as jnp

    assert jnp.setdiff1d(jnp.array([[1, 2], [3, 4]]), jnp.array([2])).tolist() == [1, 3, 4]
    assert jnp.setdiff1d(jnp.array([1, 2, 3]), jnp.array([[2]]), assume_unique=True).tolist() == [1, 3]


def ravel() -> None:
    """jnp.setdiff1d(jnp.ravel(a), b) is correct for a column and a matrix, also with size=."""
    import jax.numpy as jnp

    for matrix, wanted in (([[1], [2], [3]], [1, 3]), ([[1, 2], [3, 4]], [1, 3, 4])):
        flat = jnp.ravel(jnp.array(matrix))
        assert jnp.setdiff1d(flat, jnp.array([2]), assume_unique=True).tolist() == wanted
        assert jnp.setdiff1d(flat, jnp.array([2]), assume_unique=True, size=2).tolist() == wanted[:2]


def difference(a: Any, b: Any) -> Any:
    """Return the elements of `a`, flattened by jnp.ravel, that are not in `b`."""
    import jax.numpy as jnp

    return jnp.setdiff1d(jnp.ravel(a), b, assume_unique=True)


def elements_not_in(a: Any, b: Any) -> Any:
    """Return the elements of `a` that are not in `b`, with NumPy."""
    import numpy as np

    return np.ravel(a)[~np.isin(np.ravel(a), b)]


def matrix() -> tuple[str, str]:
    """Does jnp.setdiff1d(matrix, [2], assume_unique=True) return the other three elements?"""
    import jax.numpy as jnp

    return compare(jnp.setdiff1d(jnp.array([[1, 2], [3, 4]]), jnp.array([2]), assume_unique=True), [1, 3, 4])


def with_size() -> tuple[str, str]:
    """Does jnp.setdiff1d(matrix, [2], assume_unique=True, size=2) return two elements?"""
    import jax.numpy as jnp

    return compare(jnp.setdiff1d(jnp.array([[1, 2], [3, 4]]), jnp.array([2]), assume_unique=True, size=2), [1, 3])


_INPUTS = (
    "float32 matrix, float32 vector",
    "int32 matrix, int32 vector",
    "float16 scalar, float16 scalar",
    "bool batch, bool one",
    "int8 empty, int8 vector",
)
_NEW = Rule("agrees", "", "jax#32340 (7ff86dcbe9)")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#32402", fix="jax#32340"),
    touches=(
        "jax.numpy.setdiff1d(ar1, ar2, assume_unique) "
        "if given(assume_unique) and assume_unique != False and (unseen or form(ar1) in ('newaxis', "
        "'jax.numpy.argwhere', 'jax.numpy.column_stack', 'jax.numpy.vstack')) and form(ar1) not in "
        "('jax.numpy.ravel', 'ravel', 'flatten', 'jax.numpy.arange', 'jax.numpy.unique', 'jax.numpy.linspace')",
    ),
    control=not_assumed,
    rules=(Rule("differs", "jax<0.8.0"), _NEW),
    workaround=Workaround(
        "Flatten the first array: jnp.setdiff1d(jnp.ravel(a), b, assume_unique=True).",
        ravel,
        elsewhere=Elsewhere(difference, elements_not_in, _INPUTS),
    ),
    cases=(
        Case(one_column),
        Case(
            matrix,
            behaviours={"index-error": "affected", "differs": "different"},
            signatures={"index-error": Signature("IndexError", "boolean index did not match", everyday=True)},
            rules=(Rule("index-error", "jax<0.8.0"), _NEW),
        ),
        Case(with_size),
    ),
)
