"""A loop copies its array at each step where the index that it reads is drawn at random, on a CPU with jaxlib 0.7.1

    def body(carry):
        step, xs = carry
        i = jr.randint(jr.PRNGKey(step), (), 0, 2)
        return step + 1, xs.at[step].set(xs[i])    # in jax 0.7.1 a copy of xs, as long as xs is

You'd expect an update in place, as in 0.7.0: a program of order n became one of order n * n (jax#31284, jax#31282).
Equinox's tests found it, whose `while_loop` is what Diffrax's solves run on, and diffrax#680 warns of the release.
jaxlib 0.7.2 is right again. The processor's time is set against that of a loop which only reads: hundreds of times as
much where it copies, and about as much where it does not.

Seen in these runs:

- No random number is needed. A loop that writes a block of 4 KiB at each step does the same, with jaxlib 0.7.1.
- In 0.11.1 it is the other way round, and drawing the indices before the loop costs a copy:
  small-updates-in-a-loop-copy-the-array.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _copies(writes: Callable[[Any], Any], reads: Callable[[Any], Any]) -> tuple[str, str]:
    """Whether a function takes more than 30 times the processor time of another: the least of three calls of each."""
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
    """A loop of 300 steps that draws an index and reads an array of 8 MiB, and does not write to it."""
    import jax
    import jax.numpy as jnp

    array = jnp.full(2**21, x)
    draw = partial(jax.random.randint, shape=(), minval=0, maxval=2)
    return array, jax.lax.fori_loop(0, 300, lambda i, sum_: sum_ + array[draw(jax.random.PRNGKey(i))], x)


def drawn_index() -> tuple[str, str]:
    """Is an array of 8 MiB updated in place where each step draws the index that it reads?"""
    import jax
    import jax.numpy as jnp

    draw = partial(jax.random.randint, shape=(), minval=0, maxval=2)

    def body(step: Any, xs: Any) -> Any:
        return xs.at[step].set(xs[draw(jax.random.PRNGKey(step))])

    return _copies(lambda x: jax.lax.fori_loop(0, 300, body, jnp.full(2**21, x)), _reads)


def what_it_computes() -> None:
    """What such a loop computes is right on every release."""
    import jax
    import jax.numpy as jnp

    draw = partial(jax.random.randint, shape=(), minval=0, maxval=2)
    body = lambda step, xs: xs.at[step + 2].set(xs[draw(jax.random.PRNGKey(step))])  # noqa: E731
    drawn = [int(draw(jax.random.PRNGKey(step))) for step in range(4)]
    assert jax.lax.fori_loop(0, 4, body, jnp.arange(6.0)).tolist() == [0.0, 1.0, *map(float, drawn)]


def draw_before() -> None:
    """All indices drawn before the loop."""
    import jax
    import jax.numpy as jnp

    def loop(x: Any) -> Any:
        drawn = jax.vmap(lambda i: jax.random.randint(jax.random.PRNGKey(i), (), 0, 2))(jnp.arange(300))
        return jax.lax.fori_loop(0, 300, lambda i, xs: xs.at[i].set(xs[drawn[i]]), jnp.full(2**21, x))

    assert _copies(loop, _reads)[0] == "in-place"


def wide_updates() -> tuple[str, str]:
    """Is it where each step writes a block of 4 KiB?"""
    import jax
    import jax.numpy as jnp

    def body(step: Any, xs: Any) -> Any:
        return jax.lax.dynamic_update_slice(xs, jnp.full(1024, 2.0 + step), (1024 * step,))

    return _copies(lambda x: jax.lax.fori_loop(0, 300, body, jnp.full(2**21, x)), _reads)


def stacked_by_scan() -> None:
    """Blocks that a scan stacks."""
    import jax
    import jax.numpy as jnp

    def blocks(x: Any) -> Any:
        return jax.lax.scan(lambda x, step: (x, jnp.full(1024, x + step)), x, jnp.arange(2048))

    assert _copies(blocks, _reads)[0] == "in-place"


ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="jax#31284 jax#31282 equinox#1088 diffrax#680"),
    touches=("jax.lax.fori_loop", "jax.lax.scan", "jax.lax.while_loop", "jax.lax.dynamic_update_slice"),
    control=what_it_computes,
    rules=(Rule("copies", "jaxlib==0.7.1", "jax#31284"), Rule("in-place")),
    cases=(
        Case(
            drawn_index,
            workaround=Workaround("Draw all indices before the loop.", draw_before, fails=("jaxlib==0.11.1",)),
        ),
        Case(wide_updates, workaround=Workaround("Have jax.lax.scan stack the blocks.", stacked_by_scan)),
    ),
)
