"""jnp.cross refuses vectors of two numbers

NumPy removed `cross` of vectors of two numbers (numpy#30461); jax#38650 follows, deprecates these vectors in JAX and
announces the removal. The changelog's "2-dimensional arrays" are vectors of two numbers along the axis; a matrix with
rows of three numbers is not affected (`of_three`). NumPy documents the formula for two numbers (numpy#26692).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare


def two_and_two() -> tuple[str, str]:
    """Does jnp.cross of vectors of two numbers return one number?"""
    import jax.numpy as jnp

    return compare(jnp.cross(jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])), -2.0)


def of_three() -> None:
    """jnp.cross takes vectors of three numbers, single and as rows of a matrix."""
    import jax.numpy as jnp

    one, other = jnp.array([1.0, 2.0, 0.0]), jnp.array([3.0, 4.0, 5.0])
    assert jnp.cross(one, other).tolist() == [10.0, -5.0, -2.0]
    assert jnp.cross(jnp.stack([one, one]), other).tolist() == [[10.0, -5.0, -2.0]] * 2


def by_hand() -> None:
    """a[0] * b[1] - a[1] * b[0] is the cross product, and jnp.cross takes a vector with a 0 appended."""
    import jax.numpy as jnp

    a, b = jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])
    assert float(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]) == -2.0
    assert jnp.cross(jnp.append(a, 0.0), jnp.array([3.0, 4.0, 5.0])).tolist() == [10.0, -5.0, -2.0]


def third_component(x: Any, y: Any) -> Any:
    """Return the cross product of the first two numbers of vectors."""
    a, b = x[..., :2], y[..., :2]
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def numpy_third_component(x: Any, y: Any) -> Any:
    """Append a 0 to vectors of two numbers, and return the third number of np.cross."""
    import numpy as np

    a, b = (np.concatenate([each[..., :2], np.zeros_like(each[..., :1])], axis=-1) for each in (x, y))
    return np.cross(a, b)[..., 2]


def two_and_three() -> tuple[str, str]:
    """Does jnp.cross of [1, 2] and [3, 4, 5] treat the missing number as 0?"""
    import jax.numpy as jnp

    return compare(jnp.cross(jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0, 5.0])), [10.0, -5.0, -2.0])


def with_zeros(x: Any, y: Any) -> Any:
    """Append zeros to vectors of two numbers."""
    import jax.numpy as jnp

    a = x[..., :2]
    return jnp.cross(jnp.concatenate([a, jnp.zeros_like(a[..., :1])], axis=-1), y[..., :3])


def numpy_with_zeros(x: Any, y: Any) -> Any:
    """Append a 0 to vectors of two numbers, and return np.cross with vectors of three."""
    import numpy as np

    return np.cross(np.concatenate([x[..., :2], np.zeros_like(x[..., :1])], axis=-1), y[..., :3])


_VECTORS = (
    *("float32 square, float32 square", "int32 batch, int32 batch", "float32 batch, float32 vector"),
    *("complex64 vector, complex64 vector", "zero float32 square, float32 matrix"),
)

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        change="numpy/numpy#30461 jax#38650",
        docs="jax:changelog.html#jax-0-11-0-july-16-2026",
        discussion="numpy/numpy#26692 jax#40876",
    ),
    touches=("jax.numpy.cross(a, b) if unseen and form(a) not in ('jax.numpy.append', 'jax.numpy.pad')",),
    control=of_three,
    behaviours={"warns": "documented"},
    rules=(Rule("agrees", "jax<0.11.0"), Rule("warns", "jax<0.12.0", "jax#38650 (d219f03b58)"), Rule("refused")),
    signatures={
        "warns": Signature("DeprecationWarning", "2-dimensional vectors"),
        "refused": Signature("ValueError", "Dimension must be 3 for cross product"),
    },
    cases=(
        Case(
            two_and_two,
            workaround=Workaround(
                "With axis=-1, write a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0].",
                by_hand,
                elsewhere=Elsewhere(third_component, numpy_third_component, _VECTORS, rtol=1e-5, atol=1e-6),
            ),
        ),
        Case(
            two_and_three,
            workaround=Workaround(
                "Append a zero to vectors of length two: jnp.concatenate([a, jnp.zeros_like(a[..., :1])], axis=-1).",
                by_hand,
                elsewhere=Elsewhere(with_zeros, numpy_with_zeros, _VECTORS, rtol=1e-5, atol=1e-6),
            ),
        ),
    ),
)
