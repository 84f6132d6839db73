"""jnp.median and jnp.quantile with keepdims=True lose axes if axis is None

Without an axis, `jnp.median`, `jnp.quantile` and their variants flattened the array first. For one quantile,
`keepdims=True` returned the shape (1,), while NumPy keeps each axis with length 1. jax#20251 keeps the axes.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare, members


def median() -> tuple[str, str]:
    """Does jnp.median(matrix, keepdims=True) keep both axes, as NumPy does?"""
    import jax.numpy as jnp
    import numpy as np

    matrix = np.ones((2, 3), np.float32)
    return compare(jnp.median(jnp.asarray(matrix), keepdims=True), np.median(matrix, keepdims=True))


def over_both_axes() -> None:
    """With axis=(0, 1), jnp.median and jnp.quantile keep both axes."""
    import jax.numpy as jnp

    assert jnp.median(jnp.ones((2, 3)), axis=(0, 1), keepdims=True).shape == (1, 1)
    assert jnp.quantile(jnp.ones((2, 3)), 0.5, axis=(0, 1), keepdims=True).shape == (1, 1)


def name_the_axes() -> None:
    """jnp.median keeps all axes if the argument axis names them all."""
    import jax.numpy as jnp

    matrix = jnp.ones((2, 3))
    assert jnp.median(matrix, axis=tuple(range(matrix.ndim)), keepdims=True).shape == (1, 1)


def median_over_all(x: Any) -> Any:
    """Return jnp.median with all axes named."""
    import jax.numpy as jnp

    return jnp.median(x, axis=tuple(range(x.ndim)), keepdims=True)


def numpy_median(x: Any) -> Any:
    """Return NumPy's median over all axes."""
    import numpy as np

    return np.median(x, keepdims=True)


def keepdims() -> tuple[str, str]:
    """Do jnp.median, jnp.quantile and their variants keep a matrix's axes with keepdims=True?"""
    import jax.numpy as jnp

    x = jnp.ones((2, 3))
    medians = jnp.median(x, keepdims=True), jnp.nanmedian(x, keepdims=True)
    quantiles = jnp.quantile(x, 0.5, keepdims=True), jnp.nanquantile(x, 0.5, keepdims=True)
    percentiles = jnp.percentile(x, 50, keepdims=True), jnp.nanpercentile(x, 50, keepdims=True)
    shapes = [each.shape for each in (*medians, *quantiles, *percentiles)]
    return "lost" if (1,) in shapes else "kept", f"{shapes}"


def quantile(x: Any, q: Any) -> Any:
    """Return jnp.quantile with all axes named."""
    import jax.numpy as jnp

    return jnp.quantile(x, q, axis=tuple(range(x.ndim)), keepdims=True)


def numpy_quantile(x: Any, q: Any) -> Any:
    """Return NumPy's quantile over all axes."""
    import numpy as np

    return np.quantile(x.astype(np.float32), q, keepdims=True)


_TEXT = "Unless x is a scalar, name all axes: axis=tuple(range(x.ndim))."
_INPUTS = ("float32 batch, unit float32 scalar", "int32 vector, unit float32 vector", "float32 one, unit float32 one")
_ALL_AXES = "keepdims and (not given(axis) or axis == None and form(axis) != 'tuple')"
_OF_MEDIANS = f"(a, axis, out, overwrite_input, keepdims) if {_ALL_AXES}"
_OF_QUANTILES = f"(a, q, axis, out, overwrite_input, method, keepdims) if {_ALL_AXES}"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax#20251"),
    touches=members("jax.numpy", "median quantile percentile nanmedian nanquantile nanpercentile", "(keepdims=)"),
    control=over_both_axes,
    workaround=Workaround(_TEXT, name_the_axes, elsewhere=Elsewhere(quantile, numpy_quantile, _INPUTS, 1e-5)),
    cases=(
        Case(
            median,
            rules=(Rule("differs", "jax<0.4.26"), Rule("agrees", "", "jax#20251 (c295b1655c)")),
            workaround=Workaround(
                _TEXT,
                name_the_axes,
                elsewhere=Elsewhere(
                    median_over_all, numpy_median, ("float16 batch", "int32 vector", "bool matrix", "float32 one")
                ),
            ),
            touches=(f"jax.numpy.median{_OF_MEDIANS}",),
        ),
        Case(
            keepdims,
            behaviours={"kept": "clear"},
            rules=(Rule("lost", "jax<0.4.26"), Rule("kept", "", "jax#20251 (c295b1655c)")),
            touches=(
                f"jax.numpy.nanmedian{_OF_MEDIANS}",
                *members("jax.numpy", "quantile percentile nanquantile nanpercentile", _OF_QUANTILES),
            ),
        ),
    ),
)
