"""A cond in a loop that keeps its array in one branch copies it at each step, depending on the order of the branches

    lax.fori_loop(0, n, lambda i, x: lax.cond(i % 9 > 0, keep, update, x), x)    # copies x at each step
    lax.fori_loop(0, n, lambda i, x: lax.cond(i % 9 == 0, update, keep, x), x)   # none: the same, the other way round

You'd expect either to update x in place, now and then, and to cost nothing in between. XLA shared the buffers of the
branches in one direction only: a branch that hands x on as it is had to be the first one, which for `cond` is the one
for False. jax#38145 and others before it met that as a slow loop; openxla/xla#46314, which is in jaxlib 0.11.1, looks
at what each branch does instead. Counted here are the copies of x in the compiled loop: the one that the loop starts
from is right, since x is the caller's.

With jax 0.5.0 one copy too many on a CPU became three. Compiled for a TPU v5e the two orders differ as on a CPU.
Compiled for an H100 they change places from jax 0.9.0 to 0.11.0: there the branch for True is the one to keep x, and
the order that is advised here copies. Neither device copies where both branches update x.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _copies(body: Callable[[Any, Any], Any]) -> tuple[str, str]:
    """How often a compiled loop copies its array of 4096 floats, in the text."""
    import re

    import jax

    loop = jax.jit(lambda x: jax.lax.fori_loop(0, 10, body, x))
    text = loop.lower(jax.ShapeDtypeStruct((4096,), "float32")).compile().as_text()
    found = len(re.findall(r"f32\[4096\]\S* copy\(", text))
    return ("copies" if found > 1 else "in-place"), f"{found} copies in what is compiled"


def kept_where_true() -> tuple[str, str]:
    """Is an array updated in place where the branch for True keeps it?"""
    import jax

    return _copies(lambda i, x: jax.lax.cond(i % 9 > 0, lambda x: x, lambda x: x.at[0].add(1.0), x))


def without_a_condition() -> None:
    """Without a condition the loop updates it in place on every release."""
    assert _copies(lambda i, x: x.at[0].add(1.0))[0] == "in-place"


def kept_where_false() -> None:
    """The branch for False keeps it: the condition turned round."""
    import jax

    seen = _copies(lambda i, x: jax.lax.cond(i % 9 == 0, lambda x: x.at[0].add(1.0), lambda x: x, x))
    assert seen[0] == "in-place", seen


def kept_where_last() -> tuple[str, str]:
    """Is it where the last branch of a switch keeps it?"""
    import jax

    return _copies(lambda i, x: jax.lax.switch(i % 2, [lambda x: x.at[0].add(1.0), lambda x: x], x))


def updated_in_both() -> tuple[str, str]:
    """Is it where both branches update it?"""
    import jax

    return _copies(lambda i, x: jax.lax.cond(i % 9 > 0, lambda x: x.at[1].add(1.0), lambda x: x.at[0].add(1.0), x))


def added_to() -> None:
    """One update whose amount depends on the condition: nothing to choose from but a number."""
    import jax.numpy as jnp

    seen = _copies(lambda i, x: x.at[jnp.where(i % 9 > 0, 1, 0)].add(1.0))
    assert seen[0] == "in-place", seen


_LOOP = "uses('jax.lax.fori_loop', 'jax.lax.scan', 'jax.lax.while_loop')"

ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="jax#38145", fix="xla#46314 xla@bb290bd"),
    control=without_a_condition,
    rules=(Rule("copies", "jaxlib<0.11.1", "jax#38145"), Rule("in-place", "", "xla#46314")),
    workaround=Workaround("Keep it in the branch for False, or in the first of a switch.", kept_where_false),
    cases=(
        Case(kept_where_true, touches=(f"jax.lax.cond if {_LOOP}",)),
        Case(kept_where_last, touches=(f"jax.lax.switch if {_LOOP}",)),
        Case(
            updated_in_both,
            workaround=Workaround("Choose the index and the amount, not the update.", added_to),
            touches=(f"jax.lax.cond if {_LOOP}",),
        ),
    ),
)
