"""An array that a function closed over is never freed: a cond's branch up to jax 0.4.30, a jit within a jit in 0.7.0

    def run(big):
        return jax.jit(lambda x: lax.cond(x > 0, lambda: big[0], lambda: 0.0))(1.0)

    for big in batches: run(big)    # up to jax 0.4.30 all of them stay in memory

You'd expect `big` to go when nothing of yours holds it any more, as it does where a scan closes over it. A cache of
traced branches held them (jax#12719, of 2022), and 0.4.31 has it mended (8db862c02e). In jax 0.7.0 it is back for a
jitted function within a jitted function, and for a cond whose branch is jitted: one cache behind it had been changed to
leak less (jax#29803), and another, of abstract values, kept its keys (jax#30009, in 0.7.1). Live arrays are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _kept(closes_over: Callable[[Any], Any]) -> tuple[str, str]:
    """Whether three arrays of 40 KB are there still after functions that closed over them have gone."""
    import gc

    import jax
    import jax.numpy as jnp

    def live() -> int:
        gc.collect()
        return sum(array.shape == (10007,) for array in jax.live_arrays())

    before = live()
    for value in range(3):
        jax.block_until_ready(closes_over(jnp.full(10007, float(value))))
    left = live() - before
    return ("kept", "all three are left") if left >= 3 else ("freed" if not left else "some", f"{left} are left")


def branch() -> tuple[str, str]:
    """Is an array freed that a branch of a cond closed over?"""
    import jax

    return _kept(lambda big: jax.jit(lambda x: jax.lax.cond(x > 0, lambda: big[0], lambda: 0.0))(1.0))


def scan() -> None:
    """One that a scan closed over is freed on every release."""
    import jax

    def closes_over(big: Any) -> Any:
        return jax.jit(lambda x: jax.lax.scan(lambda x, _: (x + big[0], None), x, None, length=3)[0])(1.0)

    assert _kept(closes_over)[0] == "freed"


def as_an_argument() -> None:
    """One that is an argument, of the functions within as well."""
    import jax

    choose = jax.jit(lambda x, big: jax.lax.cond(x > 0, lambda big: big[0], lambda big: 0.0, big))
    add = jax.jit(lambda x, big: jax.jit(lambda y, big: y + big[0])(x, big))
    assert _kept(lambda big: (choose(1.0, big), add(1.0, big)))[0] == "freed"


def jit_in_jit() -> tuple[str, str]:
    """Is one that a jitted function within a jitted one closed over?"""
    import jax

    return _kept(lambda big: jax.jit(lambda x: jax.jit(lambda y: y + big[0])(x))(1.0))


ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="jax#12719 jax#29803", fix="jax@8db862c02e jax#30009"),
    touches=("jax.lax.cond", "jax.lax.switch", "jax.jit", "closures"),
    control=scan,
    behaviours={"kept": "affected", "freed": "clear", "some": "different"},
    workaround=Workaround("Pass it as an argument, to the functions within as well.", as_an_argument),
    cases=(
        Case(
            branch,
            rules=(Rule("kept", "jax<0.4.31", "jax#12719"), Rule("freed", "", "8db862c02e")),
            touches=(
                "jax.lax.cond(pred, true_fun, false_fun, operand) if unseen and not given(operand)",
                "jax.lax.switch(index, branches, operand) if unseen and not given(operand)",
            ),
        ),
        Case(
            jit_in_jit,
            rules=(Rule("kept", "jax==0.7.0", "jax#30009"), Rule("freed")),
            touches=("jax.jit if unseen and within('jax.jit')",),
        ),
    ),
)
