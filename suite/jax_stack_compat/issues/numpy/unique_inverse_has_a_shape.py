"""The inverse indices of jnp.unique have the shape of what they came from, since jax 0.4.24: they were flat

    values, inverse = jnp.unique(x, return_inverse=True)    # x: (2, 2)
    inverse.shape                                           # (4,) up to jax 0.4.23, (2, 2) from 0.4.24
    values[inverse]                                         # flat, then of x's shape

NumPy 2 did this first, and JAX took it over before NumPy 2 was out: jax 0.4.24 to 0.4.29, beside the NumPy 1.26 that an
installer gave then, disagree with it. What follows is quiet where a shape broadcasts: `weights - means[inverse]` has
another one. The changelog of 0.4.24 has the change.

With `axis=0` it went to and fro. A vector up to 0.4.23, `(2, 1)` from 0.4.24 to 0.4.30, a vector again
from 0.4.31: NumPy 2.0 had done that, and 2.1 undid it.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def inverse() -> tuple[str, str]:
    """Which shape have the inverse indices of a matrix of 2 × 2?"""
    import jax.numpy as jnp

    shape = jnp.unique(jnp.array([[1, 2], [1, 2]]), return_inverse=True)[1].shape
    return {(4,): "flat", (2, 2): "shaped"}.get(shape, "other"), f"{shape}"


def vector() -> None:
    """Of a vector they are one on every release, and the values are right."""
    import jax.numpy as jnp

    values, inverse = jnp.unique(jnp.array([3, 1, 3]), return_inverse=True)
    assert inverse.tolist() == [1, 0, 1]
    assert values.tolist() == [1, 3]
    assert jnp.unique(jnp.array([[1, 2], [1, 2]])).tolist() == [1, 2]


def reshaped() -> None:
    """With the shape said, whatever it was."""
    import jax.numpy as jnp

    x = jnp.array([[1, 2], [1, 2]])
    values, inverse = jnp.unique(x, return_inverse=True)
    assert values[inverse.reshape(x.shape)].tolist() == x.tolist()
    rows, inverse = jnp.unique(x, return_inverse=True, axis=0)
    assert rows[inverse.reshape(-1)].tolist() == x.tolist()


def inverse_of_rows() -> tuple[str, str]:
    """Which have those of its rows?"""
    import jax.numpy as jnp

    shape = jnp.unique(jnp.array([[1, 2], [1, 2]]), return_inverse=True, axis=0)[1].shape
    return {(2,): "flat", (2, 1): "shaped"}.get(shape, "other"), f"{shape}"


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(change="jax@fa6d3f26ff", docs="jax:changelog.html"),
    touches=("jax.numpy.unique(return_inverse=)", "jax.numpy.unique_inverse", "jax.numpy.unique_all"),
    control=vector,
    workaround=Workaround("Say the shape: inverse.reshape(x.shape), or reshape(-1) with an axis.", reshaped),
    cases=(
        Case(
            inverse,
            rules=(Rule("flat", "jax<0.4.24"), Rule("shaped", "", "fa6d3f26ff")),
            behaviours={"flat": "clear", "shaped": "documented", "other": "different"},
        ),
        Case(
            inverse_of_rows,
            behaviours={"flat": "clear", "shaped": "affected", "other": "different"},
            rules=(Rule("shaped", "jax>=0.4.24,<0.4.31"), Rule("flat")),
        ),
    ),
)
