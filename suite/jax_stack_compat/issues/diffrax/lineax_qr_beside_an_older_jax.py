"""lineax.QR of Lineax 0.1.1 fails beside JAX before 0.10.0, which its metadata excludes

    lineax.linear_solve(operator, vector, lineax.QR())
    # AttributeError: module 'jax.lax.linalg' has no attribute 'ormqr'

You'd expect a solver that is there to solve. From 0.1.1 on, Lineax multiplies by the orthogonal factor with
`jax.lax.linalg.ormqr`, which came with JAX 0.10.0. Lineax 0.1.1 requires that release; an environment that was made
without its requirements imports, solves much else, and fails at the first QR. `AutoLinearSolver(well_posed=None)` takes
QR for a matrix that is not square.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def tall() -> tuple[str, str]:
    """Does QR solve a least-squares problem?"""
    import jax.numpy as jnp
    import lineax
    import numpy as np

    a, b = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), np.array([1.0, 2.0, 4.0])
    got = lineax.linear_solve(lineax.MatrixLinearOperator(jnp.asarray(a)), jnp.asarray(b), lineax.QR()).value
    return compare(got, np.linalg.lstsq(a, b, rcond=None)[0], rtol=1e-3)


def control() -> None:
    """The operator times a vector is right."""
    import jax.numpy as jnp
    import lineax
    import numpy as np

    a = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    got = lineax.MatrixLinearOperator(jnp.asarray(a)).mv(jnp.ones(2))
    np.testing.assert_allclose(got, a @ np.ones(2), rtol=1e-5)


def by_svd() -> None:
    """A singular value decomposition solves both."""
    import jax.numpy as jnp
    import lineax
    import numpy as np

    a, b = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), np.array([1.0, 2.0, 4.0])
    got = lineax.linear_solve(lineax.MatrixLinearOperator(jnp.asarray(a)), jnp.asarray(b), lineax.SVD()).value
    np.testing.assert_allclose(got, np.linalg.lstsq(a, b, rcond=None)[0], rtol=1e-3)


def wide() -> tuple[str, str]:
    """Does QR give the smallest solution of a problem with many?"""
    import jax.numpy as jnp
    import lineax
    import numpy as np

    a, b = np.array([[1.0, 3.0, 5.0], [2.0, 4.0, 7.0]]), np.array([1.0, 2.0])
    got = lineax.linear_solve(lineax.MatrixLinearOperator(jnp.asarray(a)), jnp.asarray(b), lineax.QR()).value
    return compare(got, np.linalg.lstsq(a, b, rcond=None)[0], rtol=1e-3)


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(change="lineax#219"),
    touches=("lineax.QR", "lineax.AutoLinearSolver"),
    control=control,
    rules=(Rule("no-ormqr", "lineax>=0.1.1 jax<0.10.0"), Rule("agrees")),
    workaround=Workaround("Use lineax.SVD(), or Lineax 0.1.0.", by_svd),
    signatures={"no-ormqr": (Signature("AttributeError", "module 'jax.lax.linalg' has no attribute 'ormqr'"),)},
    needs=("jax", "equinox", "lineax"),
    waits_for=("stack-smoke/implicit-solve",),
    cases=(Case(tall), Case(wide)),
)
