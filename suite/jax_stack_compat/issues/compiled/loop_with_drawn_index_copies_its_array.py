"""lax.fori_loop copies the whole array at some in-place updates on CPUs

XLA copies the array at each step, so that a loop of n steps costs O(n^2) instead of O(n) (jax#31284, jax#31282). The
runs show copies if a loop draws its index with `jax.random.randint` (`drawn-index`), or writes blocks of 4 KiB into a
vector (`wide-updates`). Equinox's while loop slowed down too (equinox#1088); Equinox excludes the affected jax and the
release before it (equinox#1104). diffrax#680 warns of the affected jax, and of the release before it because of
segfaults.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
    """Draw an index and read an array of 8 MiB in 300 steps, without writing to it."""
    import jax
    import jax.numpy as jnp

    array = jnp.full(2**21, x)
    draw = partial(jax.random.randint, shape=(), minval=0, maxval=2)
    return array, jax.lax.fori_loop(0, 300, lambda i, sum_: sum_ + array[draw(jax.random.PRNGKey(i))], x)


def drawn_index() -> tuple[str, str]:
    """Does jax.lax.fori_loop update an array of 8 MiB in place if each step reads at a randomly drawn index?"""
    import jax
    import jax.numpy as jnp

    draw = partial(jax.random.randint, shape=(), minval=0, maxval=2)

    def body(step: Any, xs: Any) -> Any:
        return xs.at[step].set(xs[draw(jax.random.PRNGKey(step))])

    return _copies(lambda x: jax.lax.fori_loop(0, 300, body, jnp.full(2**21, x)), _reads)


def what_it_computes() -> None:
    """A fori_loop that reads at randomly drawn indices computes the same values as Python."""
    import jax
    import jax.numpy as jnp

    draw = partial(jax.random.randint, shape=(), minval=0, maxval=2)
    body = lambda step, xs: xs.at[step + 2].set(xs[draw(jax.random.PRNGKey(step))])  # noqa: E731
    drawn = [int(draw(jax.random.PRNGKey(step))) for step in range(4)]
    assert jax.lax.fori_loop(0, 4, body, jnp.arange(6.0)).tolist() == [0.0, 1.0, *map(float, drawn)]


def draw_before() -> None:
    """If all indices are drawn before the loop, fori_loop updates the array in place."""
    import jax
    import jax.numpy as jnp

    def loop(x: Any) -> Any:
        drawn = jax.vmap(lambda i: jax.random.randint(jax.random.PRNGKey(i), (), 0, 2))(jnp.arange(300))
        return jax.lax.fori_loop(0, 300, lambda i, xs: xs.at[i].set(xs[drawn[i]]), jnp.full(2**21, x))

    assert _copies(loop, _reads)[0] == "in-place"


def draw_integers_before() -> None:
    """If one call draws all indices before the loop, updates of 4 MiB of integers are correct and in place."""
    import jax
    import jax.numpy as jnp

    def loop(x: Any) -> Any:
        drawn = jax.random.randint(jax.random.PRNGKey(3), (400,), 0, 100)
        start = jnp.full(2**20, x).astype(int)
        return jax.lax.fori_loop(0, 400, lambda i, xs: xs.at[i].set(xs[drawn[i]] + 1), start), drawn

    assert _copies(loop, _reads)[0] == "in-place"
    found, drawn = loop(5.0)
    wanted = [5] * 500
    for step, index in enumerate(drawn.tolist()):
        wanted[step] = wanted[index] + 1
    assert found[:500].tolist() == wanted


def wide_updates() -> tuple[str, str]:
    """Does jax.lax.fori_loop update an array of 8 MiB in place if each step writes a block of 4 KiB?"""
    import jax
    import jax.numpy as jnp

    def body(step: Any, xs: Any) -> Any:
        return jax.lax.dynamic_update_slice(xs, jnp.full(1024, 2.0 + step), (1024 * step,))

    return _copies(lambda x: jax.lax.fori_loop(0, 300, body, jnp.full(2**21, x)), _reads)


def stacked_by_scan() -> None:
    """lax.scan stacks blocks of 4 KiB without copying the whole stack at each step."""
    import jax
    import jax.numpy as jnp

    def blocks(x: Any) -> Any:
        return jax.lax.scan(lambda x, step: (x, jnp.full(1024, x + step)), x, jnp.arange(2048))

    assert _copies(blocks, _reads)[0] == "in-place"


def integers_stacked_by_scan() -> None:
    """lax.scan stacks blocks of integers, 8 KiB each, without copying the whole stack at each step."""
    import jax
    import jax.numpy as jnp

    def blocks(x: Any) -> Any:
        def body(block: Any, step: Any) -> Any:
            return block + step, block

        return jax.lax.scan(body, jnp.full(2048, x).astype(int), jnp.arange(512))[1].reshape(-1)

    assert _copies(blocks, _reads)[0] == "in-place"
    assert blocks(7.0)[::2048].tolist() == [7 + step * (step - 1) // 2 for step in range(512)]


_IN_LOOPS = "within('jax.lax.fori_loop', 'jax.lax.while_loop', 'jax.lax.scan')"

ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="jax#31284 jax#31282 equinox#1088", discussion="equinox#1104 diffrax#680"),
    control=what_it_computes,
    rules=(Rule("copies", "jaxlib==0.7.1", "jax#31284"), Rule("in-place")),
    cases=(
        Case(
            drawn_index,
            workaround=Workaround(
                "Except in bfloat16 and under jax.grad and jax.vmap, draw all indices before the loop.",
                draw_before,
                fails=("jaxlib==0.11.1",),
                elsewhere=draw_integers_before,
            ),
            touches=members("jax.Array.at", "set add", f" if {_IN_LOOPS} and not without('jax.random.randint')"),
        ),
        Case(
            wide_updates,
            workaround=Workaround(
                "Except in bfloat16, stack blocks with jax.lax.scan if each is written once, in order.",
                stacked_by_scan,
                elsewhere=integers_stacked_by_scan,
            ),
            touches=(f"jax.lax.dynamic_update_slice if {_IN_LOOPS} and unseen",),
        ),
    ),
)
