"""jit ignores the type of an equal static number passed by keyword

`jax.jit` compared static arguments passed by keyword with `==` alone, so a call with 1.0 after a call with 1 ran the
integer's program. e8659ed485 also compares the types, as the changelog had announced for static arguments.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def by_keyword() -> tuple[str, str]:
    """Does jax.jit trace separately for 1, 1.0 and True, passed by keyword as a static argument?"""
    import jax

    traced = []

    def function(x: int, static: Any) -> int:
        traced.append(static)
        return x * static  # type: ignore[no-any-return]

    jitted = jax.jit(function, static_argnames="static")
    dtypes = [jitted(1, static=value).dtype.name for value in (1, 1.0, True)]
    told = {1: "once", 3: "each-time"}.get(len(traced), "other")
    return told, f"{len(traced)} traces in 3 calls; x * static is {', '.join(dtypes)}"


def by_position() -> None:
    """By position, x * 1 is an integer, and x * 1.0 is a float."""
    import jax

    jitted = jax.jit(lambda x, static: x * static, static_argnums=1)
    assert [jitted(1, value).dtype.name for value in (1, 1.0, True)] == ["int32", "float32", "int32"]


def powers_by_position() -> None:
    """By position, an integer and a float divisor give the results of the function without jit."""
    import jax
    import jax.numpy as jnp

    def halves(x: jax.Array, n: float) -> jax.Array:
        return x // 2 if isinstance(n, int) else x / 2

    jitted = jax.jit(halves, static_argnums=1)
    for x in (jnp.array([[3, 4]]), jnp.array(5), jnp.zeros((0,), jnp.int8)):
        for n in (2, 2.0, 2):
            assert jitted(x, n).dtype == halves(x, n).dtype
            assert (jitted(x, n) == halves(x, n)).all()


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax@e8659ed485", docs="jax:changelog.html#jaxlib-0-1-76-jan-27-2022"),
    touches=("jax.jit(fun, static_argnums, static_argnames) if given(static_argnames) and unseen",),
    control=by_position,
    behaviours={"each-time": "clear", "once": "affected", "other": "different"},
    rules=(Rule("once", "jax<0.9.0"), Rule("each-time", "", "e8659ed485")),
    workaround=Workaround("Pass the number by position: jitted(x, 1.0).", by_position, elsewhere=powers_by_position),
    cases=(Case(by_keyword),),
)
