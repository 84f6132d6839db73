"""optax.tree_map_params of an older Optax calls the removed jax.tree_map

JAX deprecated `jax.tree_map` in favour of `jax.tree.map` (jax#19930), and later removed it. An older Optax still calls
it in `tree_map_params`, which then raises an AttributeError. Optax itself imports, and Adam updates parameters: the
case `updates`.
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
            workaround=Workaround("Upgrade Optax.", pin="optax>=0.2.3"),
            behaviours={"maps": "clear", "other-values": "affected"},
            signatures={"no-tree-map": Signature("AttributeError", "tree_map", "optax")},
            rules=(
                Rule("no-tree-map", "optax>=0.1.5,<0.2.3 jax>=0.6.0", "the changelog of jax 0.6.0"),
                Rule("maps", "optax>=0.1.5"),
            ),
        ),
        Case(
            updates,
            behaviours={"updates": "clear", "other-values": "affected"},
            rules=(Rule("updates", "optax>=0.1.5"),),
        ),
    ),
)
