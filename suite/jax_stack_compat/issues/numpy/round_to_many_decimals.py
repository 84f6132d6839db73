"""jnp.round(1.5, 38) is 0, and round to still more decimals, or to -39, is NaN

    jnp.round(1.5, 38)      # 0 from jax 0.4.18 on, should be 1.5
    jnp.round(1.5, 39)      # NaN up to jax 0.7.2, should be 1.5
    jnp.round(1.5, -39)     # NaN from jax 0.4.18 on, should be 0

The number is multiplied by 10**decimals, rounded, and divided by it. From 10**39 on the factor is infinite in float32,
and infinity by infinity is NaN: jax#32459 gives the number back as it is, in 0.8.0, where the factor would overflow.

Seen in these runs:

- To 38 decimals 1.5 is 0, from 0.4.18 on, with no NaN to show it. The factor is finite there; its reciprocal
  is subnormal, and a CPU flushes it to 0.
- To -39 decimals 1.5 is NaN on the same releases.

NumPy's own answers are not taken for the right ones here: a number without digits there stays, or is 0.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def to_38() -> tuple[str, str]:
    """Does 1.5 rounded to 38 decimals stay 1.5?"""
    import jax.numpy as jnp

    return compare(jnp.round(jnp.float32(1.5), 38), 1.5, rtol=1e-6)


def to_two() -> None:
    """To two decimals, to none and to -1 it is right."""
    import jax.numpy as jnp
    import numpy as np

    np.testing.assert_allclose([jnp.round(jnp.float32(12.345), d) for d in (2, 0, -1)], [12.34, 12.0, 10.0], rtol=1e-3)


def bound_the_decimals() -> None:
    """The decimals held where float32 has digits."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.float32(1.5)
    got = [jnp.round(x, min(decimals, 30)) if decimals > -30 else 0.0 * x for decimals in (2, 38, 39, -39)]
    np.testing.assert_allclose(got, [1.5, 1.5, 1.5, 0.0], rtol=1e-6)


def to_39() -> tuple[str, str]:
    """And rounded to 39?"""
    import jax.numpy as jnp

    return compare(jnp.round(jnp.float32(1.5), 39), 1.5, rtol=1e-6)


def to_minus_39() -> tuple[str, str]:
    """Is 1.5 rounded to -39 decimals 0?"""
    import jax.numpy as jnp

    return compare(jnp.round(jnp.float32(1.5), -39), 0.0)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#31689", fix="jax#32459"),
    control=to_two,
    rules=(Rule("differs"),),
    workaround=Workaround("Bound them: jnp.round(x, min(decimals, 30)).", bound_the_decimals),
    cases=(
        Case(to_38, touches=("jax.numpy.round(a, decimals) if decimals == 38",)),
        Case(
            to_39,
            rules=(Rule("differs", "jax<0.8.0"), Rule("agrees", "", "jax#32459 (7f64e44f34)")),
            touches=("jax.numpy.round(a, decimals) if decimals >= 39",),
        ),
        Case(to_minus_39, touches=("jax.numpy.round(a, decimals) if decimals <= -39",)),
    ),
)
