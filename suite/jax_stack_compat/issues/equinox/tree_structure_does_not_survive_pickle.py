"""An Equinox module's pickled tree structure differs or cannot unflatten

Since d4d0f1a a structure holds a marker object for absent fields. Pickle replaces the marker by another object, so the
structures compare unequal (`structure_equal`), unless the marker is a member of an enum. Since 218c944 the marker is a
`_Missing`, and `unflatten` of a pickled structure raises. equinox#992 reports another fault, of a pickled layer with
jaxtyping annotations (`module_equal`), which equinox#993 fixed.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, members


def structure_equal() -> tuple[str, str]:
    """Is the tree structure of an eqx.nn.Linear equal to its copy by pickle?"""
    import pickle

    import equinox as eqx
    import jax

    structure = jax.tree_util.tree_structure(eqx.nn.Linear(2, 2, key=jax.random.PRNGKey(0)))
    same = pickle.loads(pickle.dumps(structure)) == structure
    return ("equal" if same else "unequal"), f"structure == its copy by pickle is {same}"


def control_of_a_dict() -> None:
    """The tree structure of a dict of tuples equals its copy by pickle, which unflattens the leaves."""
    import pickle

    import jax

    leaves, structure = jax.tree_util.tree_flatten({"a": (1.0, 2.0), "b": None})
    copied = pickle.loads(pickle.dumps(structure))
    assert copied == structure
    assert copied.unflatten(leaves) == {"a": (1.0, 2.0), "b": None}


def into_a_fresh_layer() -> None:
    """Save the leaves alone, and load them into a layer that code has made."""
    import io

    import equinox as eqx
    import jax

    first, second = (eqx.nn.Linear(2, 2, key=jax.random.PRNGKey(seed)) for seed in (0, 1))
    for layer, fresh in ((first, second), (eqx.nn.LayerNorm(2), eqx.nn.LayerNorm(2))):
        eqx.tree_serialise_leaves(file := io.BytesIO(), layer)
        file.seek(0)
        restored = eqx.tree_deserialise_leaves(file, fresh)
        assert (restored.weight == layer.weight).all()
        assert jax.tree_util.tree_structure(restored) == jax.tree_util.tree_structure(layer)


def into_a_fresh_model() -> None:
    """The same through a file, for a module of an MLP, a dict of other dtypes, a Python float and a static field."""
    import pathlib
    import tempfile

    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Model(eqx.Module):  # type: ignore[misc]
        mlp: eqx.nn.MLP
        state: dict[str, jax.Array]
        scale: float
        name: str = eqx.field(static=True)

    def make(seed: int) -> Model:
        mlp = eqx.nn.MLP(2, 1, 3, 1, key=jax.random.PRNGKey(seed))
        state = {"steps": jnp.int32(seed), "empty": jnp.zeros((0, 2), jnp.float16), "mask": jnp.array([seed > 0, True])}
        return Model(mlp, state, float(seed), "model")

    model, fresh = make(1), make(0)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.eqx")
        eqx.tree_serialise_leaves(path, model)
        restored = eqx.tree_deserialise_leaves(path, fresh)
    assert eqx.tree_equal(restored, model)
    assert not eqx.tree_equal(restored, fresh)
    assert jax.tree_util.tree_structure(restored) == jax.tree_util.tree_structure(model)
    assert restored.mlp(jnp.ones(2)) == model.mlp(jnp.ones(2))


def unflatten() -> tuple[str, str]:
    """Does a pickled tree structure of an eqx.nn.Linear unflatten the leaves to that layer?"""
    import pickle

    import equinox as eqx
    import jax

    layer = eqx.nn.Linear(2, 2, key=jax.random.PRNGKey(0))
    leaves, structure = jax.tree_util.tree_flatten(layer)
    restored = pickle.loads(pickle.dumps(structure)).unflatten(leaves)
    same = (restored.weight == layer.weight).all() and (restored.bias == layer.bias).all()
    return ("restored" if same else "other-leaves"), f"weight and bias are as before: {same}"


def module_equal() -> tuple[str, str]:
    """Does an unflattened eqx.nn.LayerNorm keep its tree structure through pickle?"""
    import pickle

    import equinox as eqx
    import jax

    leaves, structure = jax.tree_util.tree_flatten(eqx.nn.LayerNorm(2))
    layer = structure.unflatten(leaves)
    same = jax.tree_util.tree_structure(pickle.loads(pickle.dumps(layer))) == structure
    return ("equal" if same else "unequal"), f"the structure of the layer by pickle is that of the layer: {same}"


_MODULES = (
    " if uses('pickle') and uses('equinox.Module', 'equinox.nn.Linear', 'equinox.nn.MLP', 'equinox.nn.LayerNorm')"
)
_STRUCTURES = (
    *members("jax.tree_util", "tree_structure tree_flatten", _MODULES),
    *members("jax.tree", "structure flatten", _MODULES),
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="equinox#992", cause="equinox@d4d0f1a equinox@218c944", fix="equinox#993"),
    touches=("pickle",),
    control=control_of_a_dict,
    workaround=Workaround(
        "Save leaves of NumPy's dtypes with eqx.tree_serialise_leaves; load with eqx.tree_deserialise_leaves "
        "into a new module.",
        into_a_fresh_layer,
        elsewhere=into_a_fresh_model,
    ),
    needs=("jax", "equinox"),
    cases=(
        Case(
            structure_equal,
            rules=(
                Rule("equal", "equinox<0.12.2"),
                Rule("unequal", "equinox<0.13.3"),
                Rule("equal", "equinox<0.13.4", "The marker is a member of an enum"),
                Rule("unequal", "", "218c944"),
            ),
            touches=_STRUCTURES,
        ),
        Case(
            unflatten,
            behaviours={"restored": "clear", "other-leaves": "affected", "type-error": "affected"},
            rules=(Rule("restored", "equinox<0.13.4"), Rule("type-error", "", "218c944")),
            signatures={"type-error": Signature("TypeError", "'_Missing' object is not subscriptable")},
            touches=_STRUCTURES,
        ),
        Case(
            module_equal,
            behaviours={"pickling-error": "guarded"},
            rules=(
                Rule("pickling-error", "jaxtyping<0.2.38", "jaxtyping#295"),
                Rule("unequal", "equinox<0.12.2", "equinox#992"),
                Rule("equal", "", "equinox#993 (4995b2b)"),
            ),
            signatures={"pickling-error": Signature("PicklingError", "jaxtyping.Float")},
            needs=("jax", "jaxtyping", "equinox"),
            touches=members("equinox", "Module nn.Linear nn.MLP nn.LayerNorm", " if uses('pickle')"),
        ),
    ),
)
