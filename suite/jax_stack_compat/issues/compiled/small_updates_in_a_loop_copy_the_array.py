"""Small updates in lax.fori_loop and lax.scan copy the array at each step

On CPUs, a step that writes few bytes rewrites the whole array, so that n steps cost O(n^2) instead of O(n) (jax#40101).
The size from which updates are in place depends on the processor and on the update: jax#40101 finds 256 bytes on one
processor, and 480 on another. `lax.scan` also copies the array in which it stacks its results (`stacked_results`). The
release before the affected one has the same optimized HLO, so the cause is in jaxlib (jax#40101).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, members


def _copies(writes: Callable[[Any], Any], reads: Callable[[Any], Any]) -> tuple[str, str]:
    """Return "copies" if `writes` takes over 30 times the CPU time of `reads`, each the fastest of three calls."""
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
    """Read an array of 8 MiB in 300 steps, without writing to it."""
    import jax
    import jax.numpy as jnp

    array = jnp.full(2**21, x)
    return array, jax.lax.fori_loop(0, 300, lambda i, total: total + array[i], x)


def one_element() -> tuple[str, str]:
    """Does jax.lax.fori_loop update 8 MiB of float32 in place if each of 300 steps writes one element?"""
    import jax
    import jax.numpy as jnp

    return _copies(lambda x: jax.lax.fori_loop(0, 300, lambda i, a: a.at[i].set(x + i), jnp.full(2**21, x)), _reads)


def what_it_computes() -> None:
    """Loops that write one element per step compute what Python computes."""
    import jax
    import jax.numpy as jnp

    assert jax.lax.fori_loop(0, 3, lambda i, a: a.at[i].set(i), jnp.zeros(3)).tolist() == [0.0, 1.0, 2.0]
    assert jax.lax.scan(lambda x, _: (x + 1.0, x), 0.0, None, length=3)[1].tolist() == [0.0, 1.0, 2.0]


def in_blocks() -> None:
    """Nested scans, the inner one filling a block of 512 bytes, do not copy the array at each step."""
    import jax

    def step(x: Any, _: Any) -> Any:
        return 0.9 * x + 1.0, x

    def blocks(x: Any) -> Any:
        return jax.lax.scan(lambda x, _: jax.lax.scan(step, x, None, length=128), x, None, length=160)

    assert _copies(blocks, _reads)[0] == "in-place"


def other_blocks() -> None:
    """Nested lax.map over integers and nested lax.scan over float16 give correct values without copies."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def integers(x: Any) -> Any:
        numbers = jnp.asarray(x).astype(int) + jnp.arange(20480, dtype="int32").reshape(-1, 128)
        return jax.lax.map(lambda block: jax.lax.map(lambda i: 3 * i, block), numbers).reshape(-1)

    def halves(x: Any) -> Any:
        step = lambda x, _: (-x, x)  # noqa: E731
        block = lambda x, _: jax.lax.scan(step, x, None, length=256)  # noqa: E731
        return jax.lax.scan(block, jnp.asarray(x).astype("float16"), None, length=80)[1].reshape(-1)

    loops: tuple[tuple[Callable[[Any], Any], Any], ...] = (
        (integers, 3 * np.arange(1, 20481)),
        (halves, np.tile([1.0, -1.0], 10240)),
    )
    for blocks, wanted in loops:
        assert _copies(blocks, _reads)[0] == "in-place"
        np.testing.assert_array_equal(blocks(jnp.float32(1.0)), wanted)


def stacked_results() -> tuple[str, str]:
    """Does jax.lax.scan stack 20000 float32 results in place?"""
    import jax

    def step(x: Any, _: Any) -> Any:
        return 0.9 * x + 1.0, x

    return _copies(lambda x: jax.lax.scan(step, x, None, length=20000), _reads)


_IN_LOOPS = "within('jax.lax.fori_loop', 'jax.lax.while_loop')"

ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="jax#40101", discussion="QuantEcon/lecture-python-programming#622"),
    control=what_it_computes,
    rules=(
        Rule("copies", "jaxlib==0.11.1", "also for the HLO that jax 0.11.2 lowers; jax#40101"),
        Rule("in-place"),
    ),
    workaround=Workaround(
        "If results come in order, stack whole blocks of 512 bytes by nested scans.",
        in_blocks,
        elsewhere=other_blocks,
    ),
    cases=(
        Case(
            one_element,
            touches=(
                *members("jax.Array.at", "set add", f" if {_IN_LOOPS}"),
                f"jax.lax.dynamic_update_slice if {_IN_LOOPS} and unseen",
                f"jax.lax.dynamic_update_index_in_dim if {_IN_LOOPS} and unseen",
                *members("jax.lax", "fori_loop while_loop", " if unseen"),
            ),
        ),
        Case(
            stacked_results,
            touches=(
                "jax.lax.scan(f, init, xs, length) if length >= 10000 and unseen",
                "jax.lax.scan if unseen",
                "jax.lax.map if unseen",
            ),
        ),
    ),
)
