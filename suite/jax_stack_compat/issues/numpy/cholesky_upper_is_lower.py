"""jnp.linalg.cholesky(a, upper=True) returns the lower factor

jax#19606 added `upper`, but transposed the input matrix instead of the factor; jax#19621 also conjugated the input. A
Hermitian matrix equals its conjugate transpose, so `cholesky` returned the lower factor, and `u.T @ u` did not give the
matrix. jax#19700 returns the conjugate transpose of the lower factor.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def upper() -> tuple[str, str]:
    """Does jnp.linalg.cholesky(a, upper=True) return the upper factor of a real and a complex matrix?"""
    import jax.numpy as jnp
    import numpy as np

    matrices = np.array([[[4.0, 2.0], [2.0, 5.0]], [[4.0, 2.0j], [-2.0j, 5.0]]], np.complex64)
    real = jnp.linalg.cholesky(jnp.asarray(matrices[0].real), upper=True)
    both = np.stack([real, jnp.linalg.cholesky(jnp.asarray(matrices[1]), upper=True)])
    return compare(both, [[[2.0, 1.0], [0.0, 2.0]], [[2.0, 1.0j], [0.0, 2.0]]], atol=1e-5)


def lower() -> None:
    """jnp.linalg.cholesky returns the right lower factor, and jax.scipy.linalg.cholesky the right upper factor."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    matrix = jnp.array([[4.0, 2.0], [2.0, 5.0]])
    np.testing.assert_allclose(jnp.linalg.cholesky(matrix), [[2.0, 0.0], [1.0, 2.0]], atol=1e-5)
    np.testing.assert_allclose(jax.scipy.linalg.cholesky(matrix), [[2.0, 1.0], [0.0, 2.0]], atol=1e-5)


def transpose_the_lower() -> None:
    """The conjugate transpose of the lower factor is the upper factor."""
    import jax.numpy as jnp
    import numpy as np

    factor = jnp.swapaxes(jnp.linalg.cholesky(jnp.array([[4.0, 2.0j], [-2.0j, 5.0]])), -1, -2).conj()
    np.testing.assert_allclose(factor, np.array([[2.0, 1.0j], [0.0, 2.0]]), atol=1e-5)


def upper_factors() -> None:
    """In real and complex batches of other sizes, the factor is upper triangular and reproduces the matrix."""
    import jax.numpy as jnp
    import numpy as np

    for dtype in ("float32", "complex64"):
        for shape in ((1, 1), (5, 5), (2, 3, 3), (2, 2, 4, 4)):
            x = np.random.default_rng(0).normal(size=(2, *shape)).astype("float32")
            root = x[0] if dtype == "float32" else (x[0] + 1j * x[1]).astype(dtype)
            matrix = root @ np.swapaxes(root, -1, -2).conj() + np.eye(shape[-1], dtype=dtype)
            factor = np.asarray(jnp.swapaxes(jnp.linalg.cholesky(jnp.asarray(matrix)), -1, -2).conj())
            np.testing.assert_array_equal(factor, np.triu(factor))
            np.testing.assert_allclose(np.swapaxes(factor, -1, -2).conj() @ factor, matrix, rtol=1e-3, atol=1e-3)
            assert factor.dtype == dtype


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        cause="jax#19606",
        change="jax#19621",
        fix="jax#19700",
        docs="jax:_autosummary/jax.numpy.linalg.cholesky.html",
    ),
    touches=("jax.numpy.linalg.cholesky(a, upper) if upper",),
    control=lower,
    behaviours={"no-argument": "absent"},
    rules=(
        Rule("no-argument", "jax<0.4.24"),
        Rule("differs", "jax<0.4.25", "jax#19606"),
        Rule("agrees", "", "jax#19700 (57f27e78c0)"),
    ),
    workaround=Workaround(
        "Transpose the lower factor: jnp.swapaxes(jnp.linalg.cholesky(a), -1, -2).conj().",
        transpose_the_lower,
        elsewhere=upper_factors,
    ),
    signatures={"no-argument": Signature("TypeError", "unexpected keyword argument 'upper'")},
    cases=(Case(upper),),
)
