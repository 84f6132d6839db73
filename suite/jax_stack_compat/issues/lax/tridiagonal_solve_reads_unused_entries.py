"""lax.linalg.tridiagonal_solve uses dl[0] and du[-1], and its transpose is itself

    dl, d, du = jnp.array([5.0, 1.0]), jnp.array([4.0, 5.0]), jnp.array([1.0, 3.0])    # 5 and 3 are not in the matrix
    jax.lax.linalg.tridiagonal_solve(dl, d, du, jnp.ones((2, 1)))    # another solution than with 0 for 5 and 3

The three diagonals have one length, so the lower one has an entry at its start, and the upper one at its end, that are
not in the matrix. The docstring gives both as 0, and nothing checks it. Up to jax 0.4.38 the algorithm for CPUs used
them: other values there, as from `jnp.ones`, gave the solution of another system. On the same releases
`jax.linear_transpose` of the solve was the solve itself, not that of the transposed matrix. jax#25787 fixes both in
0.5.0, and adds the derivative that jax#25693 asks for: `jax.grad` raised NotImplementedError before.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def solve() -> tuple[str, str]:
    """Is the solution that of the matrix, if dl[0] and du[-1] are not 0?"""
    import jax
    import jax.numpy as jnp

    dl, d, du = jnp.array([5.0, 1.0, 2.0]), jnp.array([4.0, 5.0, 6.0]), jnp.array([1.0, 3.0, 7.0])
    matrix = jnp.diag(d) + jnp.diag(dl[1:], -1) + jnp.diag(du[:-1], 1)
    got = jax.lax.linalg.tridiagonal_solve(dl, d, du, jnp.array([[1.0], [2.0], [3.0]]))
    return compare(matrix @ got, [[1.0], [2.0], [3.0]], atol=1e-4)


def with_zeros() -> None:
    """With 0 at both ends the solution is right."""
    import jax
    import jax.numpy as jnp

    dl, d, du = jnp.array([0.0, 1.0, 2.0]), jnp.array([4.0, 5.0, 6.0]), jnp.array([1.0, 3.0, 0.0])
    matrix = jnp.diag(d) + jnp.diag(dl[1:], -1) + jnp.diag(du[:-1], 1)
    got = jax.lax.linalg.tridiagonal_solve(dl, d, du, jnp.array([[1.0], [2.0], [3.0]]))
    assert jnp.allclose(matrix @ got, jnp.array([[1.0], [2.0], [3.0]]), atol=1e-4)


def set_them_to_zero() -> None:
    """dl.at[0].set(0) and du.at[-1].set(0)."""
    import jax
    import jax.numpy as jnp

    dl, d, du = jnp.array([5.0, 1.0, 2.0]), jnp.array([4.0, 5.0, 6.0]), jnp.array([1.0, 3.0, 7.0])
    matrix = jnp.diag(d) + jnp.diag(dl[1:], -1) + jnp.diag(du[:-1], 1)
    b = jnp.array([[1.0], [2.0], [3.0]])
    got = jax.lax.linalg.tridiagonal_solve(dl.at[0].set(0.0), d, du.at[-1].set(0.0), b)
    assert jnp.allclose(matrix @ got, b, atol=1e-4)


def linear_transpose() -> tuple[str, str]:
    """Does jax.linear_transpose of the solve solve the transposed system?"""
    import jax
    import jax.numpy as jnp

    dl, d, du = jnp.array([0.0, 1.0, 2.0]), jnp.array([4.0, 5.0, 6.0]), jnp.array([1.0, 3.0, 0.0])
    matrix = jnp.diag(d) + jnp.diag(dl[1:], -1) + jnp.diag(du[:-1], 1)
    b = jnp.array([[1.0], [2.0], [3.0]])
    (got,) = jax.linear_transpose(lambda b: jax.lax.linalg.tridiagonal_solve(dl, d, du, b), b)(b)
    return compare(matrix.T @ got, b, atol=1e-4)


def shifted_diagonals() -> None:
    """The transposed matrix has du for dl, one place later, and dl for du, one place earlier."""
    import jax
    import jax.numpy as jnp

    dl, d, du = jnp.array([0.0, 1.0, 2.0]), jnp.array([4.0, 5.0, 6.0]), jnp.array([1.0, 3.0, 0.0])
    matrix = jnp.diag(d) + jnp.diag(dl[1:], -1) + jnp.diag(du[:-1], 1)
    b = jnp.array([[1.0], [2.0], [3.0]])
    got = jax.lax.linalg.tridiagonal_solve(jnp.roll(du, 1), d, jnp.roll(dl, -1), b)
    assert jnp.allclose(matrix.T @ got, b, atol=1e-4)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#25693", fix="jax#25787"),
    control=with_zeros,
    rules=(Rule("differs", "jax<0.5"), Rule("agrees", "", "jax#25787 (016fca79ca)")),
    cases=(
        Case(
            solve,
            workaround=Workaround("Set both to 0: dl.at[0].set(0), du.at[-1].set(0).", set_them_to_zero),
            touches=(
                "jax.lax.linalg.tridiagonal_solve(dl, d, du) if unseen and (form(dl) != 'set' or form(du) != 'set')",
            ),
        ),
        Case(
            linear_transpose,
            workaround=Workaround(
                "Solve with the transposed diagonals: jnp.roll(du, 1), d, jnp.roll(dl, -1).", shifted_diagonals
            ),
            touches=("jax.lax.linalg.tridiagonal_solve if uses('jax.linear_transpose')",),
        ),
    ),
)
