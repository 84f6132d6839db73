"""jax.random.gamma, poisson and others draw other numbers for a key

JAX's compatibility policy keeps the distribution of draws, but not the numbers drawn from a key. jax@a60ead6fd1 turned
`jax_threefry_partitionable` on by default (jax#13346), so a key draws other bits. The issue `same-seed-other-numbers`
tests the setting that restores the earlier bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream
from jax_stack_compat.cell.issue import Meaning


def drawn(draw: Callable[[], Any], *streams: str, wide: bool = True) -> tuple[str, str]:
    """Return which of the known `streams` was drawn, and its first two draws; `wide` adds those under x64.

    A stream is named by its first two draws, floats in thousandths: "965-225-x64-532-350".
    """
    import jax
    import numpy as np

    names, shown = [], []
    for x64 in (False, True) if wide else (False,):
        jax.config.update("jax_enable_x64", x64)
        draws = np.asarray(draw()).ravel()
        draws = np.packbits(draws) if draws.dtype == bool else draws
        scale = 1 if draws.dtype.kind in "iu" else 1000
        first = [each.item() for each in draws[:2]]
        names += ["x64"] * x64 + [f"{'minus' * (each < 0)}{abs(round(each * scale))}" for each in first]
        shown.append("with x64 " * x64 + " ".join(map("{:.7g}".format if scale > 1 else str, first)))
    known = dict(zip(streams, ("first", "second", "third"), strict=False))
    return known.get("-".join(names), "another"), "; ".join(shown)


def gamma() -> tuple[str, str]:
    """Which numbers does jax.random.gamma draw?"""
    import jax

    return drawn(lambda: jax.random.gamma(jax.random.PRNGKey(0), 1.5, (4,)), "1190-129", "1103-1245", wide=False)


def control() -> None:
    """PRNGKey(0) is [0, 0]."""
    import jax

    assert jax.random.PRNGKey(0).tolist() == [0, 0]


def loggamma() -> tuple[str, str]:
    """Which numbers does jax.random.loggamma draw?"""
    import jax

    return drawn(lambda: jax.random.loggamma(jax.random.PRNGKey(0), 1.5, (4,)), "174-minus2048", "98-219", wide=False)


def beta() -> tuple[str, str]:
    """Which numbers does jax.random.beta draw?"""
    import jax

    return drawn(lambda: jax.random.beta(jax.random.PRNGKey(0), 1.5, 2.5, (4,)), "146-292", "198-448", wide=False)


def chisquare() -> tuple[str, str]:
    """Which numbers does jax.random.chisquare draw?"""
    import jax

    return drawn(
        lambda: jax.random.chisquare(jax.random.PRNGKey(0), 3.0, shape=(4,)), "2381-258", "2205-2490", wide=False
    )


def t() -> tuple[str, str]:
    """Which numbers does jax.random.t draw?"""
    import jax

    return drawn(lambda: jax.random.t(jax.random.PRNGKey(0), 3.0, (4,)), "106-2534", "690-minus3239", wide=False)


def f() -> tuple[str, str]:
    """Which numbers does jax.random.f draw?"""
    import jax

    return drawn(lambda: jax.random.f(jax.random.PRNGKey(0), 3.0, 4.0, shape=(4,)), "3241-760", "2704-226", wide=False)


def dirichlet() -> tuple[str, str]:
    """Which numbers does jax.random.dirichlet draw?"""
    import jax

    return drawn(
        lambda: jax.random.dirichlet(jax.random.PRNGKey(0), jax.numpy.array([1.0, 2.0, 3.0])),
        "50-394",
        "142-405",
        wide=False,
    )


def generalized_normal() -> tuple[str, str]:
    """Which numbers does jax.random.generalized_normal draw?"""
    import jax

    return drawn(
        lambda: jax.random.generalized_normal(jax.random.PRNGKey(0), 1.5, (4,)), "minus328-346", "1060-89", wide=False
    )


def ball() -> tuple[str, str]:
    """Which numbers does jax.random.ball draw?"""
    import jax

    return drawn(lambda: jax.random.ball(jax.random.PRNGKey(0), 2, shape=(2,)), "292-minus796", "917-393", wide=False)


def poisson() -> tuple[str, str]:
    """Which numbers does jax.random.poisson draw?"""
    import jax

    return drawn(lambda: jax.random.poisson(jax.random.PRNGKey(0), 50.0, (4,)), "47-53", "39-47", wide=False)


def binomial() -> tuple[str, str]:
    """Which numbers does jax.random.binomial draw?"""
    import jax

    if not hasattr(jax.random, "binomial"):
        return "absent", "there is no jax.random.binomial"
    return drawn(
        lambda: jax.random.binomial(jax.random.PRNGKey(0), 100.0, 0.3, (4,)), "28000-32000", "23000-28000", wide=False
    )


def multinomial() -> tuple[str, str]:
    """Which numbers does jax.random.multinomial draw?"""
    import jax

    if not hasattr(jax.random, "multinomial"):
        return "absent", "there is no jax.random.multinomial"
    return drawn(
        lambda: jax.random.multinomial(jax.random.PRNGKey(0), 100, jax.numpy.array([0.2, 0.3, 0.5])),
        "14000-25000",
        wide=False,
    )


def geometric() -> tuple[str, str]:
    """Which numbers does jax.random.geometric draw?"""
    import jax

    return drawn(lambda: jax.random.geometric(jax.random.PRNGKey(0), 0.1, (4,)), "1-15", "1-1", wide=False)


_BEHAVIOURS: Mapping[str, Meaning] = {
    **{"first": "clear", "second": "documented", "third": "documented"},
    **{"another": "different", "absent": "absent"},
}
_THREEFRY = (
    Rule("first", "jax<0.5.0"),
    Rule("second", "", "a60ead6fd1 changed the default of jax_threefry_partitionable, as the changelog says"),
)

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="jax#13346",
        change="jax@a60ead6fd1",
        docs="jax:api_compatibility.html#numerics-and-randomness jax:changelog.html#jax-0-5-0-jan-17-2025",
    ),
    touches=("random stream",),
    control=control,
    behaviours=_BEHAVIOURS,
    rules=_THREEFRY,
    cases=(
        Case(gamma, touches=("jax.random.gamma",)),
        Case(loggamma, touches=("jax.random.loggamma",)),
        Case(beta, touches=("jax.random.beta",)),
        Case(chisquare, touches=("jax.random.chisquare",)),
        Case(t, touches=("jax.random.t",)),
        Case(f, touches=("jax.random.f",)),
        Case(dirichlet, touches=("jax.random.dirichlet",)),
        Case(generalized_normal, touches=("jax.random.generalized_normal",)),
        Case(ball, touches=("jax.random.ball",)),
        Case(poisson, touches=("jax.random.poisson",)),
        Case(binomial, rules=(Rule("absent", "jax<0.4.21"), *_THREEFRY), touches=("jax.random.binomial",)),
        Case(multinomial, rules=(Rule("absent", "jax<0.5.3"), Rule("first")), touches=("jax.random.multinomial",)),
        Case(geometric, touches=("jax.random.geometric",)),
    ),
)
