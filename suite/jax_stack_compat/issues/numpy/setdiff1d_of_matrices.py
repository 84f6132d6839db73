"""jnp.setdiff1d(..., assume_unique=True) keeps what it should take out of a matrix, up to jax 0.7.2

    a, b = jnp.array([[1, 2], [3, 4]]), jnp.array([2])
    jnp.setdiff1d(a, b, assume_unique=True, size=2)     # [[1, 2], [3, 4]] up to jax 0.7.2, should be [1, 3]

The mask of what to keep is made of the flattened array, and the array was not flattened. What follows depends on the
shape: one column gives the right values in the shape (n, 1); more columns end in an IndexError, since the mask is
longer than the axis it is put to. jax#32340 flattens both arrays, and 0.8.0 is the first release that has it.
jax#32402, about the shapes, is open still.

Seen in these runs: with `size=`, the way to use it under jit, there is no error up to 0.7.2. For a 2 by 2 matrix
`size=2` gives two rows, where it should give two numbers.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def with_size() -> tuple[str, str]:
    """Are the first two elements of a 2 by 2 matrix that are not 2 found?"""
    import jax.numpy as jnp

    return compare(jnp.setdiff1d(jnp.array([[1, 2], [3, 4]]), jnp.array([2]), assume_unique=True, size=2), [1, 3])


def not_assumed() -> None:
    """Without assume_unique matrices are right, and one-dimensional arrays are right with it."""
    import jax.numpy as jnp

    assert jnp.setdiff1d(jnp.array([[1, 2], [3, 4]]), jnp.array([2])).tolist() == [1, 3, 4]
    assert jnp.setdiff1d(jnp.array([1, 2, 3]), jnp.array([[2]]), assume_unique=True).tolist() == [1, 3]


def ravel() -> None:
    """The matrix made one-dimensional first."""
    import jax.numpy as jnp

    for matrix, wanted in (([[1], [2], [3]], [1, 3]), ([[1, 2], [3, 4]], [1, 3, 4])):
        flat = jnp.ravel(jnp.array(matrix))
        assert jnp.setdiff1d(flat, jnp.array([2]), assume_unique=True).tolist() == wanted
        assert jnp.setdiff1d(flat, jnp.array([2]), assume_unique=True, size=2).tolist() == wanted[:2]


def one_column() -> tuple[str, str]:
    """Is the difference of a column of numbers one-dimensional?"""
    import jax.numpy as jnp

    return compare(jnp.setdiff1d(jnp.array([[1], [2], [3]]), jnp.array([2]), assume_unique=True), [1, 3])


def matrix() -> tuple[str, str]:
    """Are the elements of a 2 by 2 matrix that are not 2 found?"""
    import jax.numpy as jnp

    return compare(jnp.setdiff1d(jnp.array([[1, 2], [3, 4]]), jnp.array([2]), assume_unique=True), [1, 3, 4])


_NEW = Rule("agrees", "", "jax#32340 (7ff86dcbe9)")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#32402 jax#32335", fix="jax#32340"),
    touches=(
        "jax.numpy.setdiff1d(ar1, ar2, assume_unique) "
        "if unseen and given(assume_unique) and assume_unique != False "
        "and form(ar1) not in ('jax.numpy.ravel', 'ravel')",
    ),
    control=not_assumed,
    rules=(Rule("differs", "jax<0.8.0"), _NEW),
    workaround=Workaround("Flatten it first: jnp.setdiff1d(jnp.ravel(a), b, assume_unique=True).", ravel),
    cases=(
        Case(with_size),
        Case(one_column),
        Case(
            matrix,
            behaviours={"index-error": "affected", "differs": "different"},
            signatures={"index-error": Signature("IndexError", "boolean index did not match", everyday=True)},
            rules=(Rule("index-error", "jax<0.8.0"), _NEW),
        ),
    ),
)
