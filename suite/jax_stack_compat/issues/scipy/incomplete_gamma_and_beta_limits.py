"""jax.scipy.special: gammaincc is 1 where it is 0, gammainc and betainc are NaN at the ends of their domain

    jax.scipy.special.gammaincc(0.0, 2.0)        # 1 up to jax 0.5.2, should be 0
    jax.scipy.special.gammaincc(jnp.inf, 1.0)    # NaN up to jax 0.10.2, should be 1
    jax.scipy.special.gammainc(0.0, 0.5)         # NaN from jax 0.4.18 on, should be 1
    jax.scipy.special.betainc(1e-39, 1.0, 0.25)  # NaN up to jax 0.5.3, should be 1

The upper incomplete gamma function took every a <= 0 and every x <= 0 for 1, errors of the caller too. jax#20507 named
a = 0; a commit of March 2025 (82b2591b21) looks at zero and infinity, in 0.5.3, and another (ab42a3e638) does so for
betainc, in 0.6.0, which jax#21900 reported. Both left a = infinity for gammainc: jax#38272, mended in 0.11.0.

Seen in these runs:

- gammainc(0, x) is 1 for x of 1.5 and 2 from 0.5.3 on. For x of 0.1 and 0.5 it is NaN from 0.4.18 on.
- gammaincc(0, 0.5) is 0 from 0.5.3 on, so that the two do not add up to 1.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def gammaincc_at_zero() -> tuple[str, str]:
    """Is gammaincc(0, x) 0 for x above 0, and gammaincc(-1, 1) NaN?"""
    import jax
    import numpy as np

    a, x = np.array([[0.0, 0.0, -1.0], [0.5, 2.0, 1.0]], np.float32)
    return compare(jax.scipy.special.gammaincc(a, x), [0.0, 0.0, np.nan])


def inside() -> None:
    """Inside their domains they are SciPy's."""
    import jax
    import numpy as np
    import scipy.special

    a, x = np.array([[0.5, 1.0, 3.0], [0.2, 1.5, 2.0]], np.float32)
    for name in ("gammainc", "gammaincc"):
        ours, theirs = getattr(jax.scipy.special, name), getattr(scipy.special, name)
        np.testing.assert_allclose(ours(a, x), theirs(a, x), rtol=1e-4)
    ours = jax.scipy.special.betainc(a, np.float32(2.0), np.float32(0.3))
    np.testing.assert_allclose(ours, scipy.special.betainc(a, np.float32(2.0), np.float32(0.3)), rtol=1e-4)


def gammainc_at_zero() -> tuple[str, str]:
    """Is gammainc(0, x) 1 for x above 1?"""
    import jax
    import numpy as np

    return compare(jax.scipy.special.gammainc(np.zeros(2, np.float32), np.array([1.5, 2.0], np.float32)), [1.0, 1.0])


def gammainc_at_zero_below_one() -> tuple[str, str]:
    """And for x below 1?"""
    import jax
    import numpy as np

    return compare(jax.scipy.special.gammainc(np.zeros(2, np.float32), np.array([0.1, 0.5], np.float32)), [1.0, 1.0])


def limits_by_where() -> None:
    """The limit by jnp.where, with an a inside the domain for the branch not taken."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    a, x = jnp.array([0.0, 0.0, jnp.inf, 2.0]), jnp.array([0.5, 2.0, 1.0, 1.0])
    inner = jax.scipy.special.gammainc(jnp.where((a > 0.0) & jnp.isfinite(a), a, 1.0), x)
    got = jnp.where(a == 0.0, 1.0, jnp.where(jnp.isinf(a), 0.0, inner))
    np.testing.assert_allclose(got, [1.0, 1.0, 0.0, 0.26424112], rtol=1e-4)


def at_infinity() -> tuple[str, str]:
    """Are gammainc(inf, 1) 0 and gammaincc(inf, 1) 1?"""
    import jax
    import numpy as np

    a, x = np.float32(np.inf), np.float32(1.0)
    return compare([jax.scipy.special.gammainc(a, x), jax.scipy.special.gammaincc(a, x)], [0.0, 1.0])


def betainc_at_zero() -> tuple[str, str]:
    """Is betainc(a, 1, 0.25) 1 for a of 1e-39 and 0?"""
    import jax
    import numpy as np

    a = np.array([1e-39, 0.0], np.float32)
    return compare(jax.scipy.special.betainc(a, np.float32(1.0), np.float32(0.25)), [1.0, 1.0])


_WHERE = Workaround("Put the limits by jnp.where: gammainc(0, x) = 1 for x > 0, gammainc(inf, x) = 0.", limits_by_where)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#20507 jax#38272 jax#21900", fix="jax@82b2591b21 jax@ab42a3e638"),
    control=inside,
    rules=(Rule("differs", "jax<0.5.3"), Rule("agrees", "", "82b2591b21")),
    cases=(
        Case(gammaincc_at_zero, touches=("jax.scipy.special.gammaincc(a, x) if a <= 0",)),
        Case(
            gammainc_at_zero_below_one,
            rules=(Rule("differs", "", "jax#20507 is open"),),
            workaround=_WHERE,
            touches=("jax.scipy.special.gammainc(a, x) if a == 0 and x < 1 and form(a) != 'jax.numpy.where'",),
        ),
        Case(
            gammainc_at_zero,
            workaround=_WHERE,
            touches=("jax.scipy.special.gammainc(a, x) if a == 0 and x > 1 and form(a) != 'jax.numpy.where'",),
        ),
        Case(
            at_infinity,
            rules=(Rule("differs", "jax<0.11.0"), Rule("agrees")),
            workaround=_WHERE,
            touches=members(
                "jax.scipy.special",
                "gammainc gammaincc",
                "(a, x) if a == 'jax.numpy.inf' and form(a) != 'jax.numpy.where'",
            ),
        ),
        Case(
            betainc_at_zero,
            rules=(Rule("differs", "jax<0.6.0"), Rule("agrees", "", "ab42a3e638")),
            touches=("jax.scipy.special.betainc(a, b, x) if a <= 1e-38",),
        ),
    ),
)
