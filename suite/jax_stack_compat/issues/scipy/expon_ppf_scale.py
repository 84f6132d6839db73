"""jax.scipy.stats.expon.ppf applies loc and scale to q, not to the result

`ppf` took the probability `q` for a point: it returned `-log1p((loc - q) / scale)`, which is `-log1p(-q)` for loc 0
and scale 1 (jax#36757). The wrong formula came with `ppf` (jax@42b64fc06c); jax#36903 returns
`loc - scale * log1p(-q)`.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def ppf() -> tuple[str, str]:
    """Does expon.ppf return the quantiles for scales 2 and 0.001, for loc 3, and at q = 1?"""
    import numpy as np
    from jax.scipy.stats import expon

    if not hasattr(expon, "ppf"):
        return "absent", "jax.scipy.stats.expon has no ppf"
    q, loc, scale = np.array([[0.5, 0.4, 0.5, 1.0], [0.0, 0.0, 3.0, 0.0], [2.0, 1e-3, 1.0, 2.0]], np.float32)
    with np.errstate(divide="ignore"):
        return compare(expon.ppf(q, loc, scale), loc - scale * np.log1p(-q), rtol=1e-5)


def standard_ppf() -> None:
    """The density for scale 2, and the quantile for loc 0 and scale 1, agree with closed forms."""
    import numpy as np
    from jax.scipy.stats import expon

    np.testing.assert_allclose(expon.pdf(1.0, 0.0, 2.0), 0.5 * np.exp(-0.5), rtol=1e-5)
    if hasattr(expon, "ppf"):
        np.testing.assert_allclose(expon.ppf(0.5), np.log(2.0), rtol=1e-5)


def closed_form() -> None:
    """loc - scale * jnp.log1p(-q) gives the quantiles for loc 3, and scales 2 and 0.001."""
    import jax.numpy as jnp
    import numpy as np

    q, loc, scale = jnp.array([0.5, 0.4]), 3.0, jnp.array([2.0, 1e-3])
    np.testing.assert_allclose(loc - scale * jnp.log1p(-q), [4.3862944, 3.0005108], rtol=1e-5)


def quantile(q: Any, loc: Any, scale: Any) -> Any:
    """Return loc - scale * jnp.log1p(-q)."""
    import jax.numpy as jnp

    return loc - scale * jnp.log1p(-q)


def scipy_quantile(q: Any, loc: Any, scale: Any) -> Any:
    """Return SciPy's quantiles."""
    import scipy.stats

    return scipy.stats.expon.ppf(q, loc, scale)


_PPF = (
    "jax.scipy.stats.expon.ppf(q, loc, scale) if loc != 0 or scale != 1 "
    "or form(scale) in ('*', 'jax.numpy.exp', 'jax.nn.softplus') and unseen"
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#36757 jax#37636",
        cause="jax@42b64fc06c",
        fix="jax#36903",
        attempt="jax#36904 jax#37124 jax#37351",
    ),
    control=standard_ppf,
    rules=(
        Rule("absent", "jax<0.5.1", "42b64fc06c added expon.ppf"),
        Rule("differs", "jax<0.10.1"),
        Rule("agrees", "", "jax#36903 (10b238613e)"),
    ),
    workaround=Workaround(
        "For floats q from 0 to 1, write loc - scale * jnp.log1p(-q).",
        closed_form,
        elsewhere=Elsewhere(
            quantile,
            scipy_quantile,
            (
                "unit float32 matrix, float32 scalar, positive float32 scalar",
                "unit float32 vector, float32 vector, positive float32 vector",
                "unit float16 batch, zero float16 scalar, positive float16 scalar",
                "zero float32 vector, float32 scalar, positive int32 scalar",
                "float32 empty, float32 scalar, positive float32 scalar",
            ),
            rtol=1e-2,
            atol=1e-5,
        ),
    ),
    cases=(Case(ppf, touches=(_PPF,)),),
)
