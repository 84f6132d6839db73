"""jax.scipy.linalg.cholesky can have gradients at entries it ignores

`cholesky` reads one triangle, but its derivative assumed a symmetric matrix. It could spread the gradient of one entry
over both triangles (jax#40421). The derivative's rule now copies one triangle of the tangent to the other.
`jnp.linalg.cholesky` averages both triangles first, and has a symmetric gradient (`symmetrized`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import DERIVATIVES, Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def cholesky() -> tuple[str, str]:
    """Is the gradient of jax.scipy.linalg.cholesky 0 at the ignored entries, those below the diagonal?"""
    import jax
    import jax.numpy as jnp

    got = jax.grad(lambda x: jax.scipy.linalg.cholesky(x).sum())(jnp.array([[4.0, 1.0], [1.0, 3.0]]))
    return compare(got, [[0.20634446, 0.34924436], [0.0, 0.30151134]], atol=1e-5)


def symmetrized() -> None:
    """The ignored entry does not change the factor, and jnp.linalg.cholesky has a symmetric gradient."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([[4.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(jax.scipy.linalg.cholesky(x.at[1, 0].set(9.0)), jax.scipy.linalg.cholesky(x))
    got = jax.grad(lambda x: jnp.linalg.cholesky(x).sum())(x)
    np.testing.assert_allclose(got, [[0.20634446, 0.17462218], [0.17462218, 0.30151134]], atol=1e-5)


def fill_both() -> None:
    """With one triangle copied to the other before the call, the ignored entry has the gradient 0."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def loss(x: jax.Array) -> jax.Array:
        return jax.scipy.linalg.cholesky(jnp.triu(x) + jnp.triu(x, 1).T).sum()

    got = jax.grad(loss)(jnp.array([[4.0, 1.0], [1.0, 3.0]]))
    np.testing.assert_allclose(got, [[0.20634446, 0.34924436], [0.0, 0.30151134]], atol=1e-5)


def gradient_of_log_determinant(x: Any) -> Any:
    """Copy the upper triangle to the lower one, and return the log-determinant's gradient for the upper one."""
    import jax
    import jax.numpy as jnp

    def log_determinant(a: Any) -> Any:
        full = jnp.triu(a) + jnp.swapaxes(jnp.triu(a, 1), -1, -2)
        factor = jax.scipy.linalg.cholesky(full)
        return 2.0 * jnp.log(jnp.diagonal(factor, axis1=-2, axis2=-1)).sum()

    return jax.grad(log_determinant)(x @ jnp.swapaxes(x, -1, -2) + 8.0 * jnp.eye(3))


def by_inverse(x: Any) -> Any:
    """Compute the gradient with NumPy: the inverse, doubled above the diagonal, and 0 below it."""
    import numpy as np

    inverse = np.linalg.inv(x @ np.swapaxes(x, -1, -2) + 8.0 * np.eye(3))
    return np.triu(inverse) + np.triu(inverse, 1)


def cho_factor() -> tuple[str, str]:
    """Is the gradient of jax.scipy.linalg.cho_factor(x, lower=True) 0 at the ignored entries above the diagonal?"""
    import jax
    import jax.numpy as jnp

    def loss(x: jax.Array) -> jax.Array:
        return jnp.tril(jax.scipy.linalg.cho_factor(x, lower=True)[0]).sum()

    got = jax.grad(loss)(jnp.array([[4.0, 1.0], [1.0, 3.0]]))
    return compare(got, [[0.20634446, 0.0], [0.34924436, 0.30151134]], atol=1e-5)


def fill_from_below() -> None:
    """With the lower triangle copied to the upper one before the call, the ignored entry has the gradient 0."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def loss(x: jax.Array) -> jax.Array:
        full = jnp.tril(x) + jnp.tril(x, -1).T
        return jnp.tril(jax.scipy.linalg.cho_factor(full, lower=True)[0]).sum()

    got = jax.grad(loss)(jnp.array([[4.0, 1.0], [1.0, 3.0]]))
    np.testing.assert_allclose(got, [[0.20634446, 0.0], [0.34924436, 0.30151134]], atol=1e-5)


def gradient_for_the_lower_triangle(x: Any) -> Any:
    """Copy the lower triangle to the upper one, and return the log-determinant's gradient for the lower one."""
    import jax
    import jax.numpy as jnp

    def log_determinant(a: Any) -> Any:
        full = jnp.tril(a) + jnp.swapaxes(jnp.tril(a, -1), -1, -2)
        factor, _ = jax.scipy.linalg.cho_factor(full, lower=True)
        return 2.0 * jnp.log(jnp.diagonal(factor, axis1=-2, axis2=-1)).sum()

    return jax.grad(log_determinant)(x @ jnp.swapaxes(x, -1, -2) + 8.0 * jnp.eye(3))


def lower_by_inverse(x: Any) -> Any:
    """Compute the gradient with NumPy: the inverse, doubled below the diagonal, and 0 above it."""
    import numpy as np

    inverse = np.linalg.inv(x @ np.swapaxes(x, -1, -2) + 8.0 * np.eye(3))
    return np.tril(inverse) + np.tril(inverse, -1)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#40421", discussion="jax#10815"),
    control=symmetrized,
    rules=(Rule("differs", "jax<0.11.2"), Rule("agrees", "", "the derivative's rule in jax/_src/lax/linalg.py")),
    workaround=Workaround(
        "For real x, before the call, mirror the triangle that lower= selects.",
        fill_both,
        elsewhere=Elsewhere(
            gradient_of_log_determinant,
            by_inverse,
            ("float32 square", "float32 batch", "zero float32 square", "int32 square"),
            rtol=1e-3,
            atol=1e-5,
        ),
    ),
    cases=(
        Case(
            cholesky,
            touches=(
                f"jax.scipy.linalg.cholesky if {DERIVATIVES}",
                f"jax.lax.linalg.cholesky(x, symmetrize_input) if symmetrize_input == False and {DERIVATIVES}",
            ),
        ),
        Case(
            cho_factor,
            workaround=Workaround(
                "For real x, before the call, mirror the triangle that lower= selects.",
                fill_from_below,
                elsewhere=Elsewhere(
                    gradient_for_the_lower_triangle,
                    lower_by_inverse,
                    ("float32 square", "float32 batch", "zero float32 square", "int32 square"),
                    rtol=1e-3,
                    atol=1e-5,
                ),
            ),
            touches=(f"jax.scipy.linalg.cho_factor if {DERIVATIVES}",),
        ),
    ),
)
