"""None is NaN to jnp.array and any tree to tree.map; both warn for a time, and raise a ValueError since

    jnp.array([1.0, None])                           # [1, nan] up to jax 0.5.3; a ValueError from 0.6.0
    jax.tree.map(f, {"a": None}, {"a": 3.0})         # {"a": None}, and f never called, up to 0.4.33; then a ValueError

NumPy makes an array of objects of the first. In JAX None is a tree without leaves, so the check that looks at each
element did not see it (jax#14506); jax#18564 has it warn from 0.4.21. In the second None stood for whatever the other
tree has in its place, so that a value that is missing took one that is there with it; it warns from jaxlib 0.4.29, and
raises from 0.4.34. Equinox was one of those who relied on it (equinox#753).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def in_an_array() -> tuple[str, str]:
    """What does jnp.array make of None?"""
    import jax.numpy as jnp

    found = jnp.array([1.0, None]).tolist()
    return "taken" if found[1] != found[1] else "other", f"{found}"


def none_in_both() -> None:
    """NaN is NaN; None in both trees is None."""
    import jax
    import jax.numpy as jnp

    assert bool(jnp.isnan(jnp.array([1.0, float("nan")])[1]))
    assert jax.tree_util.tree_map(lambda a, b: a + b, {"a": None, "b": 1.0}, {"a": None, "b": 2.0})["b"] == 3.0


def nan_said() -> None:
    """NaN written as such."""
    import jax.numpy as jnp

    found = jnp.array([float("nan") if each is None else each for each in (1.0, None)])
    assert jnp.isnan(found).tolist() == [False, True]


def in_a_tree() -> tuple[str, str]:
    """What does tree.map make of a tree with None where the second has a value?"""
    import jax

    found = jax.tree_util.tree_map(lambda a, b: a + b, {"a": None, "b": 1.0}, {"a": 3.0, "b": 2.0})
    return "taken" if found == {"a": None, "b": 3.0} else "other", f"{found}"


def none_as_a_leaf() -> None:
    """None made a leaf, and looked at."""
    import jax

    found = jax.tree_util.tree_map(
        lambda a, b: b if a is None else a + b,
        {"a": None, "b": 1.0},
        {"a": 3.0, "b": 2.0},
        is_leaf=lambda each: each is None,
    )
    assert found == {"a": 3.0, "b": 3.0}


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#14506",
        fix="jax#18564",
        change="equinox#753",
        changelog="jax:changelog.html#jax-0-4-34-october-4-2024",
    ),
    touches=("jax.numpy.array", "jax.numpy.asarray", "jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map"),
    known_by=r"pytree None\b",
    control=none_in_both,
    behaviours={"taken": "affected", "other": "different"},
    cases=(
        Case(
            in_an_array,
            rules=(Rule("taken", "jax<0.4.21"), Rule("warns", "jax<0.6.0", "jax#18564"), Rule("refused")),
            workaround=Workaround("Write float('nan') for it.", nan_said),
            signatures={
                "warns": Signature("FutureWarning", "None encountered in jnp.array()"),
                "refused": Signature("ValueError", "None is not a valid value for jnp.array"),
            },
        ),
        Case(
            in_a_tree,
            rules=(
                Rule("taken", "jaxlib<0.4.29"),
                Rule("warns", "jaxlib<0.4.34"),
                Rule("refused", "", "the changelog"),
            ),
            workaround=Workaround("tree.map with is_leaf=lambda x: x is None, and look at it in f.", none_as_a_leaf),
            signatures={
                "warns": Signature("DeprecationWarning", "will no longer consider None to be a t"),
                "refused": (
                    Signature("ValueError", "Expected None, got 3.0"),
                    Signature("ValueError", "pytree structure error: different types", everyday=True),
                ),
            },
        ),
    ),
)
