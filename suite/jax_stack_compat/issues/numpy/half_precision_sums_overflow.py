"""jnp.mean(x, dtype=float16) accumulates in float16, and overflows

Without a dtype, a mean of float16 or bfloat16 accumulates in float32 (jax#17792). jax#26365 reported that jax.numpy
ignored a half-precision dtype that the caller gave. Since jax#26403 sums accumulate in the given dtype, as in NumPy,
and can overflow. NumPy's `cumsum` and `nanmean` of float16 overflow, too.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, members


def mean() -> tuple[str, str]:
    """Does jnp.mean(x, dtype=jnp.float16) return 60000 for the float16 array [60000, 60000]?"""
    import jax.numpy as jnp

    got = float(jnp.mean(jnp.array([60000.0, 60000.0], jnp.float16), dtype=jnp.float16))
    return {60000.0: "float32-inside", float("inf"): "overflows"}.get(got, "other"), f"{got!r}"


def no_dtype() -> None:
    """Without a dtype, jnp.mean accumulates in float32; jnp.cumsum and jnp.nanmean of small numbers are exact."""
    import jax.numpy as jnp

    assert float(jnp.mean(jnp.array([60000.0, 60000.0], jnp.float16))) == 60000.0
    assert jnp.cumsum(jnp.array([1.0, 2.0, -1.0], jnp.float16)).tolist() == [1.0, 3.0, 2.0]
    assert float(jnp.nanmean(jnp.array([1.0, 2.0], jnp.float16), dtype=jnp.float16)) == 1.5


def convert_outside() -> None:
    """Reducing in float32 and converting the result to float16 avoids an overflow of partial sums."""
    import jax.numpy as jnp

    x = jnp.array([60000.0, 60000.0, -60000.0, -60000.0], jnp.float16)
    assert float(jnp.mean(x[:2], dtype=jnp.float32).astype(jnp.float16)) == 60000.0
    assert float(jnp.nanmean(x[:2].astype(jnp.float32)).astype(jnp.float16)) == 60000.0
    got = jnp.cumsum(x, dtype=jnp.float32).astype(jnp.float16).tolist()
    assert got == [60000.0, float("inf"), 60000.0, 0.0], got


def along_an_axis() -> None:
    """For float16, bfloat16 and float32, reductions in float32 along an axis agree with NumPy in float64."""
    import jax.numpy as jnp
    import numpy as np

    for dtype in (jnp.float16, jnp.bfloat16, jnp.float32):
        x = jnp.asarray(np.linspace(-3.0, 50.0, 60).reshape(4, 15), dtype)
        for name in ("mean", "nanmean", "nansum", "cumsum"):
            got = getattr(jnp, name)(x, axis=1, dtype=jnp.float32).astype(dtype)
            wanted = getattr(np, name)(np.asarray(x, np.float64), axis=1)
            np.testing.assert_allclose(np.asarray(got, np.float64), wanted, rtol=0.01)


def cumsum() -> tuple[str, str]:
    """Without a dtype, is jnp.cumsum of float16 finite again after a partial sum above 65504?"""
    import jax.numpy as jnp

    got = jnp.cumsum(jnp.array([60000.0, 60000.0, -60000.0, -60000.0], jnp.float16)).tolist()
    behaviour = {
        "[60000.0, inf, 60000.0, 0.0]": "float32-inside",
        "[60000.0, inf, inf, inf]": "overflows",
        "[60000.0, inf, inf, nan]": "nan",
    }.get(str(got), "other")
    return behaviour, f"{got}"


def nanmean() -> tuple[str, str]:
    """Without a dtype, does jnp.nanmean return 60000 for the float16 array [60000, 60000]?"""
    import jax.numpy as jnp

    got = float(jnp.nanmean(jnp.array([60000.0, 60000.0], jnp.float16)))
    return {60000.0: "float32-inside", float("inf"): "overflows"}.get(got, "other"), f"{got!r}"


_FLOAT16 = "dtype in ('jax.numpy.float16', 'float16')"
_HALF = "dtype in ('jax.numpy.float16', 'float16', 'jax.numpy.bfloat16', 'bfloat16')"
_GIVEN = f"if seen({_HALF}) or {_HALF} and (uses('jax.numpy.float16') or uses('jax.numpy.bfloat16'))"
_ANY = (
    f"if form(a) != 'astype' and (seen({_FLOAT16}) or uses('jax.numpy.float16') and ({_FLOAT16} or not given(dtype)))"
)

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="jax#26365",
        change="jax#17792 jax#26403",
        docs="jax:_autosummary/jax.numpy.mean.html https://numpy.org/doc/stable/reference/generated/numpy.nanmean.html",
    ),
    control=no_dtype,
    behaviours={"float32-inside": "clear", "overflows": "documented", "other": "different"},
    workaround=Workaround(
        "Reduce with dtype=jnp.float32, and convert the result.", convert_outside, elsewhere=along_an_axis
    ),
    cases=(
        Case(
            mean,
            rules=(Rule("float32-inside", "jax<0.5.1"), Rule("overflows", "", "jax#26403 (b5e7b60d6a)")),
            touches=(
                *members("jax.numpy", "mean sum nansum", f"(a, axis, dtype) {_GIVEN}"),
                f"jax.Array.mean(axis, dtype) {_GIVEN}",
            ),
        ),
        Case(
            cumsum,
            behaviours={"nan": "affected", "float32-inside": "clear", "overflows": "documented", "other": "different"},
            rules=(
                Rule("nan", "jaxlib<0.4.29"),
                Rule("float32-inside", "jaxlib<0.5.1"),
                Rule("overflows", "", "jax 0.5.0 and 0.5.1 lower cumsum alike; NumPy's cumsum overflows, too"),
            ),
            touches=(f"jax.numpy.cumsum(a, axis, dtype) {_ANY}",),
        ),
        Case(
            nanmean,
            rules=(Rule("overflows", "", "numpy.nanmean of float16 overflows, too"),),
            touches=(f"jax.numpy.nanmean(a, axis, dtype) {_ANY}",),
        ),
    ),
)
