"""jax.random: what keys, bits, uniform draws and choices come of one seed, release by release

    jax.random.choice(jax.random.PRNGKey(0), 1000, (4,))    # 888, 321, … up to jax 0.4.38, then 789, 0, …

JAX promises the distribution of its draws and not the draws. Here each sampler is asked for the same draws of one key,
with x64 off and on, and a stream goes by its first two. All that is drawn by threefry changed with jax 0.5.0, as
announced, and `split` with it; `JAX_THREEFRY_PARTITIONABLE=0` gives what was before. What did not change: `fold_in`,
and what keys of "rbg" and "unsafe_rbg" draw. "rbg" splits its keys by threefry, and so its split changed while its
draws did not.

Seen in these runs:

- After 0.5.0 the int8 draws of randint change, with 0.7.2, where its bias was mended (jax#27742). Nothing else here
  does.
- Permutations and choices without replacement change with 0.5.0, as `split` does.
- A bfloat16 draw is no rounded float32 draw.
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


def uniform() -> tuple[str, str]:
    """Which numbers does jax.random.uniform draw?"""
    import jax

    return drawn(lambda: jax.random.uniform(jax.random.PRNGKey(0), (4,)), "965-225-x64-532-350", "948-979-x64-418-216")


def control() -> None:
    """A seed gives the same key on every release."""
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
    """Into which keys does jax.random.split a key?"""
    import jax

    return drawn(
        lambda: jax.random.split(jax.random.PRNGKey(0)),
        "4146024105-967050713-x64-4146024105-967050713",
        "1797259609-2579123966-x64-1797259609-2579123966",
    )


def fold_in() -> tuple[str, str]:
    """Which key does jax.random.fold_in give?"""
    import jax

    return drawn(lambda: jax.random.fold_in(jax.random.PRNGKey(0), 1), "928981903-3453687069-x64-928981903-3453687069")


def uniform_of_rbg() -> tuple[str, str]:
    """Which numbers does jax.random.uniform draw with a key of "rbg"?"""
    import jax

    return drawn(lambda: jax.random.uniform(jax.random.key(0, impl="rbg"), (4,)), "399-881-x64-881-605")


def split_of_rbg() -> tuple[str, str]:
    """Into which keys does jax.random.split a key of "rbg"?"""
    import jax

    return drawn(
        lambda: jax.random.key_data(jax.random.split(jax.random.key(0, impl="rbg"))),
        "4146024105-967050713-x64-4146024105-967050713",
        "1797259609-2579123966-x64-1797259609-2579123966",
    )


def split_of_unsafe_rbg() -> tuple[str, str]:
    """Into which keys does jax.random.split a key of "unsafe_rbg"?"""
    import jax

    return drawn(
        lambda: jax.random.key_data(jax.random.split(jax.random.key(0, impl="unsafe_rbg"))),
        "1713891541-3781805453-x64-1713891541-3781805453",
    )


def uniform_bfloat16() -> tuple[str, str]:
    """Which bfloat16 does jax.random.uniform draw?"""
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
    """Which int8 does jax.random.randint draw?"""
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
    **{"first": "documented", "second": "documented", "third": "documented"},
    **{"another": "different", "absent": "absent"},
}
_ALWAYS = Rule("first")

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="jax#13346",
        docs="jax:api_compatibility.html#numerics-and-randomness jax:changelog.html#jax-0-5-0-jan-17-2025",
    ),
    touches=(
        *members("jax.random", "PRNGKey fold_in key split"),
        *members("jax.random", "bernoulli bits categorical choice permutation rademacher randint uniform"),
        "random stream",
    ),
    control=control,
    behaviours=_BEHAVIOURS,
    rules=(Rule("first", "jax<0.5.0"), Rule("second", "", "jax_threefry_partitionable is on by default")),
    cases=(
        Case(uniform),
        Case(bits),
        Case(split),
        Case(fold_in, rules=(_ALWAYS,)),
        Case(uniform_of_rbg, rules=(_ALWAYS,)),
        Case(split_of_rbg),
        Case(split_of_unsafe_rbg, rules=(_ALWAYS,)),
        Case(uniform_bfloat16),
        Case(randint),
        Case(
            randint_int8,
            rules=(
                Rule("first", "jax<0.5.0"),
                Rule("second", "jax<0.7.2"),
                Rule("third", "", "its bias was mended in 0.7.2"),
            ),
        ),
        Case(bernoulli),
        Case(rademacher),
        Case(permutation),
        Case(choice),
        Case(choice_without_replacement),
        Case(categorical),
    ),
)
