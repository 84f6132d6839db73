"""Unsorted static_argnums or nondiff_argnums reorder the arguments

With `static_argnums=(1, 0)`, JAX took the values in that order but filled sorted positions, so `a` and `b` changed
places (`jit`); jax#28069 sorts the numbers. A later jit of the same function reused the wrong program
(`called_before`). 44a13c9d4b made `jax.make_jaxpr` use jit (`make_jaxpr`). With `nondiff_argnums=(1, 0)`, the rule of a
`jax.custom_jvp` got its arguments in that order, until 0a1ada83ec, which adds `nondiff_argnames`, sorted them
(`custom_jvp_rule`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def make_jaxpr() -> tuple[str, str]:
    """Does the jaxpr of jax.make_jaxpr(f, static_argnums=(1, 0)) compute f?"""
    import jax

    def f(a: float, b: float, c: float) -> float:
        return a - 2 * b + 3 * c

    closed = jax.make_jaxpr(f, static_argnums=(1, 0))(1.0, 2.0, 3.0)
    return compare(jax.core.eval_jaxpr(closed.jaxpr, closed.consts, 3.0)[0], 6.0)


def in_order() -> None:
    """With sorted numbers and with names, jit and make_jaxpr compute f, and a rule gets its arguments in order."""
    import jax

    def f(a: float, b: float, c: float) -> float:
        return a - 2 * b + 3 * c

    assert jax.jit(f, static_argnums=(0, 1))(1.0, 2.0, 3.0) == 6.0
    assert jax.jit(f, static_argnames=("a", "b"))(1.0, 2.0, 3.0) == 6.0
    closed = jax.make_jaxpr(f, static_argnums=(0, 1))(1.0, 2.0, 3.0)
    assert jax.core.eval_jaxpr(closed.jaxpr, closed.consts, 3.0)[0] == 6.0
    given = []

    def rule(a: float, b: float, primals: tuple[float, ...], tangents: tuple[float, ...]) -> tuple[float, float]:
        given.append((a, b))
        return primals[0], tangents[0]

    custom = jax.custom_jvp(f, nondiff_argnums=(0, 1))
    custom.defjvp(rule)
    jax.jvp(lambda c: custom(1.0, 2.0, c), (3.0,), (1.0,))
    assert given == [(1.0, 2.0)]


def sorted_numbers() -> None:
    """With sorted static_argnums, strings, functions and shapes keep their places, also under grad, vmap and lower."""
    from collections.abc import Callable

    import jax
    import jax.numpy as jnp

    def f(sign: str, x: jax.Array, op: Callable[[jax.Array], jax.Array], shape: tuple[int, ...]) -> jax.Array:
        return (op(x) if sign == "+" else -op(x)) * jnp.ones(shape, x.dtype)

    for numbers in ((0, 2, 3), [0, 2, 3]):
        jitted = jax.jit(f, static_argnums=numbers)
        for dtype in ("float16", "float32", "int32"):
            x = jnp.array([[1, 2], [3, 4]], dtype)
            assert jitted("-", x, jnp.square, (2, 2)).tolist() == [[-1, -4], [-9, -16]]
            assert jitted.lower("+", x, jnp.square, (2, 1)).compile()(x).tolist() == [[1, 4], [9, 16]]
            assert jax.vmap(lambda row, g=jitted: g("+", row, jnp.square, (2,)))(x).tolist() == [[1, 4], [9, 16]]
        assert jax.grad(lambda x, g=jitted: g("-", x, jnp.square, ()))(3.0) == -6.0
        jaxpr = jax.make_jaxpr(f, static_argnums=numbers)("-", 3.0, jnp.square, ())
        assert jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, 3.0)[0] == -9.0


def sorted_rules() -> None:
    """With nondiff_argnums=(0, 2), jvp rules and vjp rules get a string and a shape in that order, and derivatives."""
    import jax
    import jax.numpy as jnp

    def f(sign: str, x: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        return (x if sign == "+" else -x) * jnp.ones(shape, x.dtype)

    def rule(sign: str, shape: tuple[int, ...], primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> object:
        return f(sign, primals[0], shape), 3 * f(sign, tangents[0], shape)

    def forward(sign: str, x: jax.Array, shape: tuple[int, ...]) -> tuple[jax.Array, None]:
        return f(sign, x, shape), None

    def backward(sign: str, shape: tuple[int, ...], _: None, cotangent: jax.Array) -> tuple[jax.Array]:
        return (3 * f(sign, cotangent, shape),)

    ruled, pulled = jax.custom_jvp(f, nondiff_argnums=(0, 2)), jax.custom_vjp(f, nondiff_argnums=(0, 2))
    ruled.defjvp(rule)
    pulled.defvjp(forward, backward)
    for g in (ruled, pulled):
        for dtype in ("float16", "float32", "bfloat16"):
            x = jnp.array([1, 2], dtype)
            got = jax.jit(jax.grad(lambda x, g=g: g("-", x, (2,)).astype("float32").sum()))(x)
            assert (got.dtype, got.tolist()) == (dtype, [-3, -3])


def jit() -> tuple[str, str]:
    """Does jax.jit(f, static_argnums=(1, 0))(1.0, 2.0, 3.0) return what f returns?"""
    import jax

    def f(a: float, b: float, c: float) -> float:
        return a - 2 * b + 3 * c

    return compare(jax.jit(f, static_argnums=(1, 0))(1.0, 2.0, 3.0), 6.0)


def called_before() -> tuple[str, str]:
    """Does jax.jit(f, static_argnums=(0, 1)) compute f after a jit of f with static_argnums=(1, 0)?"""
    import jax

    def f(a: float, b: float, c: float) -> float:
        return a - 2 * b + 3 * c

    jax.jit(f, static_argnums=(1, 0))(1.0, 2.0, 3.0)
    return compare(jax.jit(f, static_argnums=(0, 1))(1.0, 2.0, 3.0), 6.0)


def custom_jvp_rule() -> tuple[str, str]:
    """In which order does the rule of jax.custom_jvp(f, nondiff_argnums=(1, 0)) get the nondifferentiable arguments?"""
    import jax

    given = []

    def f(a: float, b: float, c: float) -> float:
        return a - 2 * b + 3 * c

    def rule(
        first: float, second: float, primals: tuple[float, ...], tangents: tuple[float, ...]
    ) -> tuple[float, float]:
        given.append((first, second))
        return primals[0], tangents[0]

    custom = jax.custom_jvp(f, nondiff_argnums=(1, 0))
    custom.defjvp(rule)
    jax.jvp(lambda c: custom(1.0, 2.0, c), (3.0,), (1.0,))
    return {(2.0, 1.0): "as-named", (1.0, 2.0): "sorted"}.get(
        given[0], "other"
    ), f"f(1, 2, c): the rule gets {given[0]}"


_NEW = Rule("agrees", "", "jax#28069 (9afc047bf0)")
# A negative number counts from the end, so its place in the order depends on the function.
_OUT_OF_ORDER = "seen(given({0})) and type({0}) in ('tuple', 'list') and min({0}) >= 0 and sorted({0}) != {0}".format
_OF_JIT = (f"jax.jit(fun, static_argnums) if {_OUT_OF_ORDER('static_argnums')}",)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#28065", cause="jax@1956ff7d7b jax@44a13c9d4b", fix="jax#28069", change="jax@0a1ada83ec"
    ),
    touches=("jax.jit(static_argnums=)", "jax.make_jaxpr(static_argnums=)", "jax.custom_jvp(nondiff_argnums=)"),
    control=in_order,
    rules=(Rule("differs", "jax<0.6.1"), _NEW),
    workaround=Workaround(
        "Write the numbers sorted, counted from 0: static_argnums=(0, 1).", in_order, elsewhere=sorted_numbers
    ),
    cases=(
        Case(
            make_jaxpr,
            rules=(
                Rule("agrees", "jax<0.4.27"),
                Rule("agrees", "jax==0.4.28", "96f888bcfe reverts 1956ff7d7b, which made make_jaxpr use jit"),
                Rule("differs", "jax<0.6.1", "44a13c9d4b makes make_jaxpr use jit again"),
                _NEW,
            ),
            touches=(f"jax.make_jaxpr(fun, static_argnums) if {_OUT_OF_ORDER('static_argnums')}",),
        ),
        Case(jit, touches=_OF_JIT),
        Case(called_before, touches=_OF_JIT),
        Case(
            custom_jvp_rule,
            behaviours={"as-named": "clear", "sorted": "affected", "other": "different"},
            rules=(Rule("as-named", "jax<0.6.2"), Rule("sorted", "", "0a1ada83ec")),
            workaround=Workaround(
                "Sort the numbers, and let the rule take its arguments in that order.",
                in_order,
                elsewhere=sorted_rules,
            ),
            touches=tuple(
                f"jax.{name}(fun, nondiff_argnums) if {_OUT_OF_ORDER('nondiff_argnums')}"
                for name in ("custom_jvp", "custom_vjp")
            ),
        ),
    ),
)
