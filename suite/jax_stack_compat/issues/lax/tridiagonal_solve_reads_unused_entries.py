"""tridiagonal_solve reads dl[0] and du[-1], and its transpose is wrong

The three diagonals have the same length, so `dl[0]` and `du[-1]` are outside the matrix. The algorithm for CPUs and
TPUs used `dl[0]` and `du[-1]`, and the transpose of the solve was the solve itself; jax#25787 corrects both. jax#25787
also adds the derivative that jax#25693 asks for.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def solve() -> tuple[str, str]:
    """Does lax.linalg.tridiagonal_solve solve the system if dl[0] and du[-1] are not 0?"""
    import jax
    import jax.numpy as jnp

    dl, d, du = jnp.array([5.0, 1.0, 2.0]), jnp.array([4.0, 5.0, 6.0]), jnp.array([1.0, 3.0, 7.0])
    matrix = jnp.diag(d) + jnp.diag(dl[1:], -1) + jnp.diag(du[:-1], 1)
    got = jax.lax.linalg.tridiagonal_solve(dl, d, du, jnp.array([[1.0], [2.0], [3.0]]))
    return compare(matrix @ got, [[1.0], [2.0], [3.0]], atol=1e-4)


def with_zeros() -> None:
    """If dl[0] and du[-1] are 0, tridiagonal_solve solves the system."""
    import jax
    import jax.numpy as jnp

    dl, d, du = jnp.array([0.0, 1.0, 2.0]), jnp.array([4.0, 5.0, 6.0]), jnp.array([1.0, 3.0, 0.0])
    matrix = jnp.diag(d) + jnp.diag(dl[1:], -1) + jnp.diag(du[:-1], 1)
    got = jax.lax.linalg.tridiagonal_solve(dl, d, du, jnp.array([[1.0], [2.0], [3.0]]))
    assert jnp.allclose(matrix @ got, jnp.array([[1.0], [2.0], [3.0]]), atol=1e-4)


def set_them_to_zero() -> None:
    """After dl[0] and du[-1] are set to 0, tridiagonal_solve solves the system."""
    import jax
    import jax.numpy as jnp

    dl, d, du = jnp.array([5.0, 1.0, 2.0]), jnp.array([4.0, 5.0, 6.0]), jnp.array([1.0, 3.0, 7.0])
    matrix = jnp.diag(d) + jnp.diag(dl[1:], -1) + jnp.diag(du[:-1], 1)
    b = jnp.array([[1.0], [2.0], [3.0]])
    got = jax.lax.linalg.tridiagonal_solve(dl.at[0].set(0.0), d, du.at[-1].set(0.0), b)
    assert jnp.allclose(matrix @ got, b, atol=1e-4)


def linear_transpose() -> tuple[str, str]:
    """Does jax.linear_transpose of tridiagonal_solve solve the transposed system?"""
    import jax
    import jax.numpy as jnp

    dl, d, du = jnp.array([0.0, 1.0, 2.0]), jnp.array([4.0, 5.0, 6.0]), jnp.array([1.0, 3.0, 0.0])
    matrix = jnp.diag(d) + jnp.diag(dl[1:], -1) + jnp.diag(du[:-1], 1)
    b = jnp.array([[1.0], [2.0], [3.0]])
    (got,) = jax.linear_transpose(lambda b: jax.lax.linalg.tridiagonal_solve(dl, d, du, b), b)(b)
    return compare(matrix.T @ got, b, atol=1e-4)


def shifted_diagonals() -> None:
    """Transposing swaps the diagonals: du, shifted by one, becomes dl, and dl becomes du."""
    import jax
    import jax.numpy as jnp

    dl, d, du = jnp.array([0.0, 1.0, 2.0]), jnp.array([4.0, 5.0, 6.0]), jnp.array([1.0, 3.0, 0.0])
    matrix = jnp.diag(d) + jnp.diag(dl[1:], -1) + jnp.diag(du[:-1], 1)
    b = jnp.array([[1.0], [2.0], [3.0]])
    got = jax.lax.linalg.tridiagonal_solve(jnp.roll(du, 1), d, jnp.roll(dl, -1), b)
    assert jnp.allclose(matrix.T @ got, b, atol=1e-4)


def solutions(dl: Any, d: Any, du: Any) -> Any:
    """Solve a system with a dominant diagonal, and its transpose."""
    import jax
    import jax.numpy as jnp

    dl, d, du, b = dl.at[..., 0].set(0), d + 16, du.at[..., -1].set(0), d[..., None]
    solve = jax.lax.linalg.tridiagonal_solve
    return jnp.stack([solve(dl, d, du, b), solve(jnp.roll(du, 1, -1), d, jnp.roll(dl, -1, -1), b)])


def numpy_solutions(dl: Any, d: Any, du: Any) -> Any:
    """Solve with NumPy's dense matrices."""
    import numpy as np

    one, lower, upper = (np.eye(d.shape[-1], k=k) for k in (0, -1, 1))
    matrix = (d[..., None] + 16) * one + dl[..., None] * lower + du[..., None] * upper
    return np.stack([np.linalg.solve(each, d[..., None]) for each in (matrix, np.swapaxes(matrix, -1, -2))])


_ELSEWHERE = Elsewhere(
    solutions,
    numpy_solutions,
    (
        "float32 vector, float32 vector, float32 vector",
        "float32 matrix, float32 matrix, positive float32 matrix",
        "float32 batch, float32 batch, zero float32 batch",
    ),
    rtol=1e-4,
    atol=1e-5,
)

_FILLED = ("jax.numpy.full", "jax.numpy.full_like", "jax.numpy.ones", "jax.numpy.ones_like")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax#25787", discussion="jax#25693"),
    control=with_zeros,
    rules=(Rule("differs", "jax<0.5"), Rule("agrees", "", "jax#25787 (016fca79ca)")),
    cases=(
        Case(
            solve,
            workaround=Workaround(
                "Set the unused entries to 0: dl.at[..., 0].set(0), du.at[..., -1].set(0).",
                set_them_to_zero,
                elsewhere=_ELSEWHERE,
            ),
            touches=(
                f"jax.lax.linalg.tridiagonal_solve(dl, d, du) if form(dl) in {_FILLED} or form(du) in {_FILLED}",
                "jax.lax.linalg.tridiagonal_solve(dl, d, du) if unseen and (form(dl) != 'set' or form(du) != 'set')",
            ),
        ),
        Case(
            linear_transpose,
            workaround=Workaround(
                "Solve with jnp.roll(du, 1, -1), d, jnp.roll(dl, -1, -1), where both unused entries are 0.",
                shifted_diagonals,
                elsewhere=_ELSEWHERE,
            ),
            touches=("jax.lax.linalg.tridiagonal_solve(dl) if uses('jax.linear_transpose')",),
        ),
    ),
)
