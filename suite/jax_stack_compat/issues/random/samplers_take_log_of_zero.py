"""jax.random.rayleigh draws infinity, and geometric the largest integer, where the uniform number is 0

    jax.random.rayleigh(jax.random.PRNGKey(780233), 1.0)     # inf from jax 0.5.0 on
    jax.random.geometric(jax.random.PRNGKey(780233), 0.3)    # 2147483647 on jax 0.5.0 to 0.10.1

Both take the logarithm of a uniform number in [0, 1), which is 0 once in 2**23 float32 draws: about twice in every
array of 16 million. In bfloat16 it is once in 128. jax#38007 reported geometric in May 2026; jax#38075, which calls
itself temporary, puts 1 in the place of 0, in 0.10.2. The numbers drawn for other keys did not change.

Seen in these runs:

- `rayleigh` has the same fault from 0.4.18 on. A mean over an array with such a draw is infinite.
- `exponential`, `weibull_min` and `pareto`, which take log1p(-u), are finite for the same keys.
- With p in bfloat16 `geometric` gives 2147483647 for 73 to 80 of 10000 draws, up to 0.10.1.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def rayleigh() -> tuple[str, str]:
    """Are the draws for two keys, whose uniform number was 0 up to 0.4.38 or from 0.5.0, finite?"""
    import jax
    import numpy as np

    drawn = [float(jax.random.rayleigh(jax.random.PRNGKey(seed), 1.0)) for seed in (14620119, 780233)]
    return "finite" if np.isfinite(drawn).all() else "infinite", f"seeds 14620119 and 780233 give {drawn}"


def exponential() -> None:
    """The samplers that take log1p(-u) are finite for these keys."""
    import jax
    import numpy as np

    for seed in (14620119, 780233):
        key = jax.random.PRNGKey(seed)
        drawn = jax.random.exponential(key), jax.random.weibull_min(key, 1.0, 2.0), jax.random.pareto(key, 1.0)
        assert np.isfinite(drawn).all()


def root_of_exponential() -> None:
    """A Rayleigh draw is the root of twice an exponential one."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    for seed in (14620119, 780233):
        assert np.isfinite(jnp.sqrt(2.0 * jax.random.exponential(jax.random.PRNGKey(seed))))
    drawn = jnp.sqrt(2.0 * jax.random.exponential(jax.random.PRNGKey(0), (10000,)))
    np.testing.assert_allclose(drawn.mean(), np.sqrt(np.pi / 2.0), rtol=0.05)


def geometric() -> tuple[str, str]:
    """Are the draws of geometric for the same keys below the largest integer?"""
    import jax

    drawn = [int(jax.random.geometric(jax.random.PRNGKey(seed), 0.3)) for seed in (14620119, 780233)]
    return "largest" if max(drawn) == 2**31 - 1 else "finite", f"seeds 14620119 and 780233 give {drawn}"


def ceiling_of_exponential() -> None:
    """A geometric draw is an exponential one over -log1p(-p), rounded up."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    for seed in (14620119, 780233):
        drawn = jax.random.exponential(jax.random.PRNGKey(seed)) / -jnp.log1p(-0.3)
        assert 1 <= int(jnp.floor(drawn) + 1.0) < 100
    drawn = jnp.floor(jax.random.exponential(jax.random.PRNGKey(0), (10000,)) / -jnp.log1p(-0.3)) + 1.0
    np.testing.assert_allclose(drawn.mean(), 1.0 / 0.3, rtol=0.05)


def geometric_bfloat16() -> tuple[str, str]:
    """Are 10000 draws with p in bfloat16?"""
    import jax
    import jax.numpy as jnp

    drawn = jax.random.geometric(jax.random.PRNGKey(0), jnp.asarray(0.5, "bfloat16"), (10000,))
    largest = int((drawn == 2**31 - 1).sum())
    return "largest" if largest else "finite", f"{largest} of 10000 are 2147483647"


_CEILING = Workaround("jnp.floor(jax.random.exponential(key) / -jnp.log1p(-p)) + 1", ceiling_of_exponential)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#38007", fix="jax#38075", commit="jax#14900"),
    control=exponential,
    behaviours={"largest": "affected", "finite": "clear"},
    rules=(Rule("largest", "jax<0.10.2"), Rule("finite", "", "jax#38075 (66cbb499c5)")),
    cases=(
        Case(
            rayleigh,
            behaviours={"infinite": "affected", "finite": "clear"},
            rules=(Rule("infinite"),),
            workaround=Workaround("jnp.sqrt(2 * jax.random.exponential(key)) * scale", root_of_exponential),
            touches=("jax.random.rayleigh",),
        ),
        Case(geometric, workaround=_CEILING, touches=("jax.random.geometric",)),
        Case(
            geometric_bfloat16,
            touches=("jax.random.geometric(key, p) if type(p) not in ('int', 'float') and uses('jax.numpy.bfloat16')",),
        ),
    ),
)
