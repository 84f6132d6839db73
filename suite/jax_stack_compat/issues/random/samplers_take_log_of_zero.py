"""jax.random.geometric can draw 2**31 - 1; rayleigh can draw infinity

`geometric` and `rayleigh` take the logarithm of a uniform number in [0, 1), which can be 0 (jax#38007). jax#38075 fixes
`geometric` for now: it replaces a uniform 0 by 1, which turns the rarest draw into the commonest, 1. About one float32
draw in 8 million changes, or one in 128 with a bfloat16 `p` (`geometric_bfloat16`); a key's other draws stay the same.
A comment in jax#38075 plans another logarithm.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def geometric() -> tuple[str, str]:
    """Are the draws of jax.random.geometric for keys 14620119 and 780233 below 2**31 - 1?"""
    import jax

    drawn = [int(jax.random.geometric(jax.random.PRNGKey(seed), 0.3)) for seed in (14620119, 780233)]
    return "largest" if max(drawn) == 2**31 - 1 else "finite", f"seeds 14620119 and 780233 give {drawn}"


def exponential() -> None:
    """jax.random.exponential, weibull_min and pareto, which take log1p(-u), are finite for keys 14620119 and 780233."""
    import jax
    import numpy as np

    for seed in (14620119, 780233):
        key = jax.random.PRNGKey(seed)
        drawn = jax.random.exponential(key), jax.random.weibull_min(key, 1.0, 2.0), jax.random.pareto(key, 1.0)
        assert np.isfinite(drawn).all()


def ceiling_of_exponential() -> None:
    """`floor(exponential draw / -log1p(-p)) + 1` is small, and has the mean of a geometric draw."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    for seed in (14620119, 780233):
        drawn = jax.random.exponential(jax.random.PRNGKey(seed)) / -jnp.log1p(-0.3)
        assert 1 <= int(jnp.floor(drawn) + 1.0) < 100
    drawn = jnp.floor(jax.random.exponential(jax.random.PRNGKey(0), (10000,)) / -jnp.log1p(-0.3)) + 1.0
    np.testing.assert_allclose(drawn.mean(), 1.0 / 0.3, rtol=0.05)


def geometric_of_arrays() -> None:
    """With the shape `jnp.shape(p)`, each element of an array `p` gets its own whole-number draw, with mean 1 / p."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def drawn(key: Any, p: Any) -> Any:
        return jnp.floor(jax.random.exponential(key, jnp.shape(p)) / -jnp.log1p(-p)) + 1

    keys = jax.random.split(jax.random.PRNGKey(1), 4000)
    for p in (jnp.full(5, 0.3), jnp.array([[1.0, 0.5, 0.1]], "float16"), jnp.float32(0.05), jnp.ones((2, 0))):
        draws = np.asarray(jax.vmap(drawn, (0, None))(keys, p))
        assert draws.shape[1:] == jax.random.geometric(keys[0], p).shape
        assert len(np.unique(draws[:20].reshape(20, -1), axis=1).T) == p.size
        assert np.all((draws >= 1) & (draws < 1000) & (draws == np.round(draws)))
        np.testing.assert_allclose(np.mean(draws, 0), 1 / np.asarray(p, float), rtol=0.06)


def geometric_bfloat16() -> tuple[str, str]:
    """Are 10000 draws of jax.random.geometric with a bfloat16 p below 2**31 - 1?"""
    import jax
    import jax.numpy as jnp

    drawn = jax.random.geometric(jax.random.PRNGKey(0), jnp.asarray(0.5, "bfloat16"), (10000,))
    largest = int((drawn == 2**31 - 1).sum())
    return "largest" if largest else "finite", f"{largest} of 10000 are 2147483647"


def float32_p() -> None:
    """With a float32 p, 10000 draws of jax.random.geometric are below 100, and have the mean of a geometric draw."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    p = jnp.asarray(0.5, "bfloat16")
    drawn = jax.random.geometric(jax.random.PRNGKey(0), p.astype("float32"), (10000,))
    assert int(drawn.max()) < 100
    np.testing.assert_allclose(drawn.mean(), 2.0, rtol=0.05)


