"""jnp.linalg.lstsq divides by singular values of zero: infinity or NaN where NumPy gives 0, up to jax 0.8.0

    jnp.linalg.lstsq(jnp.zeros((2, 1)), jnp.ones((2, 1)))[0]     # inf up to jax 0.8.0, should be 0

The least-norm solution leaves out what the matrix maps to nothing. `lstsq` kept each singular value that is at least
rcond times the largest: where the largest is 0 that keeps them all, divides by them, and gives infinity or NaN, and for
the rank the number of columns. One parameter that the data say nothing about is enough, if it is the only one; and
under vmap one such system among many. jax#32666 reported the matrix of zeros on 0.8.0; jax#32694, in 0.8.1, wants a
singular value to be above zero as well.

Seen in these runs:

- The matrix need not be zero. With rcond=0, diag(1, 0) gives NaN in the component that is well determined, up to 0.8.0.
- The rank, which is an integer and looks sound, is wrong in both.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def matrix_of_zeros() -> tuple[str, str]:
    """Are the solution and the rank for a matrix of zeros 0?"""
    import jax.numpy as jnp

    solution, _, rank, _ = jnp.linalg.lstsq(jnp.zeros((3, 2)), jnp.ones(3))
    return compare([*solution.tolist(), int(rank)], [0.0, 0.0, 0.0])


def default_rcond() -> None:
    """With the default rcond a singular matrix that is not all zeros is solved."""
    import jax.numpy as jnp
    import numpy as np

    solution, _, rank, _ = jnp.linalg.lstsq(jnp.diag(jnp.array([2.0, 0.0])), jnp.ones(2))
    np.testing.assert_allclose([*solution.tolist(), int(rank)], [0.5, 0.0, 1.0])


def pinv() -> None:
    """The pseudo-inverse, which leaves them out everywhere."""
    import jax.numpy as jnp
    import numpy as np

    for matrix, wanted in (([[0.0], [0.0]], [0.0]), ([[1.0, 0.0], [0.0, 0.0]], [1.0, 0.0])):
        np.testing.assert_allclose(jnp.linalg.pinv(jnp.array(matrix)) @ jnp.ones(2), wanted, atol=1e-6)


def rcond_zero() -> tuple[str, str]:
    """Are the solution and the rank for diag(1, 0) with rcond=0 those of NumPy?"""
    import jax.numpy as jnp

    solution, _, rank, _ = jnp.linalg.lstsq(jnp.diag(jnp.array([1.0, 0.0])), jnp.ones(2), rcond=0.0)
    return compare([*solution.tolist(), int(rank)], [1.0, 0.0, 1.0], rtol=1e-5)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#32666", fix="jax#32694"),
    control=default_rcond,
    rules=(Rule("differs", "jax<0.8.1"), Rule("agrees", "", "jax#32694 (cf3207c475)")),
    workaround=Workaround("Multiply by the pseudo-inverse: jnp.linalg.pinv(a) @ b.", pinv),
    cases=(Case(matrix_of_zeros), Case(rcond_zero, touches=("jax.numpy.linalg.lstsq(a, b, rcond) if rcond == 0",))),
)
