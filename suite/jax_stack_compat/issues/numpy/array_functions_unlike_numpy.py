"""sort_complex, packbits and median(keepdims=True) differ from NumPy

`jnp.sort_complex` sorted a matrix along its first axis, not its last, until jax#23708. `jnp.packbits` counted only
elements above 0 as set bits, so that a negative element counted as 0, until jax#28593. Without an axis, `jnp.median`,
`jnp.quantile` and their variants gave the shape (1,) for `keepdims=True`, until jax#20251.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def sort_complex() -> tuple[str, str]:
    """Does jnp.sort_complex sort the rows of a matrix, as NumPy does?"""
    import jax.numpy as jnp
    import numpy as np

    matrix = np.array([[3, 1], [2, 0]])
    return compare(jnp.sort_complex(jnp.asarray(matrix)), np.sort_complex(matrix))


def vector() -> None:
    """sort_complex sorts a vector, packbits packs 0 and 1, and median keeps the axes that are named."""
    import jax.numpy as jnp

    assert jnp.sort_complex(jnp.array([3, 1])).tolist() == [1, 3]
    assert jnp.packbits(jnp.array([1, 0, 1])).tolist() == [160]
    assert jnp.median(jnp.ones((2, 3)), axis=(0, 1), keepdims=True).shape == (1, 1)


def sort() -> None:
    """jnp.sort sorts the complex array along its last axis."""
    import jax.numpy as jnp

    assert jnp.sort(jnp.array([[3, 1], [2, 0]]).astype(complex), axis=-1).tolist() == [[1, 3], [0, 2]]


def packbits() -> tuple[str, str]:
    """Does jnp.packbits pack a negative number as a set bit, as NumPy does?"""
    import jax.numpy as jnp
    import numpy as np

    bits = np.array([-1, 0, 1], np.int32)
    return compare(jnp.packbits(jnp.asarray(bits)), np.packbits(bits))


def compare_with_zero() -> None:
    """jnp.packbits packs truth values."""
    import jax.numpy as jnp

    assert jnp.packbits(jnp.array([-1, 0, 1]) != 0).tolist() == [160]


def keepdims() -> tuple[str, str]:
    """Do jnp.median, jnp.quantile and their variants keep a matrix's axes with keepdims=True?"""
    import jax.numpy as jnp

    matrix = jnp.ones((2, 3))
    shapes = {name: getattr(jnp, name)(matrix, keepdims=True).shape for name in ("median", "nanmedian")}
    for name in ("quantile", "percentile", "nanquantile", "nanpercentile"):
        shapes[name] = getattr(jnp, name)(matrix, 0.5, keepdims=True).shape
    lost = [name for name, shape in shapes.items() if shape != (1, 1)]
    return ("lost", f"{' '.join(lost)}: {shapes[lost[0]]}") if lost else ("kept", "all give (1, 1)")


def name_the_axes() -> None:
    """jnp.median keeps the axes if all are named."""
    import jax.numpy as jnp

    matrix = jnp.ones((2, 3))
    assert jnp.median(matrix, axis=tuple(range(matrix.ndim)), keepdims=True).shape == (1, 1)


_ALL_AXES = "keepdims and (not given(axis) or axis == None and form(axis) != 'tuple')"
_OF_QUANTILES = f"(a, q, axis, out, overwrite_input, method, keepdims) if {_ALL_AXES}"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax#23708 jax#28593 jax#20251"),
    touches=members("jax.numpy", "median quantile percentile nanmedian nanquantile nanpercentile", "(keepdims=)"),
    control=vector,
    cases=(
        Case(
            sort_complex,
            rules=(Rule("differs", "jax<0.4.34"), Rule("agrees", "", "jax#23708 (2834c135a3)")),
            workaround=Workaround("Write jnp.sort(x.astype(complex), axis=-1).", sort),
            touches=("jax.numpy.sort_complex(a) if type(min(a)) in ('list', 'tuple')",),
        ),
        Case(
            packbits,
            rules=(Rule("differs", "jax<0.6.1"), Rule("agrees", "", "jax#28593 (261141615d)")),
            workaround=Workaround("Write jnp.packbits(x != 0).", compare_with_zero),
            touches=("jax.numpy.packbits(a) if min(a) < 0 and form(a) != 'compare'",),
        ),
        Case(
            keepdims,
            behaviours={"kept": "clear"},
            rules=(Rule("lost", "jax<0.4.26"), Rule("kept", "", "jax#20251 (c295b1655c)")),
            workaround=Workaround("Name all axes: axis=tuple(range(x.ndim)).", name_the_axes),
            touches=(
                *members("jax.numpy", "median nanmedian", f"(a, axis, out, overwrite_input, keepdims) if {_ALL_AXES}"),
                *members("jax.numpy", "quantile percentile nanquantile nanpercentile", _OF_QUANTILES),
            ),
        ),
    ),
)
