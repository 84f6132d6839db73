"""tree_map_params and SAM of an older Optax call the removed jax.tree_map

JAX deprecated `jax.tree_map` in favour of `jax.tree.map` (jax#19930), and later removed it. An older Optax still calls
it in `tree_map_params` and `contrib.sam`, which then raise an AttributeError. Optax itself imports, and Adam updates
parameters: the case `updates`.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, members


def map_params() -> tuple[str, str]:
    """Does optax.tree_map_params apply a function to the moments in Adam's state?"""
    import jax.numpy as jnp
    import optax

    optimizer = optax.adam(0.1)
    state = optimizer.init({"w": jnp.zeros(2)})
    found = optax.tree_map_params(optimizer, lambda moment: moment + 1, state)[0]
    as_it_should = found.mu["w"].tolist() == found.nu["w"].tolist() == [1.0, 1.0] and int(found.count) == 0
    return "maps" if as_it_should else "other-values", f"{found}"


def control() -> None:
    """JAX alone maps a function over a tree, and updates parameters under jit."""
    import jax
    import jax.numpy as jnp

    moved = jax.jit(lambda tree: jax.tree_util.tree_map(lambda leaf: leaf - 0.125, tree))({"w": jnp.ones(2)})
    assert moved["w"].tolist() == [0.875, 0.875]


def updates() -> tuple[str, str]:
    """Do optax.adam and optax.apply_updates update parameters under jit?"""
    import jax
    import jax.numpy as jnp
    import optax

    optimizer, weights = optax.adam(0.125), jnp.ones(2)
    updates, _ = jax.jit(optimizer.update)(weights, optimizer.init(weights), weights)
    found = optax.apply_updates(weights, updates)
    return "updates" if bool((abs(found - 0.875) < 1e-4).all()) else "other-values", f"{found}"


def sam() -> tuple[str, str]:
    """Does optax.contrib.sam update parameters?"""
    import jax.numpy as jnp
    import optax
    import optax.contrib

    if not hasattr(optax.contrib, "sam"):
        return "absent", "there is no optax.contrib.sam"
    optimizer, weights = optax.contrib.sam(optax.sgd(0.5), optax.sgd(0.25)), jnp.ones(2)
    state = optimizer.init(weights)
    for _ in range(2):
        updates, state = optimizer.update(weights, state, weights)
        weights = optax.apply_updates(weights, updates)
    return "updates" if bool((weights < 1).all()) else "other-values", f"{weights}"


_UPGRADE = Workaround("Upgrade to optax>=0.2.3.", pin="optax>=0.2.3")
_NO_TREE_MAP = {"no-tree-map": Signature("AttributeError", "tree_map", "optax")}
_REMOVED = Rule("no-tree-map", "optax>=0.1.5,<0.2.3 jax>=0.6.0", "the changelog of jax 0.6.0")

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(change="jax#19930", docs="jax:changelog.html#jax-0-6-0-april-16-2025"),
    touches=("Optax",),
    control=control,
    needs=("jax", "optax"),
    cases=(
        Case(
            map_params,
            touches=members("optax", "tree_map_params tree_utils.tree_map_params", " if shows('no-tree-map')"),
            workaround=_UPGRADE,
            behaviours={"maps": "clear", "other-values": "affected"},
            signatures=_NO_TREE_MAP,
            rules=(
                _REMOVED,
                Rule("maps", "optax>=0.1.5"),
            ),
        ),
        Case(
            sam,
            touches=("optax.contrib.sam if shows('no-tree-map')",),
            workaround=_UPGRADE,
            behaviours={"updates": "clear", "other-values": "affected"},
            signatures=_NO_TREE_MAP,
            rules=(
                Rule("no-tree-map", "optax>=0.1.9,<0.2.3 jax>=0.6.0", "the changelog of jax 0.6.0"),
                Rule("updates", "optax>=0.1.9"),
            ),
        ),
        Case(
            updates,
            behaviours={"updates": "clear", "other-values": "affected"},
            rules=(Rule("updates", "optax>=0.1.5"),),
        ),
    ),
)
