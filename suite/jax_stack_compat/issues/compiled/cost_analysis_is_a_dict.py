"""compiled.cost_analysis() is a dict since jax 0.5.0: it was a list with a dict in it

    compiled.cost_analysis()[0]["flops"]    # KeyError: 0 from jax 0.5.0
    compiled.cost_analysis()["flops"]       # TypeError: list indices must be integers … up to jax 0.4.38

One device runs one program, and the list never held more than one. The changelog has the change under 0.4.38. The run
has it in 0.5.0: what changed in 0.4.38's time came with the jaxlib after it. Code that counts floating-point
operations, to tell how busy a device is, stops at either. What `lowered.cost_analysis()` gives was a dict all along.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def in_a_list() -> tuple[str, str]:
    """Does cost_analysis()[0] of a compiled function have its flops?"""
    import jax
    import jax.numpy as jnp

    compiled = jax.jit(lambda x: x @ x).lower(jnp.ones((4, 4))).compile()
    return "list", f"{compiled.cost_analysis()[0]['flops']}"


def of_what_is_lowered() -> None:
    """What is lowered has them in a dict on every release."""
    import jax
    import jax.numpy as jnp

    assert jax.jit(lambda x: x @ x).lower(jnp.ones((4, 4))).cost_analysis()["flops"] == 128.0


def either() -> None:
    """Whichever it is."""
    import jax
    import jax.numpy as jnp

    costs = jax.jit(lambda x: x @ x).lower(jnp.ones((4, 4))).compile().cost_analysis()
    costs = costs[0] if isinstance(costs, list) else costs
    assert costs["flops"] == 128.0, costs


def in_a_dict() -> tuple[str, str]:
    """Does cost_analysis() itself?"""
    import jax
    import jax.numpy as jnp

    compiled = jax.jit(lambda x: x @ x).lower(jnp.ones((4, 4))).compile()
    return "dict", f"{compiled.cost_analysis()['flops']}"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(docs="jax:changelog.html#jax-0-4-38-dec-17-2024"),
    touches=("jax.stages.Compiled.cost_analysis if within('[]')",),
    control=of_what_is_lowered,
    rules=(Rule("list", "jax<0.5.0"), Rule("dict")),
    workaround=Workaround("Take either: costs[0] if isinstance(costs, list) else costs.", either),
    cases=(
        Case(in_a_list, behaviours={"list": "clear"}, signatures={"dict": Signature("KeyError", "0")}),
        Case(
            in_a_dict,
            behaviours={"dict": "clear", "list": "guarded"},
            signatures={"list": Signature("TypeError", "list indices must be integers", everyday=True)},
        ),
    ),
)