def float32_ps_of_arrays() -> None:
    """With float32 copies of a bfloat16 matrix and scalar, elements are drawn separately, with mean 1 / p."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    keys = jax.random.split(jax.random.PRNGKey(1), 4000)
    for p in (jnp.array([[0.5, 0.25, 0.125]], "bfloat16"), jnp.asarray(0.75, "bfloat16"), jnp.full(3, 0.5, "float16")):
        draws = np.asarray(jax.vmap(lambda key, p=p: jax.random.geometric(key, p.astype("float32"), p.shape))(keys))
        assert len(np.unique(draws[:20].reshape(20, -1), axis=1).T) == p.size
        assert 1 <= draws.min() <= draws.max() < 1000
        np.testing.assert_allclose(draws.mean(0), 1 / np.asarray(p, float), rtol=0.06)


def rayleigh() -> tuple[str, str]:
    """Are the draws of jax.random.rayleigh for keys 14620119 and 780233 finite?"""
    import jax
    import numpy as np

    drawn = [float(jax.random.rayleigh(jax.random.PRNGKey(seed), 1.0)) for seed in (14620119, 780233)]
    return "finite" if np.isfinite(drawn).all() else "infinite", f"seeds 14620119 and 780233 give {drawn}"


def root_of_exponential() -> None:
    """The root of twice an exponential draw is finite, and has the mean of a Rayleigh draw."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    for seed in (14620119, 780233):
        assert np.isfinite(jnp.sqrt(2.0 * jax.random.exponential(jax.random.PRNGKey(seed))))
    drawn = jnp.sqrt(2.0 * jax.random.exponential(jax.random.PRNGKey(0), (10000,)))
    np.testing.assert_allclose(drawn.mean(), np.sqrt(np.pi / 2.0), rtol=0.05)


def rayleigh_of_arrays() -> None:
    """With the shape `jnp.shape(scale)`, each element of an array `scale` gets its own draw, with its own mean."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def drawn(key: Any, scale: Any) -> Any:
        return jnp.sqrt(2 * jax.random.exponential(key, jnp.shape(scale))) * scale

    keys = jax.random.split(jax.random.PRNGKey(1), 4000)
    for scale in (jnp.ones(5), jnp.array([[0.5, 2.0, 8.0]], "float16"), jnp.float32(3.0), jnp.ones((2, 0))):
        draws, like = jax.vmap(drawn, (0, None))(keys, scale), jax.random.rayleigh(keys[0], scale)
        assert (draws.shape[1:], draws.dtype) == (like.shape, like.dtype)
        assert len(np.unique(draws[0])) == scale.size
        wanted = np.sqrt(np.pi / 2) * np.asarray(scale, float)
        np.testing.assert_allclose(np.mean(np.asarray(draws, float), 0), wanted, rtol=0.05)


_ROOT = Workaround(
    "Draw other numbers (shape is jnp.shape(scale) by default): "
    "jnp.sqrt(2 * jax.random.exponential(key, shape)) * scale.",
    root_of_exponential,
    elsewhere=rayleigh_of_arrays,
)
_FLOOR = Workaround(
    "Draw other floats (shape is jnp.shape(p) by default): "
    "jnp.floor(jax.random.exponential(key, shape) / -jnp.log1p(-p)) + 1.",
    ceiling_of_exponential,
    elsewhere=geometric_of_arrays,
)
_FLOAT32 = Workaround(
    'Pass p.astype("float32"): about one draw in 8 million is still wrong.',
    float32_p,
    elsewhere=float32_ps_of_arrays,
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#38007", fix="jax#38075", cause="jax#14900", attempt="jax#38063"),
    control=exponential,
    behaviours={"largest": "affected", "finite": "clear"},
    rules=(Rule("largest", "jax<0.10.2"), Rule("finite", "", "jax#38075 (66cbb499c5)")),
    cases=(
        Case(geometric, workaround=_FLOOR, touches=("jax.random.geometric(key) if unseen and seen(given(key))",)),
        Case(
            geometric_bfloat16,
            workaround=_FLOAT32,
            touches=(
                "jax.random.geometric(key, p) if type(p) not in ('int', 'float') and form(p) != 'astype' "
                "and uses('jax.numpy.bfloat16')",
            ),
        ),
        Case(
            rayleigh,
            behaviours={"infinite": "affected", "finite": "clear"},
            rules=(Rule("infinite"),),
            workaround=_ROOT,
            touches=("jax.random.rayleigh(key) if unseen and seen(given(key))",),
        ),
    ),
)
