"""jax.random.exponential, gumbel and others draw other numbers for a key

JAX's compatibility policy keeps the distribution of draws, but not the numbers drawn from a key. jax@a60ead6fd1 turned
`jax_threefry_partitionable` on by default (jax#13346), so a key draws other bits. The issue `same-seed-other-numbers`
tests the setting that restores the earlier bits. jax#29857 computes `logistic` from a wider range of uniform draws,
which changes the lower tail (`logistic_tail`).
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


def exponential() -> tuple[str, str]:
    """Which numbers does jax.random.exponential draw?"""
    import jax

    return drawn(
        lambda: jax.random.exponential(jax.random.PRNGKey(0), (4,)), "3362-255-x64-760-430", "2950-3843-x64-542-244"
    )


def control() -> None:
    """PRNGKey(0) is [0, 0]."""
    import jax

    assert jax.random.PRNGKey(0).tolist() == [0, 0]


def laplace() -> tuple[str, str]:
    """Which numbers does jax.random.laplace draw?"""
    import jax

    return drawn(
        lambda: jax.random.laplace(jax.random.PRNGKey(0), (4,)),
        "minus2668-798-x64-minus67-358",
        "minus2257-minus3150-x64-178-838",
    )


def logistic() -> tuple[str, str]:
    """Which numbers does jax.random.logistic draw?"""
    import jax

    return drawn(
        lambda: jax.random.logistic(jax.random.PRNGKey(0), (4,)),
        "3326-minus1236-x64-129-minus621",
        "2896-3822-x64-minus329-minus1287",
    )


def logistic_tail() -> tuple[str, str]:
    """What are the least and the greatest of a million draws of jax.random.logistic?"""
    import jax

    def extremes() -> Any:
        draws = jax.random.logistic(jax.random.PRNGKey(0), (1_000_000,))
        return jax.numpy.stack([draws.min(), draws.max()])

    return drawn(extremes, "minus13745-13863", "minus13234-12684", "minus13303-12684", wide=False)


def gumbel() -> tuple[str, str]:
    """Which numbers does jax.random.gumbel draw?"""
    import jax

    return drawn(
        lambda: jax.random.gumbel(jax.random.PRNGKey(0), (4,)),
        "3344-minus399-x64-461-minus50",
        "2923-3833-x64-138-minus426",
    )


def cauchy() -> tuple[str, str]:
    """Which numbers does jax.random.cauchy draw?"""
    import jax

    return drawn(
        lambda: jax.random.cauchy(jax.random.PRNGKey(0), (4,)),
        "9143-minus1170-x64-102-minus511",
        "6027-14838-x64-minus262-minus1238",
    )


def pareto() -> tuple[str, str]:
    """Which numbers does jax.random.pareto draw?"""
    import jax

    return drawn(
        lambda: jax.random.pareto(jax.random.PRNGKey(0), 2.0, (4,)),
        "5370-1136-x64-1462-1240",
        "4371-6833-x64-1311-1130",
    )


def rayleigh() -> tuple[str, str]:
    """Which numbers does jax.random.rayleigh draw?"""
    import jax

    return drawn(
        lambda: jax.random.rayleigh(jax.random.PRNGKey(0), 1.0, (4,)), "266-1727-x64-1123-1450", "328-208-x64-1320-1750"
    )


def weibull_min() -> tuple[str, str]:
    """Which numbers does jax.random.weibull_min draw?"""
    import jax

    return drawn(
        lambda: jax.random.weibull_min(jax.random.PRNGKey(0), 1.0, 2.0, (4,)),
        "1833-505-x64-872-656",
        "1718-1960-x64-736-494",
    )


def triangular() -> tuple[str, str]:
    """Which numbers does jax.random.triangular draw?"""
    import jax

    return drawn(
        lambda: jax.random.triangular(jax.random.PRNGKey(0), 0.0, 0.5, 1.0, (4,)),
        "868-336-x64-516-418",
        "838-897-x64-457-329",
    )


def wald() -> tuple[str, str]:
    """Which numbers does jax.random.wald draw?"""
    import jax

    return drawn(
        lambda: jax.random.wald(jax.random.PRNGKey(0), 1.0, (4,)), "1149-278-x64-486-288", "381-416-x64-187-1611"
    )


def double_sided_maxwell() -> tuple[str, str]:
    """Which numbers does jax.random.double_sided_maxwell draw?"""
    import jax

    return drawn(
        lambda: jax.random.double_sided_maxwell(jax.random.PRNGKey(0), 0.0, 1.0, (4,)),
        "minus1315-278-x64-minus1668-1446",
        "1546-1574-x64-1985-minus2478",
    )


_BEHAVIOURS: Mapping[str, Meaning] = {
    **{"first": "clear", "second": "documented", "third": "documented"},
    **{"another": "different", "absent": "absent"},
}

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="jax#13346",
        change="jax@a60ead6fd1 jax#29857",
        docs="jax:api_compatibility.html#numerics-and-randomness jax:changelog.html#jax-0-5-0-jan-17-2025",
    ),
    touches=("random stream",),
    control=control,
    behaviours=_BEHAVIOURS,
    rules=(
        Rule("first", "jax<0.5.0"),
        Rule("second", "", "a60ead6fd1 changed the default of jax_threefry_partitionable, as the changelog says"),
    ),
    cases=(
        Case(exponential, touches=("jax.random.exponential",)),
        Case(laplace, touches=("jax.random.laplace",)),
        Case(logistic, touches=("jax.random.logistic",)),
        Case(
            logistic_tail,
            rules=(
                Rule("first", "jax<0.5.0"),
                Rule(
                    "second",
                    "jax<0.7.0",
                    "a60ead6fd1 changed the default of jax_threefry_partitionable, as the changelog says",
                ),
                Rule("third", "", "jax#29857"),
            ),
            touches=("jax.random.logistic",),
        ),
        Case(gumbel, touches=("jax.random.gumbel",)),
        Case(cauchy, touches=("jax.random.cauchy",)),
        Case(pareto, touches=("jax.random.pareto",)),
        Case(rayleigh, touches=("jax.random.rayleigh",)),
        Case(weibull_min, touches=("jax.random.weibull_min",)),
        Case(triangular, touches=("jax.random.triangular",)),
        Case(wald, touches=("jax.random.wald",)),
        Case(double_sided_maxwell, touches=("jax.random.double_sided_maxwell",)),
    ),
)
