"""vmap and grad copy what a lax.while_loop or scan carries unchanged

`jax.vmap` batched the whole carry of a `while_loop` whose condition differs over the batch (google/flax#4700).
`jax.vmap` refused `out_axes=None` for a `fori_loop` within a `lax.cond` with a batched predicate (google/flax#4709).
`jax.grad` of a `scan` stacked a copy of an unchanged carry for each step (`scan`). JAX now makes an unchanged carry a
constant of the loop: jax#27970 in `while_loop`, and jax#28210 in `scan` and `fori_loop`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import GRADIENTS, MAPS, Case, Issue, Rule, Signature, Upstream, Workaround, compare


def _made(function: Callable[..., Any], *arguments: Any) -> int:
    """Count the float32 arrays of shape (10, 4096) in a function's jaxpr."""
    import jax

    return str(jax.make_jaxpr(function)(*arguments)).count("f32[10,4096]")


def while_loop_under_vmap() -> tuple[str, str]:
    """Does jax.vmap accept out_axes=None for what a lax.while_loop carries unchanged?"""
    import jax
    import jax.numpy as jnp

    def loop(weights: Any, x: Any, steps: Any) -> Any:
        body = lambda c: (c[0] + 1, c[1], c[2] @ c[1])  # noqa: E731
        return jax.lax.while_loop(lambda c: c[0] < steps, body, (0, weights, x))[1:]

    mapped = jax.vmap(loop, in_axes=(None, 0, 0), out_axes=(None, 0))
    return compare(mapped(jnp.full((2, 2), 0.5), jnp.ones((3, 2)), jnp.arange(3))[0], [[0.5, 0.5], [0.5, 0.5]])


def closed_over() -> None:
    """jax.vmap of a loop makes no batched copy of weights that the loop closes over."""
    import jax
    import jax.numpy as jnp

    weights = jnp.ones(4096)

    def loop(n: Any) -> Any:
        body = lambda c: (c[0] + 1, c[1] + weights[c[0]])  # noqa: E731
        return jax.lax.while_loop(lambda c: c[0] < n, body, (0, 0.0))[1]

    assert jax.vmap(loop)(jnp.arange(3)).tolist() == [0.0, 1.0, 2.0]
    assert _made(jax.vmap(loop), jnp.arange(10)) == 0


def returned_beside_the_loop() -> None:
    """If a loop closes over the weights, and the function returns them, jax.vmap accepts out_axes=None."""
    import jax
    import jax.numpy as jnp

    def in_while(weights: Any, x: Any, steps: Any) -> Any:
        body = lambda c: (c[0] + 1, c[1] @ weights)  # noqa: E731
        return weights, jax.lax.while_loop(lambda c: c[0] < steps, body, (0, x))[1]

    def in_cond(weights: Any, x: Any, steps: Any) -> Any:
        loop = lambda x: jax.lax.fori_loop(0, 3, lambda _, x: x @ weights, x)  # noqa: E731
        return weights, jax.lax.cond(steps < 2, loop, lambda x: x, x)

    for f in (in_while, in_cond):
        mapped = jax.vmap(f, in_axes=(None, 0, 0), out_axes=(None, 0))
        weights, x = mapped(jnp.full((2, 2), 0.5), jnp.ones((3, 2)), jnp.arange(3))
        assert (weights == 0.5).all(), weights
        assert x.tolist() == [[1.0, 1.0]] * 3, x


def other_weights() -> None:
    """If loops close over float16 weights, jax.grad of a scan and jax.vmap of a while_loop make no copies of them."""
    import jax
    import jax.numpy as jnp

    weights = {"w": jnp.linspace(-1.0, 1.0, 1024).reshape(32, 32).astype("float16"), "b": jnp.arange(32)}
    x, steps = jnp.ones(32, "float16"), jnp.arange(3)

    def step(x: Any, w: Any) -> Any:
        return jnp.tanh(w @ x + weights["b"] % 3)

    def scanned(w: Any) -> Any:
        return jax.lax.scan(lambda x, _: (step(x, w), None), x, None, length=7)[0].sum()

    def unrolled(w: Any) -> Any:
        last = x
        for _ in range(7):
            last = step(last, w)
        return last.sum()

    def loop(w: Any, steps: Any) -> Any:
        return jax.lax.while_loop(lambda c: c[0] < steps, lambda c: (c[0] + 1, step(c[1], w)), (0, x))[1]

    found, wanted = jax.jit(jax.grad(scanned))(weights["w"]), jax.grad(unrolled)(weights["w"])
    assert jnp.allclose(found.astype(float), wanted.astype(float), rtol=2e-2, atol=2e-2)
    assert "[7,32,32]" not in str(jax.make_jaxpr(jax.grad(scanned))(weights["w"]))
    assert "[3,32,32]" not in str(jax.make_jaxpr(jax.vmap(loop, (None, 0)))(weights["w"], steps))


