"""jax.jit retraces for an array after a Python number of the same dtype

A Python int, float or complex has a weak type: combined with an array of its kind, it takes the array's dtype.
`jax.jit` traces a function separately for weak types, a gotcha of training loops (jax#4274). A float plus a float32
array is not weak, so `jax.jit` traces a step twice if its input is first a float and then its own output
(`its_output_of_an_array`). A float times a Python number stays weak (`its_own_output`); jax#3163, which is closed,
reports otherwise.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _traces(*values: Any) -> int:
    """Return how often jax.jit traces a function that is called with these values in turn."""
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
    """How often does jax.jit trace a function that is called with 1.0 and then with jnp.float32(1.0)?"""
    import jax.numpy as jnp

    traces = _traces(1.0, jnp.float32(1.0))
    return "retraced" if traces == 2 else "traced-once", f"{traces} traces of two calls"


def of_one_type() -> None:
    """jax.jit traces a function once for two arrays of one dtype."""
    import jax.numpy as jnp

    assert _traces(jnp.float32(1.0), jnp.float32(2.0)) == 1


def arrays_in_a_loop() -> None:
    """In a loop, jax.jit traces a step of float16 and int32 arrays once, and jax#4274's function of np.float32, too."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    seen: list[str] = []

    def step(state: dict[str, Any]) -> dict[str, Any]:
        seen.append("step")
        slope = jax.grad(lambda w: jnp.sum(w**2))(state["w"])
        return {"w": state["w"] - state["rate"] * slope, "rate": state["rate"] * jnp.float16(0.5), "n": state["n"] + 1}

    def add(x: Any) -> Any:
        seen.append("add")
        return x + np.float32(0.0)

    state = {"w": jnp.ones((2, 3), jnp.float16), "rate": jnp.float16(0.25), "n": jnp.int32(0)}
    stepped, added, x = jax.jit(step), jax.jit(add), np.float32(0.0)
    for _ in range(3):
        state, x = stepped(state), added(x)
    assert sorted(seen) == ["add", "step"]
    assert (state["w"].dtype, state["rate"].dtype, int(state["n"])) == (jnp.float16, jnp.float16, 3)


def its_own_output() -> tuple[str, str]:
    """How often does jax.jit trace x * 2 for x = 1.0, and then for each result as the next x?"""
    import jax

    doubled = jax.jit(lambda x: x * 2)
    traces = _traces(1.0, doubled(1.0), doubled(doubled(1.0)))
    return "retraced" if traces == 2 else "traced-once", f"{traces} traces of three calls"


def its_output_of_an_array() -> tuple[str, str]:
    """How often does jax.jit trace x + jnp.float32(1.0) for x = 1.0, and then for each result as the next x?"""
    import jax
    import jax.numpy as jnp

    seen: list[int] = []

    def step(x: Any) -> Any:
        seen.append(1)
        return x + jnp.float32(1.0)

    stepped = jax.jit(step)
    stepped(stepped(stepped(1.0)))
    return ("retraced" if len(seen) == 2 else "traced-once"), f"{len(seen)} traces of three calls"


_ARRAY = Workaround(
    "Give the first value the later values' shape, and their dtype explicitly: f(jnp.float32(1.0)), "
    "not f(jnp.asarray(1.0)).",
    of_one_type,
    elsewhere=arrays_in_a_loop,
)

ISSUE = Issue(
    kind="retrace",
    upstream=Upstream.of(docs="jax:type_promotion.html#weak-types", report="jax#4274 jax#3163"),
    touches=("weak types", "jit cache"),
    control=of_one_type,
    behaviours={"retraced": "documented", "traced-once": "different"},
    rules=(Rule("retraced", "", "jax#4274"),),
    cases=(
        Case(number_then_array, workaround=_ARRAY),
        Case(its_output_of_an_array, workaround=_ARRAY),
        Case(
            its_own_output,
            behaviours={"traced-once": "clear", "retraced": "documented"},
            rules=(Rule("traced-once", "", "a sum or product of weak types is weak"),),
        ),
    ),
)
