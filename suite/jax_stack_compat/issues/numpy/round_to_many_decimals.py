"""jnp.round of a float32 to 38, 39 or -39 decimals returns 0 or NaN

`jnp.round` multiplies by 10**decimals, rounds, and divides again. In float32, 10**39 is infinite, so `to_39` returned
NaN (jax#31689); jax#32459 returns the number unchanged when the factor overflows. At 38 decimals the factor is finite,
and `to_38` returns 0. At -39 decimals, where 0 is correct, `to_minus_39` returns NaN.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def to_38() -> tuple[str, str]:
    """Does jnp.round(x, 38) keep a float32 of 1.5?"""
    import jax.numpy as jnp

    return compare(jnp.round(jnp.float32(1.5), 38), 1.5, rtol=1e-6)


def to_two() -> None:
    """jnp.round of a float32 to 2, 0 and -1 decimals returns the rounded number."""
    import jax.numpy as jnp
    import numpy as np

    np.testing.assert_allclose([jnp.round(jnp.float32(12.345), d) for d in (2, 0, -1)], [12.34, 12.0, 10.0], rtol=1e-3)


def bound_the_decimals() -> None:
    """Limit decimals to 30, and return 0 at -30 and below."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.float32(1.5)
    got = [jnp.round(x, min(decimals, 30)) if decimals > -30 else 0.0 * x for decimals in (2, 38, 39, -39)]
    np.testing.assert_allclose(got, [1.5, 1.5, 1.5, 0.0], rtol=1e-6)


def to_39() -> tuple[str, str]:
    """Does jnp.round(x, 39) keep a float32 of 1.5?"""
    import jax.numpy as jnp

    return compare(jnp.round(jnp.float32(1.5), 39), 1.5, rtol=1e-6)


def to_minus_39() -> tuple[str, str]:
    """Does jnp.round(x, -39) of a float32 of 1.5 return 0?"""
    import jax.numpy as jnp

    return compare(jnp.round(jnp.float32(1.5), -39), 0.0)


def _rounds(compared: str) -> tuple[str, ...]:
    """Return jnp.round, its alias and the method, called with such decimals in a project that does not enable x64."""
    decimals = f"decimals) if decimals {compared} and form(decimals) != 'min' and not uses('jax_enable_x64')"
    return *members("jax.numpy", "round around", f"(a, {decimals}"), f"jax.Array.round({decimals}"


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#31689", fix="jax#32459"),
    control=to_two,
    rules=(Rule("differs"),),
    workaround=Workaround("If 1e-22 < abs(x) < 3e8: limit decimals to 30, and return 0 below -29.", bound_the_decimals),
    cases=(
        Case(to_38, touches=_rounds("== 38")),
        Case(
            to_39,
            rules=(Rule("differs", "jax<0.8.0"), Rule("agrees", "", "jax#32459 (7f64e44f34)")),
            touches=_rounds(">= 39"),
        ),
        Case(to_minus_39, touches=_rounds("<= -39")),
    ),
)
