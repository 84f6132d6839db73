"""A layer in two places of a model trains as two

    model = (layer, layer)
    model = eqx.apply_updates(model, eqx.filter_grad(loss)(model))    # model[0] and model[1] are now two layers

You'd expect tied weights, as in libraries where a model is a graph of objects. To JAX it is a tree: the layer is in it
twice, has two gradients, each of its own place, and two updates. Nothing warns; the first step unties them. The page
of `eqx.nn.Shared`, which is for this, says so. It is in all releases of the line, from 0.11.0 on.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def after_a_step() -> tuple[str, str]:
    """Are the two places of a layer the same after a step of gradient descent?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    layer = eqx.nn.Linear(1, 1, key=jax.random.PRNGKey(0))

    def loss(model: Any) -> Any:
        return 2.0 * model[0](jnp.ones(1))[0] + 3.0 * model[1](jnp.ones(1))[0]

    model = eqx.apply_updates((layer, layer), eqx.filter_grad(loss)((layer, layer)))
    apart = float(abs(model[0].weight - model[1].weight)[0, 0])
    return ("tied" if apart < 1e-6 else "two"), f"their weights are {apart:.4g} apart"


def control_one_place() -> None:
    """A layer that is in the model once, and called twice, has the sum of the two gradients."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    x, layer = jnp.ones(1), eqx.nn.Linear(1, 1, key=jax.random.PRNGKey(0))
    gradient = eqx.filter_grad(lambda layer: 2.0 * layer(x)[0] + 3.0 * layer(x)[0])(layer)
    assert abs(float(gradient.weight[0, 0]) - 5.0) < 1e-5, gradient.weight


def shared() -> None:
    """eqx.nn.Shared keeps one of the two, and puts it in both places where the model is called."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    layer = eqx.nn.Linear(1, 1, key=jax.random.PRNGKey(0))
    model = eqx.nn.Shared((layer, layer), where=lambda pair: pair[1], get=lambda pair: pair[0])

    gradient = eqx.filter_grad(lambda model: sum(layer(jnp.ones(1))[0] for layer in model()))(model)
    first, second = eqx.apply_updates(model, gradient)()
    assert float(first.weight[0, 0]) == float(second.weight[0, 0]) != float(layer.weight[0, 0])


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(docs="equinox:api/nn/shared"),
    touches=("equinox.nn.Shared", "shared layers"),
    control=control_one_place,
    behaviours={"tied": "clear", "two": "documented"},
    rules=(Rule("two"),),
    workaround=Workaround("eqx.nn.Shared, or keep the layer in one place and call it twice.", shared),
    needs=("jax", "equinox"),
    cases=(Case(after_a_step),),
)
