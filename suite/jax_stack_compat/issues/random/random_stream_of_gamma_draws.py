"""jax.random: which gamma, beta, Poisson and binomial draws come of one seed, release by release

    jax.random.gamma(jax.random.PRNGKey(0), 1.5, (4,))    # 1.190, 0.129, … up to jax 0.4.38, then 1.103, 1.245, …

JAX promises the distribution of its draws and not the draws. These reject: how many random bits a draw takes depends on
what is drawn, so that one change anywhere changes all that follows. Each is asked for the same draws of one key, with
x64 off, and a stream goes by its first two.

Seen in these runs:

- All of these streams that are there before 0.5.0 change with it. After it none does.
- Before it none changes from 0.4.18 on. `binomial` comes with 0.4.21, and `multinomial` with 0.5.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, members
from jax_stack_compat.cell.issue import Meaning


def drawn(draw: Callable[[], Any], *streams: str, wide: bool = True) -> tuple[str, str]:
    """Which of the known `streams` the draws are of, and the first two; where `wide`, with x64 too.

    A stream goes by these two, floats in thousandths: "965-225-x64-532-350".
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
    """A seed gives the same key on every release."""
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
    **{"first": "documented", "second": "documented", "third": "documented"},
    **{"another": "different", "absent": "absent"},
}
_THREEFRY = (Rule("first", "jax<0.5.0"), Rule("second", "", "jax_threefry_partitionable is on by default"))

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="jax#13346",
        docs="jax:api_compatibility.html#numerics-and-randomness jax:changelog.html#jax-0-5-0-jan-17-2025",
    ),
    touches=(
        *members("jax.random", "ball beta binomial chisquare dirichlet f gamma generalized_normal geometric loggamma"),
        *members("jax.random", "multinomial poisson t"),
        "random stream",
    ),
    control=control,
    behaviours=_BEHAVIOURS,
    rules=_THREEFRY,
    cases=(
        Case(gamma),
        Case(loggamma),
        Case(beta),
        Case(chisquare),
        Case(t),
        Case(f),
        Case(dirichlet),
        Case(generalized_normal),
        Case(ball),
        Case(poisson),
        Case(binomial, rules=(Rule("absent", "jax<0.4.21"), *_THREEFRY)),
        Case(multinomial, rules=(Rule("absent", "jax<0.5.3"), Rule("first"))),
        Case(geometric),
    ),
)
