"""gammainc, gammaincc and betainc return wrong limits at 0 and infinity

At a = 0, `gammainc` returned NaN and `gammaincc` returned 1, because both treated a = 0 as an error (jax#20507).
jax#20699 sets the limits at a = 0, but for x < 1 `gammainc` still divides a series by a = 0
(`gammainc_at_zero_below_one`). At infinite `a` and x >= 1, `gammainc` and `gammaincc` were NaN (jax#38457). `betainc`
was NaN or 0 where `a` is 0 or near underflow (jax#21900).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare, members


def gammainc_at_zero() -> tuple[str, str]:
    """Does gammainc(0, x) return 1 for x of 1.5 and 2?"""
    import jax
    import numpy as np

    return compare(jax.scipy.special.gammainc(np.zeros(2, np.float32), np.array([1.5, 2.0], np.float32)), [1.0, 1.0])


def inside() -> None:
    """For positive numbers, gammainc, gammaincc and betainc agree with SciPy."""
    import jax
    import numpy as np
    import scipy.special

    a, x = np.array([[0.5, 1.0, 3.0], [0.2, 1.5, 2.0]], np.float32)
    for name in ("gammainc", "gammaincc"):
        ours, theirs = getattr(jax.scipy.special, name), getattr(scipy.special, name)
        np.testing.assert_allclose(ours(a, x), theirs(a, x), rtol=1e-4)
    ours = jax.scipy.special.betainc(a, np.float32(2.0), np.float32(0.3))
    np.testing.assert_allclose(ours, scipy.special.betainc(a, np.float32(2.0), np.float32(0.3)), rtol=1e-4)


def limits_by_where() -> None:
    """With limits set by jnp.where, gammainc and gammaincc are correct at a = 0, a = 2 and infinite a."""
    import jax.numpy as jnp
    import numpy as np
    from jax.scipy.special import gammainc, gammaincc

    a, x = jnp.array([0.0, 0.0, jnp.inf, 2.0]), jnp.array([0.5, 2.0, 1.0, 1.0])
    inner = jnp.where((a == 0) | (a == jnp.inf), 1.0, a)
    lower = jnp.where(a == 0, 1.0, jnp.where(a == jnp.inf, 0.0, gammainc(inner, x)))
    upper = jnp.where(a == 0, 0.0, jnp.where(a == jnp.inf, 1.0, gammaincc(inner, x)))
    np.testing.assert_allclose(lower, [1.0, 1.0, 0.0, 0.26424112], rtol=1e-4)
    np.testing.assert_allclose(upper, [0.0, 0.0, 1.0, 0.73575888], rtol=1e-4)


def limits(a: Any, x: Any) -> Any:
    """Return gammainc and gammaincc for finite x > 0, with their limits at a = 0 and infinity."""
    import jax.numpy as jnp
    from jax.scipy.special import gammainc, gammaincc

    inner = jnp.where((a == 0) | (a == jnp.inf), 1.0, a)
    lower = jnp.where(a == 0, 1.0, jnp.where(a == jnp.inf, 0.0, gammainc(inner, x)))
    upper = jnp.where(a == 0, 0.0, jnp.where(a == jnp.inf, 1.0, gammaincc(inner, x)))
    return jnp.stack([lower, upper])


def scipy_limits(a: Any, x: Any) -> Any:
    """Return SciPy's gammainc and gammaincc."""
    import numpy as np
    from scipy.special import gammainc, gammaincc

    return np.stack([gammainc(a, x), gammaincc(a, x)])


def gammaincc_at_zero() -> tuple[str, str]:
    """Does gammaincc(0, x) return 0 for x of 0.5 and 2, and does gammaincc(-1, 1) return NaN?"""
    import jax
    import numpy as np

    a, x = np.array([[0.0, 0.0, -1.0], [0.5, 2.0, 1.0]], np.float32)
    return compare(jax.scipy.special.gammaincc(a, x), [0.0, 0.0, np.nan])


