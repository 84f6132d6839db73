"""jax.random.uniform, split and others return other values for a key

JAX's compatibility policy keeps the distribution of draws, but not the numbers drawn from a key. jax@a60ead6fd1 turned
`jax_threefry_partitionable` on by default (jax#13346), which changes the bits and splits of threefry keys; the issue
`same-seed-other-numbers` tests the setting that restores the earlier values. `rbg` keys split by threefry too
(`split_of_rbg`), so draws that split an `rbg` key changed (`randint_of_rbg`). jax@a7b01146f2 draws integers of 8 and 16
bits with less bias (`randint_int8`).
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


def uniform() -> tuple[str, str]:
    """Which numbers does jax.random.uniform draw?"""
    import jax

    return drawn(lambda: jax.random.uniform(jax.random.PRNGKey(0), (4,)), "965-225-x64-532-350", "948-979-x64-418-216")


def control() -> None:
    """PRNGKey(0) is [0, 0]."""
    import jax

    assert jax.random.PRNGKey(0).tolist() == [0, 0]


def bits() -> tuple[str, str]:
    """Which numbers does jax.random.bits draw?"""
    import jax

    return drawn(
        lambda: jax.random.bits(jax.random.PRNGKey(0), (4,)),
        "4146024105-967050713-x64-9817845818006947190-6450030706505775675",
        "4070199207-4202968722-x64-7719171245655871230-3989946895414531357",
    )


def split() -> tuple[str, str]:
    """Which keys does jax.random.split(PRNGKey(0)) return?"""
    import jax

    return drawn(
        lambda: jax.random.split(jax.random.PRNGKey(0)),
        "4146024105-967050713-x64-4146024105-967050713",
        "1797259609-2579123966-x64-1797259609-2579123966",
    )


def fold_in() -> tuple[str, str]:
    """Which key does jax.random.fold_in(PRNGKey(0), 1) return?"""
    import jax

    return drawn(lambda: jax.random.fold_in(jax.random.PRNGKey(0), 1), "928981903-3453687069-x64-928981903-3453687069")


def uniform_of_rbg() -> tuple[str, str]:
    """Which numbers does jax.random.uniform draw with a key of "rbg"?"""
    import jax

    return drawn(lambda: jax.random.uniform(jax.random.key(0, impl="rbg"), (4,)), "399-881-x64-881-605")


def split_of_rbg() -> tuple[str, str]:
    """Which keys does jax.random.split return for a key of "rbg"?"""
    import jax

    return drawn(
        lambda: jax.random.key_data(jax.random.split(jax.random.key(0, impl="rbg"))),
        "4146024105-967050713-x64-4146024105-967050713",
        "1797259609-2579123966-x64-1797259609-2579123966",
    )


def split_of_unsafe_rbg() -> tuple[str, str]:
    """Which keys does jax.random.split return for a key of "unsafe_rbg"?"""
    import jax

    return drawn(
        lambda: jax.random.key_data(jax.random.split(jax.random.key(0, impl="unsafe_rbg"))),
        "1713891541-3781805453-x64-1713891541-3781805453",
    )


def randint_of_rbg() -> tuple[str, str]:
    """Which numbers does jax.random.randint draw with a key of "rbg"?"""
    import jax

    return drawn(
        lambda: jax.random.randint(jax.random.key(0, impl="rbg"), (4,), 0, 1000),
        "821-824-x64-645-100",
        "298-349-x64-42-225",
    )


def uniform_bfloat16() -> tuple[str, str]:
    """Which bfloat16 numbers does jax.random.uniform draw?"""
    import jax

    return drawn(
        lambda: jax.random.uniform(jax.random.PRNGKey(0), (4,), dtype="bfloat16"), "344-0", "648-570", wide=False
    )


def randint() -> tuple[str, str]:
    """Which numbers does jax.random.randint draw?"""
    import jax

    return drawn(
        lambda: jax.random.randint(jax.random.PRNGKey(0), (4,), 0, 1000), "888-321-x64-954-656", "789-0-x64-335-911"
    )


def randint_int8() -> tuple[str, str]:
    """Which int8 numbers does jax.random.randint draw?"""
    import jax

    return drawn(
        lambda: jax.random.randint(jax.random.PRNGKey(0), (4,), 0, 100, dtype="int8"),
        "30-19",
        "1-80",
        "89-0",
        wide=False,
    )


def bernoulli() -> tuple[str, str]:
    """Which numbers does jax.random.bernoulli draw?"""
    import jax

    return drawn(
        lambda: jax.random.bernoulli(jax.random.PRNGKey(0), 0.5, (16,)), "4-206-x64-134-43", "54-80-x64-196-81"
    )


def rademacher() -> tuple[str, str]:
    """Which numbers does jax.random.rademacher draw?"""
    import jax

    return drawn(
        lambda: jax.random.rademacher(jax.random.PRNGKey(0), (16,)) > 0, "4-206-x64-134-43", "54-80-x64-196-81"
    )


def permutation() -> tuple[str, str]:
    """Which permutation does jax.random.permutation draw?"""
    import jax

    return drawn(lambda: jax.random.permutation(jax.random.PRNGKey(0), 8), "4-1-x64-4-1", "0-1-x64-0-1")


def choice() -> tuple[str, str]:
    """Which numbers does jax.random.choice draw?"""
    import jax

    return drawn(
        lambda: jax.random.choice(jax.random.PRNGKey(0), 1000, (4,)), "888-321-x64-954-656", "789-0-x64-335-911"
    )


def choice_without_replacement() -> tuple[str, str]:
    """Which items does jax.random.choice draw without replacement?"""
    import jax

    return drawn(
        lambda: jax.random.choice(jax.random.PRNGKey(0), 1000, (4,), replace=False),
        "339-777-x64-339-777",
        "166-872-x64-166-872",
    )


def categorical() -> tuple[str, str]:
    """Which numbers does jax.random.categorical draw?"""
    import jax

    return drawn(
        lambda: jax.random.categorical(
            jax.random.PRNGKey(0), jax.numpy.log(jax.numpy.array([0.1, 0.2, 0.3, 0.4])), shape=(8,)
        ),
        "2-3-x64-0-1",
        "1-3-x64-2-2",
    )


_BEHAVIOURS: Mapping[str, Meaning] = {
    **{"first": "clear", "second": "documented", "third": "documented"},
    **{"another": "different", "absent": "absent"},
}
_SAME = (Rule("first"),)
_SMALL = tuple(
    f"{module}{sign}int{bits}" for module in ("jax.numpy.", "numpy.", "") for sign in ("", "u") for bits in (8, 16)
)


def _of(impl: str, condition: str = "") -> tuple[str]:
    """Return the touch of jax.random.key with the implementation `impl`, under a condition."""
    return (f"jax.random.key(seed, impl) if impl == '{impl}'{condition}",)


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="jax#13346",
        change="jax@a60ead6fd1 jax#13341 jax@a7b01146f2",
        docs="jax:api_compatibility.html#numerics-and-randomness jax:changelog.html#jax-0-5-0-jan-17-2025 "
        "jax:jax.random.html",
    ),
    touches=("random stream",),
    control=control,
    behaviours=_BEHAVIOURS,
    rules=(
        Rule("first", "jax<0.5.0"),
        Rule("second", "", "a60ead6fd1 changed the default of jax_threefry_partitionable, as the changelog says"),
    ),
    cases=(
        Case(uniform, touches=("jax.random.uniform",)),
        Case(bits, touches=("jax.random.bits",)),
        Case(split, touches=("jax.random.split",)),
        Case(fold_in, rules=_SAME, touches=("jax.random.fold_in",)),
        Case(uniform_of_rbg, rules=_SAME, touches=_of("rbg", " and uses('jax.random.uniform')")),
        Case(split_of_rbg, touches=_of("rbg", " and uses('jax.random.split')")),
        Case(split_of_unsafe_rbg, rules=_SAME, touches=_of("unsafe_rbg", " and uses('jax.random.split')")),
        Case(randint_of_rbg, touches=_of("rbg", " and uses('jax.random.randint', 'jax.random.permutation')")),
        Case(
            uniform_bfloat16,
            touches=("jax.random.uniform(key, shape, dtype) if dtype in ('bfloat16', 'jax.numpy.bfloat16')",),
        ),
        Case(randint, touches=("jax.random.randint",)),
        Case(
            randint_int8,
            rules=(
                Rule("first", "jax<0.5.0"),
                Rule(
                    "second",
                    "jax<0.7.2",
                    "a60ead6fd1 changed the default of jax_threefry_partitionable, as the changelog says",
                ),
                Rule("third", "", "a7b01146f2 turns jax_safer_randint on, as the changelog says"),
            ),
            touches=(f"jax.random.randint(key, shape, minval, maxval, dtype) if dtype in {_SMALL}",),
        ),
        Case(bernoulli, touches=("jax.random.bernoulli",)),
        Case(rademacher, touches=("jax.random.rademacher",)),
        Case(permutation, touches=("jax.random.permutation",)),
        Case(choice, touches=("jax.random.choice",)),
        Case(choice_without_replacement, touches=("jax.random.choice",)),
        Case(categorical, touches=("jax.random.categorical",)),
    ),
)
