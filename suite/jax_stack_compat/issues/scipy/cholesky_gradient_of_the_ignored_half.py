"""The gradient of jax.scipy.linalg.cholesky is not 0 at the entries that it ignores

    x = jnp.array([[4.0, 1.0], [1.0, 3.0]])
    jax.grad(lambda x: jax.scipy.linalg.cholesky(x).sum())(x)
    # [[0.206, 0.425], [-0.075, 0.302]] up to jax 0.11.1, should be [[0.206, 0.349], [0, 0.302]]

The function reads one triangle, the upper one unless `lower=True`; the other one does not change the factor. The
derivative is that of a symmetric matrix, and ignored that one triangle is read. The gradients of two mirrored entries
have the right sum, so a matrix that the program makes symmetric itself has the right gradient (workaround `fill_both`).
Where only one triangle depends on a parameter, its gradient is wrong. jax#40421 reports it.

Seen in these runs:

- The rule of the derivative is Python in jax, and copies one triangle to the other in 0.11.2.
- `cho_factor` and `jax.lax.linalg.cholesky` with `symmetrize_input=False` had the same gradient.
- `jnp.linalg.cholesky` makes its input symmetric first (control `symmetrized`).
"""

from __future__ import annotations

from jax_stack_compat.cell import DERIVATIVES, Case, Issue, Rule, Upstream, Workaround, compare


def cholesky() -> tuple[str, str]:
    """Is the gradient of the upper factor 0 below the diagonal, and above it that of the only entry?"""
    import jax
    import jax.numpy as jnp

    got = jax.grad(lambda x: jax.scipy.linalg.cholesky(x).sum())(jnp.array([[4.0, 1.0], [1.0, 3.0]]))
    return compare(got, [[0.20634446, 0.34924436], [0.0, 0.30151134]], atol=1e-5)


def symmetrized() -> None:
    """The ignored half changes no factor, and jnp.linalg.cholesky has a symmetric gradient."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([[4.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(jax.scipy.linalg.cholesky(x.at[1, 0].set(9.0)), jax.scipy.linalg.cholesky(x))
    got = jax.grad(lambda x: jnp.linalg.cholesky(x).sum())(x)
    np.testing.assert_allclose(got, [[0.20634446, 0.17462218], [0.17462218, 0.30151134]], atol=1e-5)


def fill_both() -> None:
    """Copy one triangle to the other before the call."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def loss(x: jax.Array) -> jax.Array:
        return jax.scipy.linalg.cholesky(jnp.triu(x) + jnp.triu(x, 1).T).sum()

    got = jax.grad(loss)(jnp.array([[4.0, 1.0], [1.0, 3.0]]))
    np.testing.assert_allclose(got, [[0.20634446, 0.34924436], [0.0, 0.30151134]], atol=1e-5)


def cho_factor() -> tuple[str, str]:
    """Is it, of the lower factor by cho_factor?"""
    import jax
    import jax.numpy as jnp

    def loss(x: jax.Array) -> jax.Array:
        return jnp.tril(jax.scipy.linalg.cho_factor(x, lower=True)[0]).sum()

    got = jax.grad(loss)(jnp.array([[4.0, 1.0], [1.0, 3.0]]))
    return compare(got, [[0.20634446, 0.0], [0.34924436, 0.30151134]], atol=1e-5)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#40421"),
    control=symmetrized,
    rules=(Rule("differs", "jax<0.11.2"), Rule("agrees", "", "the derivative's rule in jax/_src/lax/linalg.py")),
    workaround=Workaround("Fill both triangles: jnp.triu(x) + jnp.triu(x, 1).T.", fill_both),
    cases=(
        Case(
            cholesky,
            touches=(
                f"jax.scipy.linalg.cholesky if {DERIVATIVES}",
                f"jax.lax.linalg.cholesky(x, symmetrize_input) if symmetrize_input == False and {DERIVATIVES}",
            ),
        ),
        Case(cho_factor, touches=(f"jax.scipy.linalg.cho_factor if {DERIVATIVES}",)),
    ),
)
