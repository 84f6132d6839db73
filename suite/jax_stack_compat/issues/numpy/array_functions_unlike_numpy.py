"""jnp.sort_complex sorts a matrix along its first axis, not its last

`jnp.sort_complex` called `lax.sort` with `dimension=0`; NumPy sorts along the last axis. jax#23708 fixed the axis.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare, members


def sort_complex() -> tuple[str, str]:
    """Does jnp.sort_complex sort the rows of a matrix, as NumPy does?"""
    import jax.numpy as jnp
    import numpy as np

    matrix = np.array([[3, 1], [2, 0]])
    return compare(jnp.sort_complex(jnp.asarray(matrix)), np.sort_complex(matrix))


def vector() -> None:
    """jnp.sort_complex sorts a vector, jnp.packbits packs 0 and 1, and jnp.median keeps axes with keepdims=True."""
    import jax.numpy as jnp

    assert jnp.sort_complex(jnp.array([3, 1])).tolist() == [1, 3]
    assert jnp.packbits(jnp.array([1, 0, 1])).tolist() == [160]
    assert jnp.median(jnp.ones((2, 3)), axis=(0, 1), keepdims=True).shape == (1, 1)


def sort() -> None:
    """jnp.sort sorts a complex matrix along its last axis."""
    import jax.numpy as jnp

    assert jnp.sort(jnp.array([[3, 1], [2, 0]]).astype(complex), axis=-1).tolist() == [[1, 3], [0, 2]]


def sorted_rows(x: Any) -> Any:
    """Sort a complex array along its last axis."""
    import jax.numpy as jnp

    return jnp.sort(x.astype(complex), axis=-1)


def numpy_sort_complex(x: Any) -> Any:
    """Return NumPy's sort_complex."""
    import numpy as np

    return np.sort_complex(x)


_INPUTS = ("complex64 batch", "int32 vector", "float16 matrix", "bool square", "float32 empty")
_MATRICES = members("jax.numpy", "stack vstack column_stack atleast_2d")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax#23708"),
    cases=(
        Case(
            sort_complex,
            vector,
            rules=(Rule("differs", "jax<0.4.34"), Rule("agrees", "", "jax#23708 (2834c135a3)")),
            workaround=Workaround(
                "Write jnp.sort(x.astype(complex), axis=-1); with x64 the result is complex128.",
                sort,
                elsewhere=Elsewhere(sorted_rows, numpy_sort_complex, _INPUTS),
            ),
            touches=(f"jax.numpy.sort_complex(a) if unseen and (form(a) in {_MATRICES} or unseen)",),
        ),
    ),
)
