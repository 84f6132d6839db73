"""A conditional in a loop can copy the array that it updates

XLA elided the copy of an array that branch 0 returns unchanged, but not in another branch (xla#46314); xla@bb290bd
makes the order irrelevant. Branch 0 is that for False on CPUs, as in jax#16661; on a GPU, jax#38145 reports copies with
the other order. One copy, of the caller's array, is expected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _copies(body: Callable[[Any, Any], Any]) -> tuple[str, str]:
    """Count the copies of 4096 floats in the text of a compiled loop."""
    import re

    import jax

    loop = jax.jit(lambda x: jax.lax.fori_loop(0, 10, body, x))
    text = loop.lower(jax.ShapeDtypeStruct((4096,), "float32")).compile().as_text()
    found = len(re.findall(r"f32\[4096\]\S* copy\(", text))
    return ("copies" if found > 1 else "in-place"), f"{found} copies in what is compiled"


def kept_where_true() -> tuple[str, str]:
    """Does lax.cond in a lax.fori_loop update an array in place if the branch for True returns it unchanged?"""
    import jax

    return _copies(lambda i, x: jax.lax.cond(i % 9 > 0, lambda x: x, lambda x: x.at[0].add(1.0), x))


def without_a_condition() -> None:
    """Without a condition, the loop updates the array in place."""
    assert _copies(lambda i, x: x.at[0].add(1.0))[0] == "in-place"


def kept_first() -> None:
    """In lax.switch, the first of two branches returns the array unchanged."""
    import jax
    import jax.numpy as jnp

    branches = [lambda x: x, lambda x: x.at[0].add(1.0)]
    seen = _copies(lambda i, x: jax.lax.switch(jnp.int32(i % 9 == 0), branches, x))
    assert seen[0] == "in-place", seen


def other_loops() -> None:
    """Both workarounds update other dtypes and shapes in place, in lax.scan and in lax.while_loop."""
    import re

    import jax
    import jax.numpy as jnp

    def first(i: Any, x: Any) -> Any:
        return jax.lax.switch(jnp.int32(i % 9 == 0), [lambda x: x, lambda x: x * 2], x)

    def chosen(i: Any, x: Any) -> Any:
        return x.at[jnp.where(i % 9 > 0, 1, 0)].set(jnp.where(i % 9 > 0, 3, 2).astype(x.dtype))

    def in_scan(x: Any, step: Any) -> Any:
        return jax.lax.scan(lambda y, i: (step(i, y), None), x, jnp.arange(10))[0]

    def in_while(x: Any, step: Any) -> Any:
        return jax.lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] + 1, step(*c)), (0, x))[1]

    for x in (jnp.ones((64, 33), "int32"), jnp.ones(512, "float16"), jnp.ones((2, 3, 5))):
        for loop, step in ((in_scan, first), (in_scan, chosen), (in_while, first), (in_while, chosen)):
            text = jax.jit(loop, static_argnums=1).lower(x, step).compile().as_text()
            copies = re.findall(rf"\[{','.join(map(str, x.shape))}\]\S* copy\(", text)
            assert len(copies) <= 1, (loop, step, copies)


def kept_where_last() -> tuple[str, str]:
    """Does lax.switch in a lax.fori_loop update an array in place if its last branch returns it unchanged?"""
    import jax

    return _copies(lambda i, x: jax.lax.switch(i % 2, [lambda x: x.at[0].add(1.0), lambda x: x], x))


def updated_in_both() -> tuple[str, str]:
    """Does lax.cond in a lax.fori_loop update an array in place in both branches?"""
    import jax

    return _copies(lambda i, x: jax.lax.cond(i % 9 > 0, lambda x: x.at[1].add(1.0), lambda x: x.at[0].add(1.0), x))


def added_to() -> None:
    """One update, at an index that depends on the condition, is in place."""
    import jax.numpy as jnp

    seen = _copies(lambda i, x: x.at[jnp.where(i % 9 > 0, 1, 0)].add(1.0))
    assert seen[0] == "in-place", seen


_LOOP = "unseen and within('jax.lax.fori_loop', 'jax.lax.scan', 'jax.lax.while_loop')"

ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="jax#16661 jax#38145 jax#39449", fix="xla#46314 xla@bb290bd"),
    control=without_a_condition,
    rules=(Rule("copies", "jaxlib<0.11.1", "jax#16661"), Rule("in-place", "", "xla#46314")),
    workaround=Workaround(
        "Of two branches, update in the second: lax.switch(jnp.int32(pred), [keep, update], x).",
        kept_first,
        elsewhere=other_loops,
    ),
    cases=(
        Case(kept_where_true, touches=(f"jax.lax.cond if {_LOOP}",)),
        Case(kept_where_last, touches=(f"jax.lax.switch if {_LOOP}",)),
        Case(
            updated_in_both,
            workaround=Workaround(
                "Choose the index, and update once: x.at[jnp.where(pred, i, j)].add(v).",
                added_to,
                elsewhere=other_loops,
            ),
            touches=(f"jax.lax.cond if {_LOOP}",),
        ),
    ),
)
