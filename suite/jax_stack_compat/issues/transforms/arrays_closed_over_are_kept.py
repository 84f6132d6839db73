"""Caches keep arrays that cond branches and inner jits close over

A cache of traced `jax.lax.cond` branches held the arrays that the branches close over, until 8db862c02e (jax#12719).
9cf81e4d12 cached the abstract values of primitives under keys that held an inner jit's arrays (`jit_in_jit`); jax#30009
made these references weak. A jitted scan with a jitted body kept closed-over arrays even before (`scan_of_jit`).
Outside `jit`, a cache of compiled primitives holds a scan's jitted body (`eager_scan`), as jax#30009 notes in its code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _kept(closes_over: Callable[[Any], Any]) -> tuple[str, str]:
    """Call three functions that each close over a 40 KB array, and count the arrays that stay alive."""
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
    """Does JAX free an array that a branch of a jitted lax.cond closes over?"""
    import jax

    return _kept(lambda big: jax.jit(lambda x: jax.lax.cond(x > 0, lambda: big[0], lambda: 0.0))(1.0))


def scan() -> None:
    """JAX frees an array that the body of a jitted lax.scan closes over."""
    import jax

    def closes_over(big: Any) -> Any:
        return jax.jit(lambda x: jax.lax.scan(lambda x, _: (x + big[0], None), x, None, length=3)[0])(1.0)

    assert _kept(closes_over)[0] == "freed"


def as_an_argument() -> None:
    """JAX frees an array that jitted functions take as an argument."""
    import jax

    choose = jax.jit(lambda x, big: jax.lax.cond(x > 0, lambda big: big[0], lambda big: 0.0, big))
    add = jax.jit(lambda x, big: jax.jit(lambda y, big: y + big[0])(x, big))
    assert _kept(lambda big: (choose(1.0, big), add(1.0, big)))[0] == "freed"


def arguments_closed_over() -> None:
    """JAX frees arguments of the outermost jit that inner functions close over, also under grad and vmap."""
    import gc
    from functools import partial

    import jax
    import jax.numpy as jnp

    def loss(x: Any, weights: Any) -> Any:
        rows = [lambda: weights.sum(0), jax.jit(lambda: weights[1])]
        row = jax.lax.switch(1, rows) + jax.jit(lambda: weights[0])()
        step = jax.jit(lambda carry, _: (carry + row * weights[2], None))
        return jax.lax.scan(step, x, None, length=2)[0].sum()

    for dtype in (jnp.float16, jnp.int32, jnp.float32):
        function = jax.jit(jax.grad(loss) if dtype == jnp.float16 else loss)
        jax.block_until_ready(
            jax.vmap(partial(function, weights=jnp.ones((3, 1009), dtype)))(jnp.ones((2, 1009), dtype))
        )
    gc.collect()
    assert not [array for array in jax.live_arrays() if array.shape == (3, 1009)]


def jit_in_jit() -> tuple[str, str]:
    """Does JAX free an array that a jax.jit within a jax.jit closes over?"""
    import jax

    return _kept(lambda big: jax.jit(lambda x: jax.jit(lambda y: y + big[0])(x))(1.0))


def scan_of_jit() -> tuple[str, str]:
    """Does JAX free an array that the jitted body of a jitted lax.scan closes over?"""
    import jax

    def closes_over(big: Any) -> Any:
        body = jax.jit(lambda x, _: (x + big[0], None))
        return jax.jit(lambda x: jax.lax.scan(body, x, None, length=3)[0])(1.0)

    return _kept(closes_over)


def eager_scan() -> tuple[str, str]:
    """Does JAX free an array that the jitted body of a lax.scan outside jit closes over?"""
    import jax

    def closes_over(big: Any) -> Any:
        return jax.lax.scan(jax.jit(lambda x, _: (x + big[0], None)), 1.0, None, length=3)[0]

    return _kept(closes_over)


_BODIES = (
    "jax.lax.scan(f) if unseen and form(f) == 'jax.jit'",
    "jax.lax.map(f) if unseen and form(f) == 'jax.jit'",
    "jax.lax.fori_loop(lower, upper, body_fun) if unseen and form(body_fun) == 'jax.jit'",
    "jax.lax.while_loop(cond_fun, body_fun) if unseen and form(body_fun) == 'jax.jit'",
    "jax.jit if unseen and within('jax.lax.scan', 'jax.lax.map', 'jax.lax.fori_loop', 'jax.lax.while_loop')",
)

ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="jax#12719", cause="jax@9cf81e4d12", fix="jax@8db862c02e jax#30009"),
    control=scan,
    behaviours={"kept": "affected", "freed": "clear", "some": "different"},
    workaround=Workaround(
        "Jit the outermost function, and pass the array to it as an argument.",
        as_an_argument,
        elsewhere=arguments_closed_over,
    ),
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
            rules=(Rule("freed", "jax<0.7"), Rule("kept", "jax<0.7.1", "9cf81e4d12"), Rule("freed", "", "jax#30009")),
            touches=("jax.jit if unseen and within('jax.jit')",),
        ),
        Case(
            scan_of_jit,
            rules=(Rule("freed", "jax<0.4.24"), Rule("kept", "jax<0.7.1"), Rule("freed", "", "jax#30009")),
            touches=tuple(f"{body} and within('jax.jit')" for body in _BODIES),
        ),
        Case(
            eager_scan,
            rules=(Rule("kept", "", "xla_primitive_callable's cache, as jax#30009 notes"),),
            touches=tuple(f"{body} and not within('jax.jit')" for body in _BODIES),
        ),
    ),
)
