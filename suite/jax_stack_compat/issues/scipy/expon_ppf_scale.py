"""jax.scipy.stats.expon.ppf is wrong for every scale but 1 and every loc but 0

    jax.scipy.stats.expon.ppf(0.5, scale=2.0)     # 0.2876821 up to jax 0.10.0, should be 2 log 2 = 1.3862944

The function came with jax 0.5.1 and was wrong from its first day: it took the quantile for a point of the
distribution and returned `-log1p((loc - q) / scale)`, which is the quantile for loc 0 and scale 1 alone. There is no
error: a small scale gives NaN, anything else a plausible number. jax#36757 was opened on 0.9.2, jax#36903 mended it,
and 0.10.1 is the first release that has it. Closed requests with the same repair stand beside it (jax#36904,
jax#37351).

Seen in these runs: at q = 1 the quantile for scale 2 is `log 2` up to 0.10.0, and infinite from 0.10.1 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def ppf() -> tuple[str, str]:
    """Does expon.ppf give the quantiles of scale 2, of scale 0.001, of loc 3, and of q = 1?"""
    import numpy as np
    from jax.scipy.stats import expon

    if not hasattr(expon, "ppf"):
        return "absent", "jax.scipy.stats.expon has no ppf"
    q, loc, scale = np.array([[0.5, 0.4, 0.5, 1.0], [0.0, 0.0, 3.0, 0.0], [2.0, 1e-3, 1.0, 2.0]], np.float32)
    with np.errstate(divide="ignore"):
        return compare(expon.ppf(q, loc, scale), loc - scale * np.log1p(-q), rtol=1e-5)


def standard_ppf() -> None:
    """Loc 0 and scale 1 are right where there is a ppf; the density takes any scale everywhere."""
    import numpy as np
    from jax.scipy.stats import expon

    np.testing.assert_allclose(expon.pdf(1.0, 0.0, 2.0), 0.5 * np.exp(-0.5), rtol=1e-5)
    if hasattr(expon, "ppf"):
        np.testing.assert_allclose(expon.ppf(0.5), np.log(2.0), rtol=1e-5)


def closed_form() -> None:
    """The quantile function written out."""
    import jax.numpy as jnp
    import numpy as np

    q, loc, scale = jnp.array([0.5, 0.4]), 3.0, jnp.array([2.0, 1e-3])
    np.testing.assert_allclose(loc - scale * jnp.log1p(-q), [4.3862944, 3.0005108], rtol=1e-5)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#36757", fix="jax#36903"),
    touches=("jax.scipy.stats.expon.ppf",),
    control=standard_ppf,
    rules=(
        Rule("absent", "jax<0.5.1", "a3f7307333 added it"),
        Rule("differs", "jax<0.10.1"),
        Rule("agrees", "", "jax#36903 (10b238613e)"),
    ),
    workaround=Workaround("Write it out: loc - scale * jnp.log1p(-q).", closed_form),
    cases=(Case(ppf),),
)
