"""The gradient of a scan keeps one copy per step of what the scan carries unchanged, up to jax 0.6.0

    def step(carry, _):
        weights, x = carry
        return (weights, jnp.sin(x) * weights), None    # weights: the same at every step

You'd expect the gradient to keep `weights` once. Up to jax 0.6.0 it stacked them, since what is carried may change: a
scan of a thousand steps over a layer's weights held a thousand of them, which code that carries a whole model, as
Flax's nnx does, ran into (google/flax#4709). From 0.6.1 JAX sees that they come out as they went in, and treats them as
if the function had closed over them (jax#28210, landed a second time). A `while_loop` has that since 0.6.0 (jax#27937):
before, under `vmap` with a condition of each batch's own, it made a copy for each of the batch. The answers never
differ, and nothing is timed: the arrays of that shape are counted in the jaxpr.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import GRADIENTS, MAPS, Case, Issue, Rule, Upstream, Workaround


def _made(function: Callable[..., Any], *arguments: Any) -> int:
    """How many arrays of 10 times 4096 floats a function makes, as its jaxpr has it."""
    import jax

    return str(jax.make_jaxpr(function)(*arguments)).count("f32[10,4096]")


def scan() -> tuple[str, str]:
    """Does the gradient of a scan keep what it carries unchanged once, as it does what it closes over?"""
    import jax
    import jax.numpy as jnp

    weights = jnp.ones(4096)

    def carried(x: Any) -> Any:
        step = lambda carry, _: ((carry[0], jnp.sin(carry[1]) * carry[0]), None)  # noqa: E731
        return jax.lax.scan(step, (weights, x), None, length=10)[0][1].sum()

    def closed_over(x: Any) -> Any:
        return jax.lax.scan(lambda x, _: (jnp.sin(x) * weights, None), x, None, length=10)[0].sum()

    more = _made(jax.grad(carried), weights) - _made(jax.grad(closed_over), weights)
    return ("stacked" if more > 0 else "once"), f"{more} more arrays of 10 × 4096 than where it is closed over"


def closed_over() -> None:
    """What a loop closes over is kept once on every release."""
    import jax
    import jax.numpy as jnp

    weights = jnp.ones(4096)

    def loop(n: Any) -> Any:
        body = lambda c: (c[0] + 1, c[1] + weights[c[0]])  # noqa: E731
        return jax.lax.while_loop(lambda c: c[0] < n, body, (0, 0.0))[1]

    assert jax.vmap(loop)(jnp.arange(3)).tolist() == [0.0, 1.0, 2.0]
    assert _made(jax.vmap(loop), jnp.arange(10)) == 0


def while_loop() -> tuple[str, str]:
    """Does a while_loop under vmap keep what it carries unchanged once for the batch?"""
    import jax
    import jax.numpy as jnp

    def carried(n: Any) -> Any:
        body = lambda c: (c[0] + 1, c[1], c[2] + c[1][c[0]])  # noqa: E731
        return jax.lax.while_loop(lambda c: c[0] < n, body, (0, jnp.ones(4096), 0.0))[2]

    made = _made(jax.vmap(carried), jnp.arange(10))
    return ("stacked" if made else "once"), f"{made} arrays of 10 × 4096"


# A single number, numbers alone, or nothing, is not carried along unchanged.
_CARRY = (
    "type({0}) not in ('NoneType', 'bool', 'int', 'float') and {0} != () and not type(max({0})) in ('int', 'float')"
).format

ISSUE = Issue(
    kind="slow",
    upstream=Upstream.of(report="google/flax#4709 google/flax#4700", fix="jax#27937 jax#28210"),
    control=closed_over,
    behaviours={"stacked": "affected", "once": "clear"},
    workaround=Workaround("Leave it out of the carry, and let the function close over it.", closed_over),
    cases=(
        Case(
            scan,
            rules=(Rule("stacked", "jax<0.6.1", "flax#4709"), Rule("once", "", "jax#28210")),
            touches=(
                f"jax.lax.scan(f, init) if {_CARRY('init')} and {GRADIENTS}",
                f"jax.lax.fori_loop(lower, upper, body_fun, init_val) if {_CARRY('init_val')} and {GRADIENTS}",
            ),
        ),
        Case(
            while_loop,
            rules=(Rule("stacked", "jax<0.6.0", "flax#4700"), Rule("once", "", "jax#27937 (6e52b1e95b)")),
            touches=(
                f"jax.lax.while_loop(cond_fun, body_fun, init_val) if {_CARRY('init_val')} and {MAPS}",
                "jax.lax.fori_loop(lower, upper, body_fun, init_val) "
                f"if type(upper) != 'int' and {_CARRY('init_val')} and {MAPS}",
            ),
        ),
    ),
)
