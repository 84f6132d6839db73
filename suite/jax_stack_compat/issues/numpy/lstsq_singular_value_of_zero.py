"""jnp.linalg.lstsq of a matrix of zeros returns infinity or NaN, not 0

`jnp.linalg.lstsq` kept each singular value that is at least rcond times the largest. For a matrix of zeros it kept all
singular values, divided by 0, and returned infinity (jax#32666) or NaN (`matrix_of_zeros`); the rank counted all
singular values. With rcond=0, other singular matrices are affected, too (`rcond_zero`). jax#32694 also requires a
singular value to be positive.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def matrix_of_zeros() -> tuple[str, str]:
    """Are the solution and the rank of jnp.linalg.lstsq 0 for a matrix of zeros?"""
    import jax.numpy as jnp

    solution, _, rank, _ = jnp.linalg.lstsq(jnp.zeros((3, 2)), jnp.ones(3))
    return compare([*solution.tolist(), int(rank)], [0.0, 0.0, 0.0])


def default_rcond() -> None:
    """With the default rcond, jnp.linalg.lstsq solves a singular matrix that is not all zeros."""
    import jax.numpy as jnp
    import numpy as np

    solution, _, rank, _ = jnp.linalg.lstsq(jnp.diag(jnp.array([2.0, 0.0])), jnp.ones(2))
    np.testing.assert_allclose([*solution.tolist(), int(rank)], [0.5, 0.0, 1.0])


def pinv() -> None:
    """jnp.linalg.pinv leaves out singular values of 0."""
    import jax.numpy as jnp
    import numpy as np

    for matrix, wanted in (([[0.0], [0.0]], [0.0]), ([[1.0, 0.0], [0.0, 0.0]], [1.0, 0.0])):
        np.testing.assert_allclose(jnp.linalg.pinv(jnp.array(matrix)) @ jnp.ones(2), wanted, atol=1e-6)


def by_pinv(a: Any) -> Any:
    """Multiply by the pseudo-inverse."""
    import jax.numpy as jnp

    return jnp.linalg.pinv(a) @ jnp.ones(len(a))


def by_numpy(a: Any) -> Any:
    """Return NumPy's least-squares solution."""
    import numpy as np

    return np.linalg.lstsq(a, np.ones(len(a)), rcond=None)[0]


def rcond_zero() -> tuple[str, str]:
    """Does jnp.linalg.lstsq agree with NumPy on the solution and the rank of diag(1, 0) with rcond=0?"""
    import jax.numpy as jnp

    solution, _, rank, _ = jnp.linalg.lstsq(jnp.diag(jnp.array([1.0, 0.0])), jnp.ones(2), rcond=0.0)
    return compare([*solution.tolist(), int(rank)], [1.0, 0.0, 1.0], rtol=1e-5)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#32666", fix="jax#32694"),
    control=default_rcond,
    rules=(Rule("differs", "jax<0.8.1"), Rule("agrees", "", "jax#32694 (cf3207c475)")),
    workaround=Workaround(
        "For floats, use jnp.linalg.pinv(a) @ b; its cutoff is larger, and it returns no rank.",
        pinv,
        elsewhere=Elsewhere(
            by_pinv,
            by_numpy,
            ("float32 matrix", "float32 square", "complex64 matrix", "zero float32 matrix", "zero complex64 square"),
            rtol=1e-4,
            atol=1e-5,
        ),
    ),
    cases=(
        Case(
            matrix_of_zeros,
            touches=(
                "jax.numpy.linalg.lstsq(a) if form(a) in ('jax.numpy.zeros', 'jax.numpy.zeros_like')",
                "jax.numpy.linalg.lstsq(a) if form(a) == '' and seen(within('jax.vmap')) and unseen",
            ),
        ),
        Case(rcond_zero, touches=("jax.numpy.linalg.lstsq(a, b, rcond) if rcond == 0",)),
    ),
)
