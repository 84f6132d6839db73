"""A conditional in a loop can copy the array that it updates

XLA elided the copy of an array that branch 0 returns unchanged, but not if another branch returns it (xla#46314);
xla@bb290bd makes the order irrelevant. On CPUs, branch 0 of `lax.cond` is the branch for False (`order-of-branches`;
`kept-where-true` updates index 0 alone). jax#39449 also finds copies without a loop, in one order of the branches of
`lax.cond`; which order depends on the jax version. jax#40101 is another cause of copies, in either order of the
branches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _copies(writes: Callable[[Any], Any], reads: Callable[[Any], Any]) -> tuple[str, str]:
    """Return "copies" if `writes` takes over 30 times the CPU time of `reads`, each in the fastest of three calls."""
    import time

    import jax

    def seconds(function: Callable[[Any], Any]) -> float:
        jitted, times = jax.jit(function), []
        for _ in range(4):
            start = time.process_time()
            jax.block_until_ready(jitted(1.0))
            times.append(time.process_time() - start)
        return min(times[1:])

    slow = seconds(writes) > 30 * seconds(reads)
    return ("copies", "over 30 times what a read costs") if slow else ("in-place", "about what a read costs")


def _reads(x: Any) -> Any:
    """Read two arrays of 4 MiB in 1000 steps, without writing to them."""
    import jax
    import jax.numpy as jnp

    one, two = jnp.full(2**20, x), jnp.full(2**20, x)
    return one, two, jax.lax.fori_loop(0, 1000, lambda i, total: total + one[i] + two[i], x)


def order_of_branches() -> tuple[str, str]:
    """Does a while loop update two arrays in place if the branch of lax.cond for True returns one unchanged?"""
    import jax
    import jax.numpy as jnp

    def keep(step: Any, one: Any) -> Any:
        return True, step, one

    def update(step: Any, one: Any) -> Any:
        return True, step, one.at[0].set(0)

    def body(carry: Any) -> Any:
        step, one, two = carry
        save, index, one = jax.lax.cond(step < 200000, keep, update, step, one)
        value = jnp.where(save, step, two[index])
        return step + 1, one, jax.lax.dynamic_update_index_in_dim(two, value, index, axis=0)

    def loop(x: Any) -> Any:
        return jax.lax.while_loop(lambda carry: carry[0] < 1000, body, (0, jnp.full(2**20, x), jnp.full(2**20, x)))

    return _copies(loop, _reads)


def without_a_condition() -> None:
    """A loop updates an array in place without a condition, and with one if both branches update the array."""
    import jax
    import jax.numpy as jnp

    def in_both(i: Any, x: Any) -> Any:
        return jax.lax.cond(i % 9 > 0, lambda x: x.at[1].add(1.0), lambda x: x.at[0].add(1.0), x)

    def loop(x: Any) -> Any:
        one = jax.lax.fori_loop(0, 1000, lambda _, x: x.at[0].add(1.0), jnp.full(2**20, x))
        return one, jax.lax.fori_loop(0, 1000, in_both, jnp.full(2**20, x))

    assert _copies(loop, _reads)[0] == "in-place"


def first_of_two() -> None:
    """The loop updates in place if the first branch of lax.switch returns one of two arrays unchanged."""
    import jax
    import jax.numpy as jnp

    def body(carry: Any) -> Any:
        step, one, two = carry
        branches = [lambda step, one: (True, step, one), lambda step, one: (True, step, one.at[0].set(0))]
        save, index, one = jax.lax.switch(jnp.int32(step >= 200000), branches, step, one)
        value = jnp.where(save, step, two[index])
        return step + 1, one, jax.lax.dynamic_update_index_in_dim(two, value, index, axis=0)

    def loop(x: Any) -> Any:
        return jax.lax.while_loop(lambda carry: carry[0] < 1000, body, (0, jnp.full(2**20, x), jnp.full(2**20, x)))

    assert _copies(loop, _reads)[0] == "in-place"


def order_in_switch() -> tuple[str, str]:
    """Does a while loop update two arrays in place if the last branch of lax.switch returns one unchanged?"""
    import jax
    import jax.numpy as jnp

    def body(carry: Any) -> Any:
        step, one, two = carry
        branches = [lambda step, one: (True, step, one.at[0].set(0)), lambda step, one: (True, step, one)]
        save, index, one = jax.lax.switch(jnp.int32(step < 200000), branches, step, one)
        value = jnp.where(save, step, two[index])
        return step + 1, one, jax.lax.dynamic_update_index_in_dim(two, value, index, axis=0)

    def loop(x: Any) -> Any:
        return jax.lax.while_loop(lambda carry: carry[0] < 1000, body, (0, jnp.full(2**20, x), jnp.full(2**20, x)))

    return _copies(loop, _reads)


def kept_where_true() -> tuple[str, str]:
    """Does lax.cond in a lax.fori_loop update x.at[0] in place if the branch for True returns x unchanged?"""
    import jax
    import jax.numpy as jnp

    def body(i: Any, x: Any) -> Any:
        return jax.lax.cond(i % 9 > 0, lambda x: x, lambda x: x.at[0].add(1.0), x)

    return _copies(lambda x: jax.lax.fori_loop(0, 1000, body, jnp.full(2**20, x)), _reads)


def kept_first() -> None:
    """The loop updates in place if the first branch of lax.switch returns the array unchanged."""
    import jax
    import jax.numpy as jnp

    def body(i: Any, x: Any) -> Any:
        return jax.lax.switch(jnp.int32(i % 9 == 0), [lambda x: x, lambda x: x.at[0].add(1.0)], x)

    assert _copies(lambda x: jax.lax.fori_loop(0, 1000, body, jnp.full(2**20, x)), _reads)[0] == "in-place"


def other_loops() -> None:
    """With the workaround, lax.scan updates integers in place, and lax.while_loop a matrix, with expected values."""
    import jax
    import jax.numpy as jnp

    def step(i: Any, x: Any) -> Any:
        return jax.lax.switch(jnp.int32(i % 9 == 0), [lambda x: x, lambda x: x.at[3].add(2)], x)

    def in_scan(x: Any) -> Any:
        start = jnp.full(2**20, x).astype("int32")
        return jax.lax.scan(lambda y, i: (step(i, y), None), start, jnp.arange(1000))[0]

    def in_while(x: Any) -> Any:
        start = (0, jnp.full((2**17, 8), x))
        return jax.lax.while_loop(lambda carry: carry[0] < 1000, lambda c: (c[0] + 1, step(*c)), start)[1]

    for loop, wanted in ((in_scan, [7, 7, 7, 231, 7]), (in_while, [[each] * 8 for each in (7, 7, 7, 231, 7)])):
        assert _copies(loop, _reads)[0] == "in-place", loop
        assert loop(7.0)[:5].tolist() == wanted


def at_the_step() -> tuple[str, str]:
    """Does lax.cond in a lax.fori_loop over i update x.at[i] in place if the branch for True returns x unchanged?"""
    import jax
    import jax.numpy as jnp

    def body(i: Any, x: Any) -> Any:
        return jax.lax.cond(i % 9 > 0, lambda x: x, lambda x: x.at[i].add(1.0), x)

    return _copies(lambda x: jax.lax.fori_loop(0, 1000, body, jnp.full(2**20, x)), _reads)


def first_at_the_step() -> None:
    """In lax.switch, the first of two branches returns x unchanged, and the second updates x.at[i]."""
    import jax
    import jax.numpy as jnp

    def body(i: Any, x: Any) -> Any:
        return jax.lax.switch(jnp.int32(i % 9 == 0), [lambda x: x, lambda x: x.at[i].add(1.0)], x)

    assert _copies(lambda x: jax.lax.fori_loop(0, 1000, body, jnp.full(2**20, x)), _reads)[0] == "in-place"


def kept_where_last() -> tuple[str, str]:
    """Does lax.switch in a lax.fori_loop update x.at[0] in place if its last branch returns x unchanged?"""
    import jax
    import jax.numpy as jnp

    def body(i: Any, x: Any) -> Any:
        return jax.lax.switch(i % 2, [lambda x: x.at[0].add(1.0), lambda x: x], x)

    return _copies(lambda x: jax.lax.fori_loop(0, 1000, body, jnp.full(2**20, x)), _reads)


_LOOP = "unseen and within('jax.lax.fori_loop', 'jax.lax.scan', 'jax.lax.while_loop')"
_FIRST = "On CPUs, update second, for an unmapped Boolean pred: lax.switch(jnp.int32(pred), [keep, update], x)."
_EITHER = Rule("copies", "jaxlib==0.11.1", "copies in either order of the branches; jax#40101")

ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(
        report="jax#16661 jax#38145 jax#39449",
        fix="xla#46314 xla@bb290bd",
        change="jax@7c125701c5",
        discussion="jax#40101",
    ),
    control=without_a_condition,
    rules=(
        Rule("in-place", "jaxlib<0.5"),
        Rule("copies", "jaxlib<0.11.1", "jax#39449"),
        Rule("in-place", "", "xla#46314"),
    ),
    workaround=Workaround(_FIRST, kept_first, elsewhere=other_loops),
    cases=(
        Case(
            order_of_branches,
            rules=(
                Rule("in-place", "jaxlib==0.4.19"),
                Rule("in-place", "jax>=0.4.31 jaxlib<0.5", "jax@7c125701c5 takes the step out of the conditional"),
                Rule("copies", "jaxlib<0.11.1", "jax#16661"),
                _EITHER,
                Rule("in-place"),
            ),
            workaround=Workaround(_FIRST, first_of_two, fails=("jaxlib==0.11.1",), elsewhere=other_loops),
            touches=(f"jax.lax.cond if {_LOOP}",),
        ),
        Case(
            order_in_switch,
            rules=(
                Rule("in-place", "jaxlib==0.4.19"),
                Rule("copies", "jaxlib<0.11.1", "jax#16661"),
                _EITHER,
                Rule("in-place"),
            ),
            workaround=Workaround(_FIRST, first_of_two, fails=("jaxlib==0.11.1",), elsewhere=other_loops),
            touches=(f"jax.lax.switch if {_LOOP}",),
        ),
        Case(
            at_the_step,
            rules=(
                Rule("copies", "jaxlib<0.11.1", "jax#16661"),
                _EITHER,
                Rule("in-place", "", "xla#46314"),
            ),
            workaround=Workaround(_FIRST, first_at_the_step, fails=("jaxlib==0.11.1",), elsewhere=other_loops),
            touches=(f"jax.lax.cond if {_LOOP}",),
        ),
        Case(kept_where_true, touches=(f"jax.lax.cond if {_LOOP}",)),
        Case(kept_where_last, touches=(f"jax.lax.switch if {_LOOP}",)),
    ),
)
