"""Means and sums with dtype=float16 overflow since jax 0.5.1, and so does cumsum without a dtype

    x = jnp.array([60000.0, 60000.0], jnp.float16)
    jnp.mean(x, dtype=jnp.float16)    # 60000 up to jax 0.5.0, inf from 0.5.1

Reductions of float16 and bfloat16 are made in float32 and rounded once at the end. That happened also where the caller
had named the dtype, which jax#26365 called not respected; jax#26403, in 0.5.1, takes the upcast away where a dtype is
given. Code that names the dtype of its input, to be sure of the result's, lost the float32 inside. The changelog does
not say it.

Seen in these runs:

- `jnp.nansum` changed too.
- `jnp.cumsum` changed at the same time, and that is XLA's doing: jax 0.5.0 and 0.5.1 lower the same text. No dtype need
  be named. Of a running sum of float16 that leaves its range and comes back, nothing is left from jaxlib 0.5.1 on.
  Before jaxlib 0.4.29 it was worse: NaN, infinity less infinity.
- `jnp.sum(x, dtype=jnp.float16)` is left to XLA: on the machine of these runs it overflowed from 0.5.1 to 0.6.2 and
  from 0.8.0, and not on 0.7.0 to 0.7.2.
- `jnp.nanmean` of float16 overflows on every release, without a dtype too: there never was an upcast.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, members


def mean() -> tuple[str, str]:
    """Is the mean of two float16 of 60000 with dtype=float16 60000?"""
    import jax.numpy as jnp

    got = float(jnp.mean(jnp.array([60000.0, 60000.0], jnp.float16), dtype=jnp.float16))
    return {60000.0: "float32-inside", float("inf"): "overflows"}.get(got, "other"), f"{got!r}"


def no_dtype() -> None:
    """Without a dtype a mean is made in float32, and within the range nothing is lost."""
    import jax.numpy as jnp

    assert float(jnp.mean(jnp.array([60000.0, 60000.0], jnp.float16))) == 60000.0
    assert jnp.cumsum(jnp.array([1.0, 2.0, -1.0], jnp.float16)).tolist() == [1.0, 3.0, 2.0]
    assert float(jnp.nanmean(jnp.array([1.0, 2.0], jnp.float16), dtype=jnp.float16)) == 1.5


def convert_outside() -> None:
    """Reduce in float32 and convert the result."""
    import jax.numpy as jnp

    x = jnp.array([60000.0, 60000.0, -60000.0, -60000.0], jnp.float16)
    assert float(jnp.mean(x[:2], dtype=jnp.float32).astype(jnp.float16)) == 60000.0
    assert float(jnp.nanmean(x[:2].astype(jnp.float32)).astype(jnp.float16)) == 60000.0
    got = jnp.cumsum(x, dtype=jnp.float32).astype(jnp.float16).tolist()
    assert got == [60000.0, float("inf"), 60000.0, 0.0], got


def cumsum() -> tuple[str, str]:
    """Does a running sum of float16, without a dtype, come back from beyond 65504?"""
    import jax.numpy as jnp

    got = jnp.cumsum(jnp.array([60000.0, 60000.0, -60000.0, -60000.0], jnp.float16)).tolist()
    behaviour = {
        "[60000.0, inf, 60000.0, 0.0]": "float32-inside",
        "[60000.0, inf, inf, inf]": "overflows",
        "[60000.0, inf, inf, nan]": "nan",
    }.get(str(got), "other")
    return behaviour, f"{got}"


def nanmean() -> tuple[str, str]:
    """Is the nanmean of two float16 of 60000, without a dtype, 60000?"""
    import jax.numpy as jnp

    got = float(jnp.nanmean(jnp.array([60000.0, 60000.0], jnp.float16)))
    return {60000.0: "float32-inside", float("inf"): "overflows"}.get(got, "other"), f"{got!r}"


_FLOAT16 = "dtype in ('jax.numpy.float16', 'float16')"
_ANY_FLOAT16 = f"(not given(dtype) or {_FLOAT16}) and uses('jax.numpy.float16')"

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(report="jax#26365", change="jax#17792 jax#26403"),
    touches=members("jax.numpy", "mean sum nanmean nansum", "(dtype=)"),
    control=no_dtype,
    behaviours={"float32-inside": "clear", "overflows": "affected", "other": "different"},
    workaround=Workaround("Reduce with dtype=jnp.float32, and convert the result.", convert_outside),
    cases=(
        Case(
            mean,
            rules=(Rule("float32-inside", "jax<0.5.1"), Rule("overflows", "", "jax#26403 (b5e7b60d6a)")),
            touches=members("jax.numpy", "mean nansum", f"(a, axis, dtype) if {_FLOAT16}"),
        ),
        Case(
            cumsum,
            behaviours={"float32-inside": "clear", "overflows": "affected", "nan": "affected", "other": "different"},
            rules=(
                Rule("nan", "jaxlib<0.4.29"),
                Rule("float32-inside", "jaxlib<0.5.1"),
                Rule("overflows", "", "what is lowered is the same"),
            ),
            touches=(f"jax.numpy.cumsum(a, axis, dtype) if {_ANY_FLOAT16}",),
        ),
        Case(
            nanmean,
            rules=(Rule("overflows"),),
            touches=(f"jax.numpy.nanmean(a, axis, dtype) if form(a) != 'astype' and {_ANY_FLOAT16}",),
        ),
    ),
)
