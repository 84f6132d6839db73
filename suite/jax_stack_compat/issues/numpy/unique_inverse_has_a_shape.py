"""jnp.unique with return_inverse=True changed the shape of the inverse

`jnp.unique` returned flat inverse indices; jax#19320 gave them the shape of the input, as in NumPy 2. With `axis`, the
inverse got as many dimensions as the input, which broke `rows[inverse]` (jax#20274). NumPy made the inverse flat again
for calls with `axis` (numpy#26914), and jax#22445 did the same.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround


def inverse_of_rows() -> tuple[str, str]:
    """What shape does the inverse of jnp.unique(x, return_inverse=True, axis=0) have for two rows?"""
    import jax.numpy as jnp

    shape = jnp.unique(jnp.array([[1, 2], [1, 2]]), return_inverse=True, axis=0)[1].shape
    return {(2,): "flat", (2, 1): "shaped"}.get(shape, "other"), f"{shape}"


def vector() -> None:
    """jnp.unique of a vector returns a flat inverse, and jnp.unique of a matrix returns NumPy's values."""
    import jax.numpy as jnp

    values, inverse = jnp.unique(jnp.array([3, 1, 3]), return_inverse=True)
    assert inverse.tolist() == [1, 0, 1]
    assert values.tolist() == [1, 3]
    assert jnp.unique(jnp.array([[1, 2], [1, 2]])).tolist() == [1, 2]


def reshaped() -> None:
    """The reshaped inverse restores a matrix from its unique elements, and from its unique rows."""
    import jax.numpy as jnp

    x = jnp.array([[1, 2], [1, 2]])
    values, inverse = jnp.unique(x, return_inverse=True)
    assert values[inverse.reshape(x.shape)].tolist() == x.tolist()
    rows, inverse = jnp.unique(x, return_inverse=True, axis=0)
    assert rows[inverse.reshape(-1)].tolist() == x.tolist()


def by_columns(x: Any) -> Any:
    """Restore an array from its unique columns."""
    import jax.numpy as jnp

    values, inverse = jnp.unique(x, return_inverse=True, axis=-1)
    return jnp.take(values, inverse.reshape(-1), axis=-1)


def by_elements(x: Any) -> Any:
    """Restore an array from its unique elements."""
    import jax.numpy as jnp

    values, inverse = jnp.unique(x, return_inverse=True)
    return values[inverse.reshape(x.shape)]


def itself(x: Any) -> Any:
    """Return the array."""
    return x


def inverse() -> tuple[str, str]:
    """What shape does the inverse of jnp.unique(x, return_inverse=True) have for a 2 × 2 matrix?"""
    import jax.numpy as jnp

    shape = jnp.unique(jnp.array([[1, 2], [1, 2]]), return_inverse=True)[1].shape
    return {(4,): "flat", (2, 2): "shaped"}.get(shape, "other"), f"{shape}"


_INPUTS = ("int32 matrix", "float32 batch", "bool square", "uint8 vector", "zero float16 matrix")
_UNIQUE = (
    "jax.numpy.unique(ar, return_index, return_inverse, return_counts, axis) "
    "if unseen and return_inverse == True and form(ar) not in ('jax.numpy.ravel', 'ravel', 'flatten')"
)

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="jax#20274",
        change="jax#19320",
        fix="jax#22445",
        docs="jax:changelog.html",
        discussion="numpy/numpy#26914",
    ),
    control=vector,
    cases=(
        Case(
            inverse_of_rows,
            behaviours={"flat": "clear", "shaped": "affected", "other": "different"},
            rules=(
                Rule("flat", "jax<0.4.24"),
                Rule("shaped", "jax<0.4.31", "jax#19320 (fa6d3f26ff)"),
                Rule("flat", "", "jax#22445 (7857bd3319)"),
            ),
            workaround=Workaround(
                "With axis, take along the axis: jnp.take(values, inverse.reshape(-1), axis=axis).",
                reshaped,
                elsewhere=Elsewhere(by_columns, itself, _INPUTS),
            ),
            touches=(f"{_UNIQUE} and axis != None",),
        ),
        Case(
            inverse,
            rules=(Rule("flat", "jax<0.4.24"), Rule("shaped", "", "jax#19320 (fa6d3f26ff)")),
            behaviours={"flat": "clear", "shaped": "documented", "other": "different"},
            workaround=Workaround(
                "Reshape the inverse to the input's shape: inverse.reshape(x.shape).",
                reshaped,
                elsewhere=Elsewhere(by_elements, itself, (*_INPUTS, "float32 scalar")),
            ),
            touches=(f"{_UNIQUE} and not axis != None",),
        ),
    ),
)
