"""compiled.cost_analysis() is a dict, no longer a list with one dict

`cost_analysis()[0]` raises KeyError, since JAX returns the dict itself (`in_a_list`); on older releases,
`cost_analysis()["flops"]` raises TypeError (`in_a_dict`). The documentation does not promise a consistent type. The
changelog lists jax@2d72e8de84, which made the change, one release too early.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def in_a_list() -> tuple[str, str]:
    """Does compiled.cost_analysis()[0]["flops"] return the flops?"""
    import jax
    import jax.numpy as jnp

    compiled = jax.jit(lambda x: x @ x).lower(jnp.ones((4, 4))).compile()
    return "list", f"{compiled.cost_analysis()[0]['flops']}"


def of_what_is_lowered() -> None:
    """lowered.cost_analysis(), an estimate before optimization, is a dict with the flops."""
    import jax
    import jax.numpy as jnp

    assert jax.jit(lambda x: x @ x).lower(jnp.ones((4, 4))).cost_analysis()["flops"] == 128.0


def either() -> None:
    """isinstance shows whether compiled.cost_analysis() returned a list or a dict."""
    import jax
    import jax.numpy as jnp

    costs = jax.jit(lambda x: x @ x).lower(jnp.ones((4, 4))).compile().cost_analysis()
    costs = costs[0] if isinstance(costs, list) else costs
    assert costs["flops"] == 128.0, costs


def other_programs() -> None:
    """An isinstance test finds the costs of a sum, a batched product and a loop, in a list and in a dict."""
    import jax
    import jax.numpy as jnp

    def loop(x: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 3, lambda i, y: y * 2.0, x)

    for function, x in (
        (jnp.sum, jnp.ones(7)),
        (lambda x: x @ x, jnp.ones((2, 3, 3), "float16")),
        (loop, jnp.ones(())),
    ):
        costs = jax.jit(function).lower(x).compile().cost_analysis()
        costs = costs[0] if isinstance(costs, list) else costs
        assert costs["bytes accessed"] > 0, costs


def in_a_dict() -> tuple[str, str]:
    """Does compiled.cost_analysis()["flops"] return the flops?"""
    import jax
    import jax.numpy as jnp

    compiled = jax.jit(lambda x: x @ x).lower(jnp.ones((4, 4))).compile()
    return "dict", f"{compiled.cost_analysis()['flops']}"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(change="jax@2d72e8de84", docs="jax:changelog.html#jax-0-4-38-dec-17-2024"),
    control=of_what_is_lowered,
    rules=(Rule("list", "jax<0.5.0"), Rule("dict", "", "jax@2d72e8de84")),
    workaround=Workaround(
        "Accept both types: costs[0] if isinstance(costs, list) else costs.", either, elsewhere=other_programs
    ),
    cases=(
        Case(
            in_a_list,
            behaviours={"list": "clear"},
            signatures={"dict": Signature("KeyError", "0")},
            touches=("jax.stages.Compiled.cost_analysis if within('[int]')",),
        ),
        Case(
            in_a_dict,
            behaviours={"dict": "clear"},
            signatures={"list": Signature("TypeError", "list indices must be integers", everyday=True)},
            touches=("jax.stages.Compiled.cost_analysis if within('[str]') and within('.compile')",),
        ),
    ),
)
