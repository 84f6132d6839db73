"""jnp.sort_complex sorts the wrong axis, packbits takes negative numbers for 0, median loses keepdims

    jnp.sort_complex(jnp.array([[3, 1], [2, 0]]))        # [[2, 0], [3, 1]] up to jax 0.4.33, not [[1, 3], [0, 2]]
    jnp.packbits(jnp.array([-1, 0, 1]))                  # [32] up to jax 0.6.0, should be [160]
    jnp.median(jnp.ones((2, 3)), keepdims=True).shape    # (1,) up to jax 0.4.25, should be (1, 1)

Three one-liners that NumPy answers otherwise. sort_complex sorted along the first axis, and a vector has but one
(jax#23708, in 0.4.34). packbits asked whether a number is above 0 and not whether it is 0 (jax#28593, in 0.6.1): of the
bits of a signed integer the highest was lost. With axis=None the keepdims of quantile and median gave one axis
(jax#20251, in 0.4.26), which broadcasts against the array all the same, so that only the shape of what follows tells.

Seen in these runs: quantile, percentile, nanquantile, nanpercentile and nanmedian lost keepdims too, up to 0.4.25.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def sort_complex() -> tuple[str, str]:
    """Are the rows of a matrix sorted, as NumPy sorts them?"""
    import jax.numpy as jnp
    import numpy as np

    matrix = np.array([[3, 1], [2, 0]])
    return compare(jnp.sort_complex(jnp.asarray(matrix)), np.sort_complex(matrix))


def vector() -> None:
    """A vector is sorted right; so are bits that are 0 and 1 packed, and the axes kept that are named."""
    import jax.numpy as jnp

    assert jnp.sort_complex(jnp.array([3, 1])).tolist() == [1, 3]
    assert jnp.packbits(jnp.array([1, 0, 1])).tolist() == [160]
    assert jnp.median(jnp.ones((2, 3)), axis=(0, 1), keepdims=True).shape == (1, 1)


def sort() -> None:
    """jnp.sort of the array made complex."""
    import jax.numpy as jnp

    assert jnp.sort(jnp.array([[3, 1], [2, 0]]).astype(complex), axis=-1).tolist() == [[1, 3], [0, 2]]


def packbits() -> tuple[str, str]:
    """Is a negative number a bit that is set?"""
    import jax.numpy as jnp
    import numpy as np

    bits = np.array([-1, 0, 1], np.int32)
    return compare(jnp.packbits(jnp.asarray(bits)), np.packbits(bits))


def compare_with_zero() -> None:
    """The comparison made before."""
    import jax.numpy as jnp

    assert jnp.packbits(jnp.array([-1, 0, 1]) != 0).tolist() == [160]


def keepdims() -> tuple[str, str]:
    """Do median and its kin keep the axes of a matrix with keepdims=True?"""
    import jax.numpy as jnp

    matrix = jnp.ones((2, 3))
    shapes = {name: getattr(jnp, name)(matrix, keepdims=True).shape for name in ("median", "nanmedian")}
    for name in ("quantile", "percentile", "nanquantile", "nanpercentile"):
        shapes[name] = getattr(jnp, name)(matrix, 0.5, keepdims=True).shape
    lost = [name for name, shape in shapes.items() if shape != (1, 1)]
    return ("lost", f"{' '.join(lost)}: {shapes[lost[0]]}") if lost else ("kept", "all give (1, 1)")


def name_the_axes() -> None:
    """All axes named."""
    import jax.numpy as jnp

    matrix = jnp.ones((2, 3))
    assert jnp.median(matrix, axis=tuple(range(matrix.ndim)), keepdims=True).shape == (1, 1)


_ALL_AXES = "keepdims and (not given(axis) or axis == None)"
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
            workaround=Workaround("jnp.sort(x.astype(complex), axis=-1)", sort),
            touches=("jax.numpy.sort_complex",),
        ),
        Case(
            packbits,
            rules=(Rule("differs", "jax<0.6.1"), Rule("agrees", "", "jax#28593 (261141615d)")),
            workaround=Workaround("jnp.packbits(x != 0)", compare_with_zero),
            touches=("jax.numpy.packbits",),
        ),
        Case(
            keepdims,
            behaviours={"kept": "clear"},
            rules=(Rule("lost", "jax<0.4.26"), Rule("kept", "", "jax#20251 (c295b1655c)")),
            workaround=Workaround("Name the axes: axis=tuple(range(x.ndim)).", name_the_axes),
            touches=(
                *members("jax.numpy", "median nanmedian", f"(a, axis, out, overwrite_input, keepdims) if {_ALL_AXES}"),
                *members("jax.numpy", "quantile percentile nanquantile nanpercentile", _OF_QUANTILES),
            ),
        ),
    ),
)