def fori_loop_in_cond() -> tuple[str, str]:
    """Does jax.vmap accept out_axes=None for what a lax.fori_loop in a lax.cond carries unchanged?"""
    import jax
    import jax.numpy as jnp

    def loop(weights: Any, x: Any) -> Any:
        return jax.lax.fori_loop(0, 3, lambda _, c: (c[0], c[1] @ c[0]), (weights, x))

    def f(weights: Any, x: Any, steps: Any) -> Any:
        return jax.lax.cond(steps < 2, loop, lambda *unchanged: unchanged, weights, x)

    mapped = jax.vmap(f, in_axes=(None, 0, 0), out_axes=(None, 0))
    return compare(mapped(jnp.full((2, 2), 0.5), jnp.ones((3, 2)), jnp.arange(3))[0], [[0.5, 0.5], [0.5, 0.5]])


def scan() -> tuple[str, str]:
    """Does jax.grad of a lax.scan keep one copy of an unchanged carry, as of an array that the scan closes over?"""
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


def while_loop() -> tuple[str, str]:
    """Does jax.vmap of a lax.while_loop keep one copy of an unchanged carry for the whole batch?"""
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
_UNMAPPED = "(out_axes == None or type(out_axes) in ('tuple', 'list') and None in out_axes)"
_BATCHED = {
    "batched": (
        Signature("ValueError", "vmap has mapped output but out_axes is None", everyday=True),
        Signature("ValueError", "got axis spec None but output was batched", everyday=True),
    )
}
_TEXT = "Close over what the loop leaves unchanged, instead of carrying it."
_OUT_AXES = Workaround(_TEXT, returned_beside_the_loop, elsewhere=other_weights)

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="google/flax#4700 google/flax#4709", fix="jax#27970 jax#28210", discussion="jax#27937"),
    control=closed_over,
    behaviours={"stacked": "affected", "once": "clear"},
    workaround=Workaround(_TEXT, closed_over, elsewhere=other_weights),
    cases=(
        Case(
            while_loop_under_vmap,
            behaviours={"batched": "affected", "agrees": "clear", "differs": "different"},
            signatures=_BATCHED,
            rules=(Rule("batched", "jax<0.6.0", "flax#4700"), Rule("agrees", "", "jax#27970 (b3f49e42d9)")),
            workaround=_OUT_AXES,
            touches=(
                f"jax.vmap(fun, in_axes, out_axes) if {_UNMAPPED} and uses('jax.lax.while_loop')",
                "flax.nnx.while_loop if uses('flax.nnx.vmap')",
            ),
        ),
        Case(
            fori_loop_in_cond,
            behaviours={"batched": "affected", "agrees": "clear", "differs": "different"},
            signatures=_BATCHED,
            rules=(Rule("batched", "jax<0.6.1", "flax#4709"), Rule("agrees", "", "jax#28210 (69a02eec13)")),
            workaround=_OUT_AXES,
            touches=(
                f"jax.vmap(fun, in_axes, out_axes) if {_UNMAPPED} and uses('jax.lax.cond', 'jax.lax.switch') "
                "and uses('jax.lax.fori_loop', 'jax.lax.scan')",
                "flax.nnx.fori_loop if uses('flax.nnx.vmap') and uses('flax.nnx.cond')",
            ),
        ),
        Case(
            scan,
            rules=(Rule("stacked", "jax<0.6.1"), Rule("once", "", "jax#28210 (69a02eec13)")),
            touches=(
                f"jax.lax.scan(f, init) if {_CARRY('init')} and {GRADIENTS}",
                f"jax.lax.fori_loop(lower, upper, body_fun, init_val) if {_CARRY('init_val')} and {GRADIENTS}",
            ),
        ),
        Case(
            while_loop,
            rules=(Rule("stacked", "jax<0.6.0"), Rule("once", "", "jax#27970 (b3f49e42d9)")),
            touches=(
                f"jax.lax.while_loop(cond_fun, body_fun, init_val) if {_CARRY('init_val')} and {MAPS}",
                "jax.lax.fori_loop(lower, upper, body_fun, init_val) "
                f"if type(upper) != 'int' and {_CARRY('init_val')} and {MAPS}",
            ),
        ),
    ),
)
