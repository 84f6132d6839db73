"""An inner jax.jit turns static values into tracers within another jit

`jax.jit` traces each argument that is not static, as the page on tracing says, and within another jit returns tracers.
So a Python number becomes a tracer when an inner jit takes it (`passed`), and a static value when an inner jit returns
it (`returned`, `forwarded`). jax#14666, which is open, asks that a static value returned unchanged stay static. A jit
with `inline=True` returned Python numbers until c6482ed636, which ensures tracers (`inlined`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def returned() -> tuple[str, str]:
    """Under jax.jit, can jnp.arange take a number that an inner jit computes from a static argument?"""
    import jax
    import jax.numpy as jnp

    add_one = jax.jit(lambda n: n + 1, static_argnums=0)
    return "static", f"{jax.jit(lambda n: jnp.arange(add_one(n)), static_argnums=0)(2)}"


def without_the_inner_jit() -> None:
    """A value stays static without an inner jit, and as a static argument of an inner jit."""
    import jax
    import jax.numpy as jnp

    def add_one(n: int) -> int:
        return n + 1

    assert jax.jit(lambda n: jnp.arange(add_one(n)), static_argnums=0)(2).tolist() == [0, 1, 2]
    seen = []
    inner = jax.jit(lambda n: seen.append(isinstance(n, int)), static_argnums=0)
    jax.jit(lambda: inner(1))()
    assert seen == [True]


def padded_shapes() -> None:
    """Functions without jit compute shapes and names for a jitted function, also under vmap and grad."""
    import jax
    import jax.numpy as jnp

    def half(shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(length // 2 for length in shape)

    def dtype_name(is_short: bool) -> str:
        return "float16" if is_short else "float32"

    filled = jax.jit(lambda x, shape, is_short: jnp.full(half(shape), x, dtype_name(is_short)), static_argnums=(1, 2))
    assert filled(2, (4, 2), True).tolist() == [[2.0], [2.0]]
    assert filled(2.0, (0,), False).shape == (0,)
    assert jax.vmap(lambda x: filled(x, (4,), False))(jnp.arange(3)).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert jax.grad(lambda x: filled(x, (6,), False).sum())(1.0) == 3.0


def branches_of_an_inner_jit() -> None:
    """An inner jit branches on a static flag, a static string and None, passed by position and by name."""
    from functools import partial

    import jax
    import jax.numpy as jnp

    @partial(jax.jit, static_argnames=("sign", "is_doubled", "scale"))
    def inner(x: jax.Array, sign: str, is_doubled: bool, scale: float | None = None) -> jax.Array:
        x = -x if sign == "-" else x
        x = x + x if is_doubled else x
        return x if scale is None else x * scale

    outer = jax.jit(lambda x: inner(x, "-", True) + inner(x, sign="+", is_doubled=False, scale=2))
    assert outer(jnp.arange(3)).tolist() == [0, 0, 0]
    assert outer(jnp.ones((2, 2), jnp.float16)).tolist() == [[0, 0], [0, 0]]
    assert jax.grad(jax.jit(lambda x: inner(x, "-", True, 3.0)))(1.0) == -6.0


def forwarded() -> tuple[str, str]:
    """Can float() under jax.jit take a static argument that another jitted function returns unchanged?"""
    import jax

    same = jax.jit(lambda n: n, static_argnums=0)
    return "static", f"{jax.jit(lambda n: float(same(n)), static_argnums=0)(1)}"


def inlined() -> tuple[str, str]:
    """Under jax.jit, can jnp.arange take a number that an inner jit(inline=True) makes of a static argument?"""
    import jax
    import jax.numpy as jnp

    add_one = jax.jit(lambda n: n + 1, static_argnums=0, inline=True)
    return "static", f"{jax.jit(lambda n: jnp.arange(add_one(n)), static_argnums=0)(2)}"


def passed() -> tuple[str, str]:
    """Does a jitted function, called under jax.jit with a Python number, get a Python number?"""
    import jax

    seen = []

    def inner(n: int) -> int:
        seen.append(isinstance(n, int))
        return n

    jitted = jax.jit(inner)
    jax.jit(lambda: jitted(1))()
    return ("static" if seen[0] else "traced"), "it is an int" if seen[0] else "it is no int"


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#35090 jax#14666",
        docs="jax:tracing.html#different-kinds-of-jax-values",
        change="jax@c6482ed636",
        discussion="jax#9298",
    ),
    touches=("jax.jit(static_argnums=)", "jax.jit(static_argnames=)", "tracing"),
    control=without_the_inner_jit,
    behaviours={"traced": "documented", "static": "different"},
    rules=(Rule("traced", "", "jax#14666 is open"),),
    signatures={"traced": Signature("ConcretizationTypeError", "Abstract tracer value encountered")},
    workaround=Workaround(
        "Compute static values without jax.jit and jax.numpy; Python then computes them at each trace.",
        without_the_inner_jit,
        elsewhere=padded_shapes,
    ),
    cases=(
        Case(returned),
        Case(forwarded),
        Case(
            inlined,
            behaviours={"static": "clear", "traced": "documented"},
            rules=(Rule("static", "jax<0.6.1"), Rule("traced", "", "c6482ed636")),
        ),
        Case(
            passed,
            workaround=Workaround(
                "Mark the argument, if hashable, static in the inner jit, which compiles for each value.",
                without_the_inner_jit,
                elsewhere=branches_of_an_inner_jit,
            ),
        ),
    ),
)
