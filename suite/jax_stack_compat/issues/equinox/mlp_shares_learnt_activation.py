"""An MLP with a learnt activation has one set of its parameters for all neurons, up to Equinox 0.11.1

    mlp = eqx.nn.MLP(2, 3, 4, 2, activation=eqx.nn.PReLU(0.1), key=key)
    mlp.activation.negative_slope.shape    # () up to 0.11.1, and (2, 4), a layer and a neuron, from 0.11.2

You'd expect a slope for each neuron, as upstream says it was meant ("the exact same weights for every neuron!"). Up to
Equinox 0.11.1 all layers and neurons train one number together. From 0.11.2 each has a copy of its own; so has
`final_activation`, for each output.

Seen in these runs:

- A checkpoint with one slope for all loads up to 0.11.1. From 0.11.2 on it is refused, for its leaf has another shape.
- A network whose activation is a function is right from Equinox 0.11.0 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, members


def hidden_layers() -> tuple[str, str]:
    """Has each hidden neuron an activation of its own?"""
    import equinox as eqx
    import jax

    mlp = eqx.nn.MLP(2, 3, 4, 2, activation=eqx.nn.PReLU(0.1), key=jax.random.PRNGKey(0))
    shape = mlp.activation.negative_slope.shape
    return {(): "shared", (2, 4): "per-neuron"}.get(shape, "other-shape"), f"the shape of the slope is {shape}"


def control_function() -> None:
    """With a function for an activation an MLP is right: the same as its layers one after another."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    mlp, x = eqx.nn.MLP(2, 3, 4, 2, activation=jax.nn.relu, key=jax.random.PRNGKey(0)), jnp.array([1.0, -2.0])
    first, second, last = mlp.layers
    assert jnp.allclose(mlp(x), last(jax.nn.relu(second(jax.nn.relu(first(x))))), atol=1e-6)


def one_by_one() -> None:
    """Activations of one's own, in a Sequential: one for a layer, or one for a neuron, on every release."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    linear = eqx.nn.Linear(2, 4, key=jax.random.PRNGKey(0))
    shared, own = eqx.nn.Lambda(eqx.nn.PReLU(0.1)), jax.vmap(eqx.nn.PReLU)(jnp.full(4, 0.1))
    each = eqx.nn.Lambda(lambda x: jax.vmap(lambda prelu, x: prelu(x))(own, x))
    x = jnp.array([1.0, -2.0])
    assert jnp.allclose(eqx.nn.Sequential([linear, shared])(x), eqx.nn.Sequential([linear, each])(x), atol=1e-6)


def outputs() -> tuple[str, str]:
    """Has each output an activation of its own?"""
    import equinox as eqx
    import jax

    mlp = eqx.nn.MLP(2, 3, 4, 2, final_activation=eqx.nn.PReLU(0.1), key=jax.random.PRNGKey(0))
    shape = mlp.final_activation.negative_slope.shape
    return {(): "shared", (3,): "per-neuron"}.get(shape, "other-shape"), f"the shape of the slope is {shape}"


def checkpoint() -> tuple[str, str]:
    """Does a checkpoint load whose activation has one slope for all?"""
    import io

    import equinox as eqx
    import jax

    mlp = eqx.nn.MLP(2, 3, 4, 2, activation=eqx.nn.PReLU(0.1), key=jax.random.PRNGKey(0))
    before = eqx.tree_at(lambda mlp: mlp.activation, mlp, eqx.nn.PReLU(0.5))
    eqx.tree_serialise_leaves(file := io.BytesIO(), before)
    file.seek(0)
    slope = eqx.tree_deserialise_leaves(file, mlp).activation.negative_slope
    return "loaded", f"the slope is {slope}"


_ACTIVATIONS = ("activation", "final_activation")
# A PReLU that is written there, or one from elsewhere.
_LEARNT = "form({0}) == 'equinox.nn.PReLU' or given({0}) and form({0}) == '' and uses('equinox.nn.PReLU')".format

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="equinox@8960b09"),
    touches=members(
        "equinox.nn", "MLP", "(a, b, c, d, activation, final_activation) if " + " or ".join(map(_LEARNT, _ACTIVATIONS))
    ),
    cases=(
        *(
            Case(
                reproducer,
                control_function,
                {"shared": "affected", "per-neuron": "clear", "other-shape": "different"},
                (Rule("shared", "equinox<0.11.2"), Rule("per-neuron", "", "8960b09")),
                Workaround("Write the layers in a Sequential, each with an activation of its own.", one_by_one),
                needs=("jax", "equinox"),
            )
            for reproducer in (hidden_layers, outputs)
        ),
        Case(
            checkpoint,
            control_function,
            {"loaded": "clear"},
            (Rule("loaded", "equinox<0.11.2"), Rule("refused", "", "the leaf has another shape")),
            signatures={"refused": Signature("RuntimeError", "shape")},
            needs=("jax", "equinox"),
        ),
    ),
)
