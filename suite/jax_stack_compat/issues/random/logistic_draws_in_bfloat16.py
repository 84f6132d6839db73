"""jax.random.logistic in bfloat16 draws -87.5 about once in 128 times

jax#29857 takes the logarithm of uniform draws from [tiny, 1) instead of [eps, 1). In bfloat16, about one
draw in 128 is tiny, whose logarithm is -87.5. The mean of logistic draws, which should be 0,
becomes negative (`mean`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def mean() -> tuple[str, str]:
    """Is the mean of 100,000 bfloat16 draws of jax.random.logistic 0, rounded to a tenth?"""
    import jax

    draws = jax.random.logistic(jax.random.PRNGKey(0), (100_000,), dtype="bfloat16").astype("float32")
    rounded = round(float(draws.mean()), 1) + 0
    told = f"the mean is {rounded}, the least draw is {float(draws.min()):.4g}"
    return ("differs" if rounded else "agrees"), f"{told}; {int((draws < -20).sum())} draws are below -20"


def float32() -> None:
    """The mean of float32 draws is 0, rounded to a tenth, and no draw is below -20."""
    import jax

    draws = jax.random.logistic(jax.random.PRNGKey(0), (100_000,))
    assert round(float(draws.mean()), 1) == 0
    assert float(draws.min()) > -20


def cast_after() -> None:
    """Float32 draws that are cast to bfloat16 have the mean 0, rounded to a tenth."""
    import jax

    draws = jax.random.logistic(jax.random.PRNGKey(0), (100_000,)).astype("bfloat16")
    assert round(float(draws.astype("float32").mean()), 1) == 0


def cast_quantiles() -> None:
    """Float32 draws under jit and vmap, cast to bfloat16 and float16, have the logistic distribution's quantiles."""
    import jax
    import numpy as np

    keys = jax.random.split(jax.random.PRNGKey(7), 4)
    drawn = jax.jit(jax.vmap(lambda key: jax.random.logistic(key, (100, 500))))(keys)
    for dtype in ("bfloat16", "float16"):
        draws = np.asarray(drawn.astype(dtype).astype("float32"))
        for bound in (-5.0, -1.0, 0.0, 2.0, 5.0):
            assert abs((draws < bound).mean() - 1 / (1 + np.exp(-bound))) < 0.005
        assert draws.min() > -20
    assert jax.random.logistic(keys[0]).astype("bfloat16").shape == ()
    assert jax.random.logistic(keys[0], (0,)).astype("bfloat16").shape == (0,)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(cause="jax#29857", docs="jax:api_compatibility.html#numerics-and-randomness"),
    touches=("jax.random.logistic(key, shape, dtype) if dtype in ('bfloat16', 'jax.numpy.bfloat16')",),
    cases=(
        Case(
            mean,
            float32,
            rules=(Rule("agrees", "jax<0.7.0"), Rule("differs", "", "jax#29857")),
            workaround=Workaround(
                "Draw in float32 and cast, which gives other numbers: jax.random.logistic(key, shape).astype(dtype).",
                cast_after,
                elsewhere=cast_quantiles,
            ),
        ),
    ),
)
