"""toeplitz of a two-dimensional array gives a batch of matrices since jax 0.4.36, before one large matrix

    jax.scipy.linalg.toeplitz(jnp.ones((2, 3))).shape     # (6, 6) up to jax 0.4.35, (2, 3, 3) from 0.4.36
    jax.scipy.linalg.toeplitz(jnp.ones((3, 1))).shape     # (3, 3), then (3, 1, 1)

It flattened whatever it was given, as SciPy did. jax#24842 takes the last axis for the matrix and all others for a
batch, as SciPy does from 1.17, which came more than a year later; upstream changed it at once, without a deprecation,
and the changelog says how to go back: `jnp.ravel` first. One-dimensional input is the same everywhere.

Seen in these runs: a column vector of shape (3, 1) is a 3 by 3 matrix up to 0.4.35, and three matrices of one entry
from 0.4.36 on. Slicing a matrix with `x[:, :1]` leaves such a column, and the three broadcast against much without an
error.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def rows() -> tuple[str, str]:
    """Is toeplitz of a (2, 3) array one matrix of the six values, or two matrices of three?"""
    import jax

    x = jax.numpy.arange(6.0).reshape(2, 3)
    got = jax.scipy.linalg.toeplitz(x)
    one, two = jax.scipy.linalg.toeplitz(x.ravel()), [jax.scipy.linalg.toeplitz(row).tolist() for row in x]
    behaviour = {str(one.tolist()): "one-matrix", str(two): "batch"}.get(str(got.tolist()), "other-value")
    return behaviour, f"shape {got.shape}"


def one_dimensional() -> None:
    """One-dimensional input gives the matrix that both SciPys give."""
    import jax
    import numpy as np
    import scipy.linalg

    c, r = np.array([1.0, 2.0, 3.0], np.float32), np.array([1.0, 5.0], np.float32)
    assert jax.scipy.linalg.toeplitz(c, r).tolist() == scipy.linalg.toeplitz(c, r).tolist()


def flatten_first() -> None:
    """What the changelog says, and the batch written out: both are the same on every release."""
    import jax

    x = jax.numpy.arange(6.0).reshape(2, 3)
    assert jax.scipy.linalg.toeplitz(x.ravel()).shape == (6, 6)
    assert jax.vmap(jax.scipy.linalg.toeplitz)(x).shape == (2, 3, 3)


def column() -> tuple[str, str]:
    """Is toeplitz of a (3, 1) column one matrix of the three values, or three of one?"""
    import jax

    x = jax.numpy.arange(1.0, 4.0)[:, None]
    got = jax.scipy.linalg.toeplitz(x)
    one, three = [[1.0, 2.0, 3.0], [2.0, 1.0, 2.0], [3.0, 2.0, 1.0]], [[[1.0]], [[2.0]], [[3.0]]]
    behaviour = {str(one): "one-matrix", str(three): "batch"}.get(str(got.tolist()), "other-value")
    return behaviour, f"shape {got.shape}"


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(report="jax#24824", change="jax#24842"),
    touches=("jax.scipy.linalg.toeplitz",),
    control=one_dimensional,
    behaviours={"one-matrix": "clear", "batch": "documented", "other-value": "different"},
    rules=(Rule("one-matrix", "jax<0.4.36"), Rule("batch", "", "jax#24842 (3f98c57f7b), and the changelog")),
    workaround=Workaround("Say which: jnp.ravel the input, or jax.vmap over the batch.", flatten_first),
    cases=(Case(rows), Case(column)),
)
