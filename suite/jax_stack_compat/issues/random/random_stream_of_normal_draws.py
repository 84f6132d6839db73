"""jax.random.normal and jax.nn.initializers draw other numbers for a key

JAX's compatibility policy promises the distribution of draws, but not the numbers for a key. jax@a60ead6fd1 enabled
`jax_threefry_partitionable` by default (jax#13346), which draws other bits; `same-seed-other-numbers` runs the setting
that restores the earlier bits. Initial weights are random draws, too (`orthogonal_initializer`). The policy does not
promise exact floats either: with some releases of jaxlib, a bfloat16 draw has another last bit (`normal_bfloat16`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream
from jax_stack_compat.cell.issue import Meaning


def drawn(draw: Callable[[], Any], *streams: str, wide: bool = True) -> tuple[str, str]:
    """Return which of the known `streams` was drawn, and its first two draws, with `wide` also under x64.

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


def normal() -> tuple[str, str]:
    """Which numbers does jax.random.normal draw?"""
    import jax

    return drawn(
        lambda: jax.random.normal(jax.random.PRNGKey(0), (4,)),
        "1816-minus755-x64-81-minus386",
        "1623-2025-x64-minus206-minus785",
    )


def control() -> None:
    """PRNGKey(0) is [0, 0]."""
    import jax

    assert jax.random.PRNGKey(0).tolist() == [0, 0]


def normal_bfloat16() -> tuple[str, str]:
    """Which bfloat16 numbers does jax.random.normal draw?"""
    import jax

    return drawn(
        lambda: jax.random.normal(jax.random.PRNGKey(0), (4,), dtype="bfloat16"),
        "minus398-minus2891",
        "387-183",
        "minus396-minus2891",
        wide=False,
    )


def truncated_normal() -> tuple[str, str]:
    """Which numbers does jax.random.truncated_normal draw?"""
    import jax

    return drawn(
        lambda: jax.random.truncated_normal(jax.random.PRNGKey(0), -1.0, 2.0, (4,)),
        "1634-minus404-x64-239-minus139",
        "1509-1747-x64-3-minus424",
    )


def multivariate_normal() -> tuple[str, str]:
    """Which numbers does jax.random.multivariate_normal draw?"""
    import jax
    import numpy as np

    mean, covariance = np.zeros(2), np.array([[2.0, 0.5], [0.5, 1.0]])
    return drawn(
        lambda: jax.random.multivariate_normal(jax.random.PRNGKey(0), mean, covariance),
        "minus1110-524-x64-2568-minus64",
        "2295-2468-x64-minus291-minus807",
    )


def lognormal() -> tuple[str, str]:
    """Which numbers does jax.random.lognormal draw?"""
    import jax

    if not hasattr(jax.random, "lognormal"):
        return "absent", "there is no jax.random.lognormal"
    return drawn(
        lambda: jax.random.lognormal(jax.random.PRNGKey(0), 1.0, (4,)), "6148-470-x64-1084-680", "5066-7578-x64-814-456"
    )


def maxwell() -> tuple[str, str]:
    """Which numbers does jax.random.maxwell draw?"""
    import jax

    return drawn(
        lambda: jax.random.maxwell(jax.random.PRNGKey(0), (4,)), "1680-996-x64-2233-1322", "2631-991-x64-1989-425"
    )


def orthogonal() -> tuple[str, str]:
    """Which matrix does jax.random.orthogonal draw?"""
    import jax

    return drawn(lambda: jax.random.orthogonal(jax.random.PRNGKey(0), 3), "minus350-322", "955-294", wide=False)


def orthogonal_initializer() -> tuple[str, str]:
    """Which numbers does jax.nn.initializers.orthogonal draw?"""
    import jax

    return drawn(
        lambda: jax.nn.initializers.orthogonal()(jax.random.PRNGKey(0), (3, 3)), "minus350-322", "955-294", wide=False
    )


def glorot_uniform_initializer() -> tuple[str, str]:
    """Which numbers does jax.nn.initializers.glorot_uniform draw?"""
    import jax

    return drawn(
        lambda: jax.nn.initializers.glorot_uniform()(jax.random.PRNGKey(0), (2, 2)),
        "1140-minus673",
        "1097-1172",
        wide=False,
    )


def truncated_normal_initializer() -> tuple[str, str]:
    """Which numbers does jax.nn.initializers.truncated_normal draw?"""
    import jax

    return drawn(
        lambda: jax.nn.initializers.truncated_normal()(jax.random.PRNGKey(0), (2, 2)), "16-minus7", "15-17", wide=False
    )


_BEHAVIOURS: Mapping[str, Meaning] = {
    **{"first": "clear", "second": "documented", "third": "documented"},
    **{"another": "different", "absent": "absent"},
}
_THREEFRY = (Rule("first", "jax<0.5.0"), Rule("second", "", "a60ead6fd1, and the changelog"))

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
        Case(normal, touches=("jax.random.normal",)),
        Case(
            normal_bfloat16,
            rules=(Rule("third", "jaxlib>=0.4.24,<0.4.33"), *_THREEFRY),
            touches=("jax.random.normal(key, shape, dtype) if dtype in ('bfloat16', 'jax.numpy.bfloat16')",),
        ),
        Case(truncated_normal, touches=("jax.random.truncated_normal",)),
        Case(multivariate_normal, touches=("jax.random.multivariate_normal",)),
        Case(lognormal, touches=("jax.random.lognormal",)),
        Case(maxwell, touches=("jax.random.maxwell",)),
        Case(orthogonal, touches=("jax.random.orthogonal",)),
        Case(orthogonal_initializer, touches=("jax.nn.initializers.orthogonal",)),
        Case(glorot_uniform_initializer, touches=("jax.nn.initializers.glorot_uniform",)),
        Case(truncated_normal_initializer, touches=("jax.nn.initializers.truncated_normal",)),
    ),
)
