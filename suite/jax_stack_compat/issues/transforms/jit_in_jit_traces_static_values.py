"""A jitted function called by a jitted one returns tracers, also for what is static, by design

    add_one = jax.jit(lambda n: n + 1, static_argnums=0)
    jax.jit(lambda n: jnp.arange(add_one(n)), static_argnums=0)(5)    # ConcretizationTypeError; well without jit inside

What goes into jit as static is a Python value within, and what comes out is an array; in the tracing of another jit, a
tracer. So a helper that computes a shape must not be jitted, and a number that is passed to one is no number there.
jax#14666 asks since 2023 whether values that pass through could stay as they are, and jax#35090 in 2026.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def returned() -> tuple[str, str]:
    """Can a jitted function use what another makes of its static argument as a shape?"""
    import jax
    import jax.numpy as jnp

    add_one = jax.jit(lambda n: n + 1, static_argnums=0)
    return "static", f"{jax.jit(lambda n: jnp.arange(add_one(n)), static_argnums=0)(2)}"


def without_the_inner_jit() -> None:
    """Without jit inside it is; and as a static argument."""
    import jax
    import jax.numpy as jnp

    def add_one(n: int) -> int:
        return n + 1

    assert jax.jit(lambda n: jnp.arange(add_one(n)), static_argnums=0)(2).tolist() == [0, 1, 2]
    seen = []
    inner = jax.jit(lambda n: seen.append(isinstance(n, int)), static_argnums=0)
    jax.jit(lambda: inner(1))()
    assert seen == [True]


def passed() -> tuple[str, str]:
    """Is a Python number that a jitted function passes to another one there?"""
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
    upstream=Upstream.of(report="jax#14666 jax#35090"),
    touches=("jax.jit(static_argnums=)", "jax.jit(static_argnames=)", "tracing"),
    control=without_the_inner_jit,
    behaviours={"traced": "documented", "static": "different"},
    rules=(Rule("traced", "", "jax#14666 is open"),),
    workaround=Workaround(
        "Leave functions of static values unjitted, and pass numbers as static arguments.", without_the_inner_jit
    ),
    cases=(
        Case(
            returned, signatures={"traced": Signature("ConcretizationTypeError", "Abstract tracer value encountered")}
        ),
        Case(passed),
    ),
)
