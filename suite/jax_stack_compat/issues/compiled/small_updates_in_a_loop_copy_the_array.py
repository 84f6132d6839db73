"""One element written per step of a loop costs a copy of the whole array, on a CPU with jaxlib 0.11.1

    lax.fori_loop(0, n, lambda i, a: a.at[i].set(i), jnp.zeros(n))    # n steps, each as long as the array
    lax.scan(step, x0, None, length=n)    # so do the results that it stacks

You'd expect the array to be updated in place, as it is on every other release run here, and n steps to cost n writes.
In jaxlib 0.11.1 a loop of n steps costs n * n: jax#40101 has 0.0014 seconds that become 13. By the report what is
compiled is the same HLO; it finds the limit at updates of 256 bytes on one processor and of 480 on another, and wider
ones are as fast as ever. Here an element of 4 bytes is written, and the processor's time is set against that of a loop
which reads one: hundreds of times as much where it copies, and about as much where it does not.

Seen in these runs: jaxlib 0.11.1 alone copies. From 0.11.2 on the array is updated in place, so that one
release has to be skipped. jax 0.11.2 lowers such a loop to another text; that text copies in jaxlib 0.11.1 as well, and
the text of jax 0.11.1 does not in jaxlib 0.11.2.
"""

from __future__ import annotations

from collections.abc import Callable
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
    """A loop of 300 steps that reads an array of 8 MiB, and does not write to it."""
    import jax
    import jax.numpy as jnp

    array = jnp.full(2**21, x)
    return array, jax.lax.fori_loop(0, 300, lambda i, total: total + array[i], x)


def one_element() -> tuple[str, str]:
    """Is an array of 8 MiB updated in place where each of 300 steps writes one element?"""
    import jax
    import jax.numpy as jnp

    return _copies(lambda x: jax.lax.fori_loop(0, 300, lambda i, a: a.at[i].set(x + i), jnp.full(2**21, x)), _reads)


def what_it_computes() -> None:
    """What such loops compute is right on every release."""
    import jax
    import jax.numpy as jnp

    assert jax.lax.fori_loop(0, 3, lambda i, a: a.at[i].set(i), jnp.zeros(3)).tolist() == [0.0, 1.0, 2.0]
    assert jax.lax.scan(lambda x, _: (x + 1.0, x), 0.0, None, length=3)[1].tolist() == [0.0, 1.0, 2.0]


def in_blocks() -> None:
    """A loop within a loop: the inner one fills a block of 512 bytes, and the outer one stacks blocks."""
    import jax

    def step(x: Any, _: Any) -> Any:
        return 0.9 * x + 1.0, x

    def blocks(x: Any) -> Any:
        return jax.lax.scan(lambda x, _: jax.lax.scan(step, x, None, length=128), x, None, length=160)

    assert _copies(blocks, _reads)[0] == "in-place"


def stacked_results() -> tuple[str, str]:
    """Are the 20000 results that a scan stacks written in place?"""
    import jax

    def step(x: Any, _: Any) -> Any:
        return 0.9 * x + 1.0, x

    return _copies(lambda x: jax.lax.scan(step, x, None, length=20000), _reads)


ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="jax#40101 QuantEcon/lecture-python-programming#622"),
    touches=("jax.lax.fori_loop", "jax.lax.scan", "jax.lax.while_loop", "jax.lax.dynamic_update_slice"),
    control=what_it_computes,
    rules=(
        Rule("copies", "jaxlib==0.11.1", "the text of jax 0.11.2 on jaxlib 0.11.1 too; jax#40101"),
        Rule("in-place"),
    ),
    workaround=Workaround("Stack in blocks: a scan within a scan, the inner one of about a hundred steps.", in_blocks),
    cases=(Case(one_element), Case(stacked_results)),
)
