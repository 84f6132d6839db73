"""jnp.linalg.cholesky(a, upper=True) gives the lower factor, in jax 0.4.24 only

    jnp.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]]), upper=True)    # [[2, 0], [1, 2]] in jax 0.4.24
                                                                            # should be [[2, 1], [0, 2]]

The argument came with 0.4.24 (jax#19606), which transposed the matrix that went in and not the factor that came out;
jax#19621, in the same release, had it conjugated as well. A
Hermitian matrix is its own conjugate transpose, so the argument did nothing: the lower factor came back, and
`u.T @ u` is another matrix. jax#19700, two days after that release, transposes the factor; 0.4.25 has it. The change
log of neither release names it.

Seen in these runs: what came back. It was the lower factor of real matrices as of complex ones.
`jax.scipy.linalg.cholesky`, whose default is the upper factor, was right all the time.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def upper() -> tuple[str, str]:
    """Is the factor of a real matrix and of a complex one upper triangular, with upper=True?"""
    import jax.numpy as jnp
    import numpy as np

    matrices = np.array([[[4.0, 2.0], [2.0, 5.0]], [[4.0, 2.0j], [-2.0j, 5.0]]], np.complex64)
    real = jnp.linalg.cholesky(jnp.asarray(matrices[0].real), upper=True)
    both = np.stack([real, jnp.linalg.cholesky(jnp.asarray(matrices[1]), upper=True)])
    return compare(both, [[[2.0, 1.0], [0.0, 2.0]], [[2.0, 1.0j], [0.0, 2.0]]], atol=1e-5)


def lower() -> None:
    """The lower factor, and that of jax.scipy.linalg.cholesky, are right."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    matrix = jnp.array([[4.0, 2.0], [2.0, 5.0]])
    np.testing.assert_allclose(jnp.linalg.cholesky(matrix), [[2.0, 0.0], [1.0, 2.0]], atol=1e-5)
    np.testing.assert_allclose(jax.scipy.linalg.cholesky(matrix), [[2.0, 1.0], [0.0, 2.0]], atol=1e-5)


def transpose_the_lower() -> None:
    """The conjugate transpose of the lower factor."""
    import jax.numpy as jnp
    import numpy as np

    factor = jnp.swapaxes(jnp.linalg.cholesky(jnp.array([[4.0, 2.0j], [-2.0j, 5.0]])), -1, -2).conj()
    np.testing.assert_allclose(factor, np.array([[2.0, 1.0j], [0.0, 2.0]]), atol=1e-5)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        cause="jax#19606 jax#19621", fix="jax#19700", docs="jax:_autosummary/jax.numpy.linalg.cholesky.html"
    ),
    touches=("jax.numpy.linalg.cholesky(upper=)",),
    control=lower,
    behaviours={"no-argument": "absent"},
    rules=(
        Rule("no-argument", "jax<0.4.24"),
        Rule("differs", "jax<0.4.25", "0.4.24 is the first release with the argument; jax#19606"),
        Rule("agrees", "", "jax#19700 (57f27e78c0)"),
    ),
    workaround=Workaround(
        "Transpose the lower one: jnp.swapaxes(jnp.linalg.cholesky(a), -1, -2).conj().", transpose_the_lower
    ),
    signatures={"no-argument": Signature("TypeError", "unexpected keyword argument 'upper'")},
    cases=(Case(upper),),
)
