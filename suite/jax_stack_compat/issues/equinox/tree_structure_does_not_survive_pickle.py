"""A pickled tree structure of Equinox modules is not the same afterwards, and cannot be unflattened from 0.13.4 on

    structure = jax.tree_util.tree_structure(eqx.nn.Linear(2, 2, key=key))
    pickle.loads(pickle.dumps(structure)) == structure    # False with Equinox 0.12.2 to 0.13.2, and from 0.13.4

You'd expect what comes back to be equal, as it is for tuples and dicts: that is how a structure gets into a checkpoint
or to another process. equinox#992 has it of a module: one that JAX has made from its leaves, and whose fields are
annotated by jaxtyping, came back from pickle with other annotations, so that `jax.tree_util.tree_map` over it and the
original raises. equinox#993 mended that in 0.12.2. equinox#859 has it with an `InitVar`, and is open. With jaxtyping
before 0.2.38 pickle refuses such a module: "Can't pickle <class 'jaxtyping.Float[Array, '*shape']'>".

Seen in these runs:

- What Equinox puts into the structure for a field that is not there is an object that is compared by identity. Since
  0.12.2 it is another one after pickle, and the structures are unequal; 0.13.3 had an enum there, and was right.
- From 0.13.4 on `unflatten` of a structure that was pickled raises "'_Missing' object is not subscriptable". So a
  checkpoint that is a pair of leaves and structure cannot be loaded.
- `copy.deepcopy` of a structure does the same.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, members


def structure_equal() -> tuple[str, str]:
    """Is the tree structure of a layer equal to itself after pickle?"""
    import pickle

    import equinox as eqx
    import jax

    structure = jax.tree_util.tree_structure(eqx.nn.Linear(2, 2, key=jax.random.PRNGKey(0)))
    same = pickle.loads(pickle.dumps(structure)) == structure
    return ("equal" if same else "unequal"), f"structure == its copy by pickle is {same}"


def control_of_a_dict() -> None:
    """The tree structure of a dict of tuples is equal to itself after pickle, and makes one of its leaves."""
    import pickle

    import jax

    leaves, structure = jax.tree_util.tree_flatten({"a": (1.0, 2.0), "b": None})
    copied = pickle.loads(pickle.dumps(structure))
    assert copied == structure
    assert copied.unflatten(leaves) == {"a": (1.0, 2.0), "b": None}


def into_a_fresh_layer() -> None:
    """The leaves alone in the file, and the structure made anew by code: what tree_serialise_leaves does."""
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


def unflatten() -> tuple[str, str]:
    """Does a tree structure that was pickled make a layer of its leaves?"""
    import pickle

    import equinox as eqx
    import jax

    layer = eqx.nn.Linear(2, 2, key=jax.random.PRNGKey(0))
    leaves, structure = jax.tree_util.tree_flatten(layer)
    restored = pickle.loads(pickle.dumps(structure)).unflatten(leaves)
    same = (restored.weight == layer.weight).all() and (restored.bias == layer.bias).all()
    return ("restored" if same else "other-leaves"), f"weight and bias are as before: {same}"


def module_equal() -> tuple[str, str]:
    """Has a layer annotated by jaxtyping, made from its leaves, the same structure after pickle?"""
    import pickle

    import equinox as eqx
    import jax

    leaves, structure = jax.tree_util.tree_flatten(eqx.nn.LayerNorm(2))
    layer = structure.unflatten(leaves)
    same = jax.tree_util.tree_structure(pickle.loads(pickle.dumps(layer))) == structure
    return ("equal" if same else "unequal"), f"the structure of the layer by pickle is that of the layer: {same}"


_MODULES = " if uses('equinox.Module')"
_STRUCTURES = (
    *members("jax.tree_util", "tree_structure tree_flatten", _MODULES),
    *members("jax.tree", "structure flatten", _MODULES),
)

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="equinox#992 equinox#859", fix="equinox#993"),
    touches=("pickle",),
    control=control_of_a_dict,
    workaround=Workaround(
        "Keep the leaves with eqx.tree_serialise_leaves; let code make the structure.", into_a_fresh_layer
    ),
    needs=("jax", "equinox"),
    cases=(
        Case(
            structure_equal,
            rules=(
                Rule("equal", "equinox<0.12.2"),
                Rule("unequal", "equinox<0.13.3"),
                Rule("equal", "equinox<0.13.4", "0.13.3 has an enum for what is missing"),
                Rule("unequal", "", "of 218c944 in 0.13.4"),
            ),
            touches=_STRUCTURES,
        ),
        Case(
            unflatten,
            behaviours={"restored": "clear", "other-leaves": "affected"},
            rules=(Rule("restored", "equinox<0.13.4"), Rule("type-error", "", "of 218c944 in 0.13.4")),
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
            touches=members("jax", "tree_util.tree_unflatten tree.unflatten", _MODULES),
        ),
    ),
)
