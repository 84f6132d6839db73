"""The gradient of softmax with where= is NaN where a masked entry is large, up to jax 0.4.23

    x, mask = jnp.array([1.0, 1.0, 100.0]), jnp.array([True, True, False])
    jax.grad(lambda x: jax.nn.softmax(x, where=mask, initial=-jnp.inf)[0])(x)    # NaN everywhere; 0.25, -0.25, 0

The value is right: 0.5, 0.5, 0. But the exponential is taken of the masked entry too, less the largest of the others,
overflows, and reverse mode multiplies that infinity by 0. Masked attention is the use of `where`. jax#19518, for
jax#19490, masks before the exponential as well, in 0.4.24; jax#17117, which had the cause and the repair half a year
before, still stands open.

Seen in these runs: `log_softmax` had NaN for the masked entries alone, the others right, so that a loss that masks its
gradient again never showed it; and forward mode was right for both on every release run.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def softmax() -> tuple[str, str]:
    """Is the gradient of softmax(x, where=mask) right, where the masked entry is 100?"""
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
    """Where the masked entry is no larger than the others, and in forward mode, both are right."""
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
    """-inf in the place of what is masked, and no where."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x, mask = jnp.array([1.0, 1.0, 100.0]), jnp.array([True, True, False])
    for name, half in (("softmax", 0.25), ("log_softmax", 0.5)):
        got = jax.grad(lambda x, name: getattr(jax.nn, name)(jnp.where(mask, x, -jnp.inf))[0])(x, name)
        np.testing.assert_allclose(got, [half, -half, 0.0], rtol=1e-5)


def log_softmax() -> tuple[str, str]:
    """Is that of log_softmax(x, where=mask)?"""
    import jax
    import jax.numpy as jnp

    x, mask = jnp.array([1.0, 1.0, 100.0]), jnp.array([True, True, False])

    def masked(x: jax.Array) -> jax.Array:
        try:
            return jax.nn.log_softmax(x, where=mask)
        except ValueError:  # an older release, which asks for more
            return jax.nn.log_softmax(x, where=mask, initial=-jnp.inf)

    return compare(jax.grad(lambda x: masked(x)[0])(x), [0.5, -0.5, 0.0], rtol=1e-5)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#17117 jax#19490", fix="jax#19518"),
    touches=("jax.nn.softmax(where=)", "jax.nn.log_softmax(where=)"),
    control=small_or_forwards,
    rules=(Rule("differs", "jax<0.4.24"), Rule("agrees", "", "jax#19518 (a282d586b6)")),
    workaround=Workaround("Mask the input instead: softmax(jnp.where(mask, x, -jnp.inf)).", masked_first),
    cases=(Case(softmax), Case(log_softmax)),
)