def gammainc_at_zero_below_one() -> tuple[str, str]:
    """Does gammainc(0, x) return 1 for x of 0.1 and 0.5?"""
    import jax
    import numpy as np

    return compare(jax.scipy.special.gammainc(np.zeros(2, np.float32), np.array([0.1, 0.5], np.float32)), [1.0, 1.0])


def at_infinity() -> tuple[str, str]:
    """Does gammainc(inf, 1) return 0, and does gammaincc(inf, 1) return 1?"""
    import jax
    import numpy as np

    a, x = np.float32(np.inf), np.float32(1.0)
    return compare([jax.scipy.special.gammainc(a, x), jax.scipy.special.gammaincc(a, x)], [0.0, 1.0])


def betainc_at_zero() -> tuple[str, str]:
    """Does betainc(a, 1, 0.25) return 1 for a of 1e-39 and 0?"""
    import jax
    import numpy as np

    a = np.array([1e-39, 0.0], np.float32)
    return compare(jax.scipy.special.betainc(a, np.float32(1.0), np.float32(0.25)), [1.0, 1.0])


_ELSEWHERE = Elsewhere(
    limits,
    scipy_limits,
    (
        "zero float32 vector, positive float32 vector",
        "zero float32 matrix, unit float32 matrix",
        "positive float32 batch, positive float32 batch",
        "zero int32 scalar, positive float32 scalar",
        "zero float16 vector, unit float16 vector",
        "float32 empty, float32 empty",
    ),
    rtol=1e-3,
    atol=1e-5,
)
_ZERO = Workaround(
    "Outside jax.grad, for x > 0, write jnp.where(a == 0, 1, gammainc(a, x)).", limits_by_where, elsewhere=_ELSEWHERE
)
_INFINITY = Workaround(
    "Outside jax.grad, for finite x, set gammainc to 0, gammaincc to 1 at infinite a.",
    limits_by_where,
    elsewhere=_ELSEWHERE,
)
_PLAIN = "form(a) != 'jax.numpy.where' and not within('jax.numpy.where')"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#20507 jax#38272 jax#21900",
        fix="jax@82b2591b21 jax@ab42a3e638 jax@da23cf20a2",
        attempt="jax#20640 jax#38457",
    ),
    control=inside,
    rules=(Rule("differs", "jax<0.5.3"), Rule("agrees", "", "jax#20699 (82b2591b21)")),
    cases=(
        Case(
            gammainc_at_zero,
            workaround=_ZERO,
            touches=(f"jax.scipy.special.gammainc(a, x) if a == 0 and x >= 1 and {_PLAIN}",),
        ),
        Case(gammaincc_at_zero, touches=(f"jax.scipy.special.gammaincc(a, x) if a <= 0 and {_PLAIN}",)),
        Case(
            gammainc_at_zero_below_one,
            rules=(Rule("differs", "", "jax#20507 is open"),),
            workaround=_ZERO,
            touches=(f"jax.scipy.special.gammainc(a, x) if a == 0 and x < 1 and {_PLAIN}",),
        ),
        Case(
            at_infinity,
            rules=(Rule("differs", "jax<0.11.0"), Rule("agrees", "", "da23cf20a2")),
            workaround=_INFINITY,
            touches=members(
                "jax.scipy.special",
                "gammainc gammaincc",
                f"(a, x) if a in ('jax.numpy.inf', 'numpy.inf') and x >= 1 and {_PLAIN}",
            ),
        ),
        Case(
            betainc_at_zero,
            rules=(Rule("differs", "jax<0.6.0"), Rule("agrees", "", "jax#27107 (ab42a3e638)")),
            touches=(
                "jax.scipy.special.betainc(a, b, x) if a == 0 or b == 0 or a <= 1e-38 and not uses('jax_enable_x64')",
            ),
        ),
    ),
)
