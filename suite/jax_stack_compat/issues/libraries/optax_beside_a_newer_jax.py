"""optax.tree_map_params of Optax 0.1.5 to 0.2.2 calls jax.tree_map, which jax 0.6.0 removed

    optax.tree_map_params(optimizer, f, state)    # 0.2.2 beside jax 0.6.0: AttributeError: jax.tree_map was removed
                                                  # 0.2.3 beside it: fine

You'd expect an installer to keep them apart. It cannot: these releases ask for jax 0.1.55 or newer, and set no upper
bound. Most of Optax took the function from `jax.tree_util`, where it stayed: so it imports, Adam updates, and what
fails are the few functions that took it from `jax` itself: `tree_map_params`, which a sharded optimizer's state goes
through, SAM, and the distance over gradients. JAX warned for a year, from 0.4.26 on. Optax 0.1.4 does not import beside
jax 0.6.0: it asks for `jax.numpy.DeviceArray`.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def map_params() -> tuple[str, str]:
    """Does optax.tree_map_params map what Adam's state holds for each parameter?"""
    import jax.numpy as jnp
    import optax

    optimizer = optax.adam(0.1)
    state = optimizer.init({"w": jnp.zeros(2)})
    found = optax.tree_map_params(optimizer, lambda moment: moment + 1, state)[0]
    as_it_should = found.mu["w"].tolist() == found.nu["w"].tolist() == [1.0, 1.0] and int(found.count) == 0
    return "maps" if as_it_should else "other-values", f"{found}"


def control() -> None:
    """What both need of JAX by itself: a function of each leaf, and an update under jit."""
    import jax
    import jax.numpy as jnp

    moved = jax.jit(lambda tree: jax.tree_util.tree_map(lambda leaf: leaf - 0.125, tree))({"w": jnp.ones(2)})
    assert moved["w"].tolist() == [0.875, 0.875]


def updates() -> tuple[str, str]:
    """Does Adam update parameters under jit?"""
    import jax
    import jax.numpy as jnp
    import optax

    optimizer, weights = optax.adam(0.125), jnp.ones(2)
    updates, _ = jax.jit(optimizer.update)(weights, optimizer.init(weights), weights)
    found = optax.apply_updates(weights, updates)
    return "updates" if bool((abs(found - 0.875) < 1e-4).all()) else "other-values", f"{found}"


ISSUE = Issue(
    kind="import-error",
    upstream=Upstream.of(commit="jax#19930", changelog="jax:changelog.html#jax-0-6-0-april-16-2025"),
    touches=("Optax", "jax.tree_map"),
    control=control,
    needs=("jax", "optax"),
    cases=(
        Case(
            map_params,
            workaround=Workaround("Upgrade Optax with jax.", pin="optax>=0.2.3"),
            behaviours={"maps": "clear", "other-values": "affected"},
            signatures={"no-tree-map": Signature("AttributeError", "tree_map", "optax")},
            rules=(
                Rule("no-tree-map", "optax>=0.1.5,<0.2.3 jax>=0.6.0", "JAX's changelog of 0.6.0"),
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
