"""A Python number is traced apart from an array of its dtype: 1.0 is weakly typed, and jnp.float32(1.0) is not

    f(1.0); f(jnp.float32(1.0))      # two traces

A Python scalar takes the dtype of what it meets, so its type says "weak" beside float32, and a jitted function is
traced for either. The page on type promotion says what is weak, and not that it retraces; jax#4274 says that, with the
way out. A step that is first a number and then its own output is traced twice where an array of that dtype joins in,
for then its output is not weak.

Seen in these runs: without such an array the output stays weak, and the loop of jax#3163, reported in 2020 with two
traces, has one.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _traces(*values: Any) -> int:
    """How often a function is traced that is called with these values in turn."""
    import jax

    seen: list[int] = []

    def double(x: Any) -> Any:
        seen.append(1)
        return x * 2

    doubled = jax.jit(double)
    for each in values:
        doubled(each)
    return len(seen)


def number_then_array() -> tuple[str, str]:
    """How often is a function traced for 1.0 and then jnp.float32(1.0)?"""
    import jax.numpy as jnp

    traces = _traces(1.0, jnp.float32(1.0))
    return "retraced" if traces == 2 else "traced-once", f"{traces} traces of two calls"


def of_one_type() -> None:
    """For arrays of one dtype it is traced once."""
    import jax.numpy as jnp

    assert _traces(jnp.float32(1.0), jnp.float32(2.0)) == 1


def its_own_output() -> tuple[str, str]:
    """How often for 1.0 and then what came of it?"""
    import jax

    doubled = jax.jit(lambda x: x * 2)
    traces = _traces(1.0, doubled(1.0), doubled(doubled(1.0)))
    return "retraced" if traces == 2 else "traced-once", f"{traces} traces of three calls"


def its_output_of_an_array() -> tuple[str, str]:
    """How often for 1.0 and then what came of it, where a jnp.float32 is added?"""
    import jax
    import jax.numpy as jnp

    seen: list[int] = []

    def step(x: Any) -> Any:
        seen.append(1)
        return x + jnp.float32(1.0)

    stepped = jax.jit(step)
    stepped(stepped(stepped(1.0)))
    return ("retraced" if len(seen) == 2 else "traced-once"), f"{len(seen)} traces of three calls"


ISSUE = Issue(
    kind="retrace",
    upstream=Upstream.of(docs="jax:type_promotion.html#weak-types", report="jax#4274 jax#3163"),
    touches=("weak types", "jit cache"),
    control=of_one_type,
    behaviours={"retraced": "documented", "traced-once": "different"},
    rules=(Rule("retraced", "", "jax#4274"),),
    cases=(
        Case(number_then_array, workaround=Workaround("Begin with an array: f(jnp.float32(1.0)).", of_one_type)),
        Case(its_output_of_an_array, workaround=Workaround("Begin with an array: f(jnp.float32(1.0)).", of_one_type)),
        Case(
            its_own_output,
            behaviours={"traced-once": "clear", "retraced": "documented"},
            rules=(Rule("traced-once", "", "what comes of a weak type is weak"),),
        ),
    ),
)
