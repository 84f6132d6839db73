"""e3nn-jax fails where Equinox does not import, and its scatter_mean wherever jax.tree_map is gone

    import e3nn_jax    # 0.20.7, Equinox 0.11.4 and jax 0.4.34: AttributeError: jax.core.pp_eqn_rules was removed
    e3nn_jax.scatter_mean(x, nel=counts, map_back=True)    # from jax 0.6.0: AttributeError: jax.tree_map was removed

You'd expect a library that you do not use not to matter. e3nn-jax looks whether Equinox is there, and passes over an
ImportError alone: an Equinox that jax has left behind fails with another error, and e3nn-jax with it. The second one is
of its own: `scatter_mean` with `map_back` and `nel`, and `find_peaks`, call `jax.tree_map`, which JAX removed in 0.6.0,
in e3nn-jax 0.20.4 to 0.21.0, the newest. Its metadata sets no bound on jax, lower or upper.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def multiplies() -> tuple[str, str]:
    """Does e3nn-jax import, and multiply two vectors under jit?"""
    import e3nn_jax
    import jax
    import jax.numpy as jnp

    x = e3nn_jax.IrrepsArray("1o", jnp.array([1.0, 2.0, 2.0]))
    found = jax.jit(e3nn_jax.tensor_product)(x, x)
    return "multiplies" if str(found.irreps) == "1x0e+1x1e+1x2e" else "other-values", f"{found.irreps}"


def control() -> None:
    """What both need of JAX by itself: a product under jit, and sums of groups."""
    import jax
    import jax.numpy as jnp

    assert jax.jit(jnp.outer)(jnp.ones(3), jnp.ones(3)).shape == (3, 3)
    assert jnp.zeros(2).at[jnp.array([0, 0, 1])].add(jnp.ones(3)).tolist() == [2.0, 1.0]


def means() -> tuple[str, str]:
    """Does scatter_mean give each element the mean of its group?"""
    import e3nn_jax
    import jax.numpy as jnp

    found = e3nn_jax.scatter_mean(jnp.array([1.0, 3.0, 5.0]), nel=jnp.array([2, 1]), map_back=True)
    return "means" if found.tolist() == [2.0, 2.0, 5.0] else "other-values", f"{found}"


def by_destination() -> None:
    """The same groups, told by where each element goes, and each mean taken back from there."""
    import e3nn_jax
    import jax.numpy as jnp

    group = jnp.array([0, 0, 1])
    found = e3nn_jax.scatter_mean(jnp.array([1.0, 3.0, 5.0]), dst=group, output_size=2)[group]
    assert found.tolist() == [2.0, 2.0, 5.0]


NO_EQUINOX = Signature("AttributeError", "was removed in JAX", "equinox")
NO_EQUINOX_RULES = (
    Rule("no-equinox", "equinox<0.11.5 jax>=0.4.34", "e3nn-jax#83"),
    Rule("no-equinox", "equinox<0.11.11 jax>=0.6.0", "jax 0.6.0 lacks jax.core.Primitive"),
)
ISSUE = Issue(
    kind="import-error",
    upstream=Upstream.of(
        report="e3nn/e3nn-jax#83", change="jax#19930", docs="jax:changelog.html#jax-0-6-0-april-16-2025"
    ),
    touches=("e3nn-jax", "jax.tree_map"),
    control=control,
    needs=("jax", "e3nn-jax"),
    cases=(
        Case(
            multiplies,
            touches=("import e3nn_jax if shows('no-equinox')",),
            workaround=Workaround("Upgrade Equinox with jax.", pin="equinox>=0.11.11"),
            behaviours={"multiplies": "clear", "other-values": "affected"},
            signatures={"no-equinox": NO_EQUINOX},
            rules=(*NO_EQUINOX_RULES, Rule("multiplies")),
        ),
        Case(
            means,
            touches=(
                "import e3nn_jax if shows('no-equinox')",
                "e3nn_jax.scatter_mean(data, nel, map_back) if given(nel) and map_back and shows('no-tree-map')",
                "e3nn_jax.find_peaks if shows('no-tree-map')",
            ),
            workaround=Workaround(
                "Tell each element's group with `dst`, and index the means.",
                code=by_destination,
                fails=tuple(rule.on for rule in NO_EQUINOX_RULES),
            ),
            behaviours={"means": "clear", "other-values": "affected"},
            signatures={"no-equinox": NO_EQUINOX, "no-tree-map": Signature("AttributeError", "tree_map", "e3nn_jax")},
            rules=(
                *NO_EQUINOX_RULES,
                Rule("no-tree-map", "e3nn-jax>=0.20.4 jax>=0.6.0", "JAX's changelog of 0.6.0"),
                Rule("means", "e3nn-jax>=0.20.3"),
            ),
        ),
    ),
)
