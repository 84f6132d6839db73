"""Gradients of softmax with where= are NaN if a masked entry is large

With `where=`, softmax kept a masked entry out of the maximum, but not out of `exp`. The exponential of a large masked
entry overflowed, and reverse mode multiplied that infinity by 0 (jax#17117, jax#19490). jax#19518 masks the input
before `exp` as well.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import DERIVATIVES, Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def softmax() -> tuple[str, str]:
    """Does the gradient of softmax(x, where=mask)[0] ignore a masked entry of 100?"""
    import jax
    import jax.numpy as jnp

    x, mask = jnp.array([1.0, 1.0, 100.0]), jnp.array([True, True, False])

    def masked(x: jax.Array) -> jax.Array:
        try:
            return jax.nn.softmax(x, where=mask)
        except ValueError:  # an older release, which asks for more
            return jax.nn.softmax(x, where=mask, initial=-jnp.inf)

    return compare(jax.grad(lambda x: masked(x)[0])(x), [0.25, -0.25, 0.0], rtol=1e-5)


def small_or_forwards() -> None:
    """The gradients of softmax and log_softmax ignore a masked 1, and in forward mode also a masked 100."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x, mask = jnp.array([1.0, 1.0, 1.0]), jnp.array([True, True, False])

    def first(x: jax.Array, name: str) -> jax.Array:
        try:
            return getattr(jax.nn, name)(x, where=mask)[0]
        except ValueError:  # an older release, which asks for more
            return getattr(jax.nn, name)(x, where=mask, initial=-jnp.inf)[0]

    for name, half in (("softmax", 0.25), ("log_softmax", 0.5)):
        np.testing.assert_allclose(jax.grad(first)(x, name), [half, -half, 0.0], rtol=1e-5)
        np.testing.assert_allclose(jax.jacfwd(first)(x.at[2].set(100.0), name), [half, -half, 0.0], rtol=1e-5)


def masked_first() -> None:
    """With -inf for masked entries instead of where=, the gradients of softmax and log_softmax ignore them."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x, mask = jnp.array([1.0, 1.0, 100.0]), jnp.array([True, True, False])
    for name, half in (("softmax", 0.25), ("log_softmax", 0.5)):
        got = jax.grad(lambda x, name: getattr(jax.nn, name)(jnp.where(mask, x, -jnp.inf))[0])(x, name)
        np.testing.assert_allclose(got, [half, -half, 0.0], rtol=1e-5)


def masked_softmax(x: Any, mask: Any) -> Any:
    """Add 100 to the masked entries, and return a masked softmax and the gradient of its first entry."""
    import jax
    import jax.numpy as jnp

    def softmax(x: Any) -> Any:
        p = jax.nn.softmax(jnp.where(mask, x, -jnp.inf))
        return p[..., 0].sum(), p

    gradient, p = jax.grad(softmax, has_aux=True)(jnp.where(mask, x, x + 100))
    return jnp.stack([p, gradient])


def masked_in_float64(x: Any, mask: Any) -> Any:
    """Compute the masked softmax and the gradient with SciPy in float64."""
    import numpy as np
    import scipy.special

    p = scipy.special.softmax(np.where(mask, np.float64(x), -np.inf), -1)
    return np.stack([p, p[..., :1] * (np.eye(x.shape[-1])[0] - p)])


def log_softmax() -> tuple[str, str]:
    """Does the gradient of log_softmax(x, where=mask)[0] ignore a masked entry of 100?"""
    import jax
    import jax.numpy as jnp

    x, mask = jnp.array([1.0, 1.0, 100.0]), jnp.array([True, True, False])

    def masked(x: jax.Array) -> jax.Array:
        try:
            return jax.nn.log_softmax(x, where=mask)
        except ValueError:  # an older release, which asks for more
            return jax.nn.log_softmax(x, where=mask, initial=-jnp.inf)

    return compare(jax.grad(lambda x: masked(x)[0])(x), [0.5, -0.5, 0.0], rtol=1e-5)


_CALL = f"(x, axis, where) if given(where) and form(x) != 'jax.numpy.where' and {DERIVATIVES}"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#17117 jax#19490", fix="jax#19518"),
    control=small_or_forwards,
    rules=(Rule("differs", "jax<0.4.24"), Rule("agrees", "", "jax#19518 (a282d586b6)")),
    workaround=Workaround(
        "Mask the input: softmax(jnp.where(mask, x, -jnp.inf)). A fully masked row is NaN.",
        masked_first,
        elsewhere=Elsewhere(
            masked_softmax,
            masked_in_float64,
            (
                *("float32 matrix, bool matrix", "float32 batch, bool batch", "zero float32 vector, bool vector"),
                *("float16 matrix, bool matrix", "positive float32 vector, bool vector"),
            ),
            rtol=1e-2,
            atol=1e-3,
        ),
    ),
    cases=(
        Case(softmax, touches=(f"jax.nn.softmax{_CALL}",)),
        Case(log_softmax, touches=(f"jax.nn.log_softmax{_CALL}",)),
    ),
)
