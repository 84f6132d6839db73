"""jax.scipy.linalg.toeplitz of a matrix returns a batch, not one matrix

`toeplitz` flattened its input, as SciPy did; jax#24842 builds one matrix for each vector along the last axis. SciPy had
announced batches of matrices, and returns them since scipy/scipy#23089. The maintainer expected few users to rely on
the flattening, and skipped a deprecation (jax#24842); the changelog says to call `jnp.ravel` first.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround


def rows() -> tuple[str, str]:
    """Does jax.scipy.linalg.toeplitz of a (2, 3) array return one 6 by 6 matrix, or two 3 by 3 matrices?"""
    import jax

    x = jax.numpy.arange(6.0).reshape(2, 3)
    got = jax.scipy.linalg.toeplitz(x)
    one, two = jax.scipy.linalg.toeplitz(x.ravel()), [jax.scipy.linalg.toeplitz(row).tolist() for row in x]
    behaviour = {str(one.tolist()): "one-matrix", str(two): "batch"}.get(str(got.tolist()), "other-value")
    return behaviour, f"shape {got.shape}"


def one_dimensional() -> None:
    """For vectors c and r, jax.scipy.linalg.toeplitz(c, r) agrees with SciPy."""
    import jax
    import numpy as np
    import scipy.linalg

    c, r = np.array([1.0, 2.0, 3.0], np.float32), np.array([1.0, 5.0], np.float32)
    assert jax.scipy.linalg.toeplitz(c, r).tolist() == scipy.linalg.toeplitz(c, r).tolist()


def flatten_first() -> None:
    """A flattened input gives one matrix, and jax.vmap gives the batch."""
    import jax

    x = jax.numpy.arange(6.0).reshape(2, 3)
    assert jax.scipy.linalg.toeplitz(x.ravel()).shape == (6, 6)
    assert jax.vmap(jax.scipy.linalg.toeplitz)(x).shape == (2, 3, 3)


def flattened(c: Any, r: Any) -> Any:
    """Return toeplitz of both arguments flattened."""
    import jax.numpy as jnp
    from jax.scipy.linalg import toeplitz

    return toeplitz(jnp.ravel(c), jnp.ravel(r))


def scipy_matrix(c: Any, r: Any) -> Any:
    """Return SciPy's matrix of the flattened arguments."""
    import numpy as np
    from scipy.linalg import toeplitz

    return toeplitz(np.ravel(c), np.ravel(r))


def column() -> tuple[str, str]:
    """Does jax.scipy.linalg.toeplitz of a (3, 1) column return one 3 by 3 matrix, or three 1 by 1 matrices?"""
    import jax

    x = jax.numpy.arange(1.0, 4.0)[:, None]
    got = jax.scipy.linalg.toeplitz(x)
    one, three = [[1.0, 2.0, 3.0], [2.0, 1.0, 2.0], [3.0, 2.0, 1.0]], [[[1.0]], [[2.0]], [[3.0]]]
    behaviour = {str(one): "one-matrix", str(three): "batch"}.get(str(got.tolist()), "other-value")
    return behaviour, f"shape {got.shape}"


_INPUTS = (
    *("float32 matrix, float32 matrix", "int32 batch, int32 vector", "complex64 square, complex64 square"),
    *("float32 vector, float32 vector", "float16 scalar, float16 one"),
)

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(report="jax#24824", change="jax#24842 scipy/scipy#23089", docs="jax:changelog.html"),
    control=one_dimensional,
    behaviours={"one-matrix": "clear", "batch": "documented", "other-value": "different"},
    rules=(Rule("one-matrix", "jax<0.4.36"), Rule("batch", "", "jax#24842 (3f98c57f7b), and the changelog")),
    workaround=Workaround(
        "For one matrix, flatten c, and r if given: toeplitz(jnp.ravel(c), jnp.ravel(r)).",
        flatten_first,
        elsewhere=Elsewhere(flattened, scipy_matrix, _INPUTS),
    ),
    touches=(
        "jax.scipy.linalg.toeplitz(c) if not within('jax.vmap') "
        "and form(c) not in ('jax.numpy.ravel', 'jax.numpy.arange', 'ravel', 'flatten')",
    ),
    cases=(Case(rows), Case(column)),
)
