"""None in jnp.array of floats is NaN; tree.map drops values opposite None

None is a pytree without leaves, so `jnp.array` took the dtype of the other elements, and NumPy converted None to a
float (jax#14506). Since jax#18564, None in `jnp.array` warns, and 9c58a112b3 refuses None. `tree.map` returned None
where the first tree had None and the second a value; equinox#753 calls this a bug in JAX, which now raises
(google-deepmind/optax#1093). To keep the None, JAX's changelog advises `is_leaf=lambda x: x is None`.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def in_an_array() -> tuple[str, str]:
    """Does jnp.array([1.0, None]) turn None into NaN?"""
    import jax.numpy as jnp

    found = jnp.array([1.0, None]).tolist()
    return "taken" if found[1] != found[1] else "other", f"{found}"


def none_in_both() -> None:
    """jnp.array keeps NaN, and tree.map accepts None at the same place in both trees."""
    import jax
    import jax.numpy as jnp

    assert bool(jnp.isnan(jnp.array([1.0, float("nan")])[1]))
    assert jax.tree_util.tree_map(lambda a, b: a + b, {"a": None, "b": 1.0}, {"a": None, "b": 2.0})["b"] == 3.0


def nan_said() -> None:
    """With NaN in place of None, jnp.array gives NaN."""
    import jax.numpy as jnp

    found = jnp.array([float("nan") if each is None else each for each in (1.0, None)])
    assert jnp.isnan(found).tolist() == [False, True]


def nan_in_rows() -> None:
    """With NaN in place of None, jnp.array of several kinds of rows agrees with NumPy's float32 array."""
    import jax.numpy as jnp
    import numpy as np

    several: list[Any] = [[[1, None, 3], [None, 5, 6]], [[None, None]], [[0.5], [-1.5]], [[]]]
    for rows in several:
        replaced = [[float("nan") if each is None else each for each in row] for row in rows]
        np.testing.assert_array_equal(jnp.array(replaced), np.array(rows, np.float32))


def in_a_tree() -> tuple[str, str]:
    """Does tree.map accept None in the first tree where the second has a value?"""
    import jax

    found = jax.tree_util.tree_map(lambda a, b: a + b, {"a": None, "b": 1.0}, {"a": 3.0, "b": 2.0})
    return "taken" if found == {"a": None, "b": 3.0} else "other", f"{found}"


def none_kept() -> None:
    """With None as a leaf, the mapped function returns None without calling f."""
    import jax

    f = lambda a, b: a + b  # noqa: E731
    found = jax.tree_util.tree_map(
        lambda x, y: None if x is None else f(x, y),  # type: ignore[no-untyped-call]
        {"a": None, "b": 1.0},
        {"a": 3.0, "b": 2.0},
        is_leaf=lambda x: x is None,
    )
    assert found == {"a": None, "b": 3.0}


def other_trees() -> None:
    """With None as a leaf, tree.map keeps None opposite None, an array or a tree, and otherwise calls f."""
    import jax
    import jax.numpy as jnp

    def f(x: Any, y: Any) -> Any:
        return None if x is None else x - y

    def mapped(one: Any, other: Any) -> Any:
        return jax.tree_util.tree_map(f, one, other, is_leaf=lambda x: x is None)

    assert mapped((None, 2), (None, 3)) == (None, -1)
    assert mapped([None, (5, None)], [{"a": 1, "b": [2]}, (1, 2.5)]) == [None, (4, None)]
    assert mapped({"w": jnp.arange(3), "b": None}, {"w": jnp.ones(3), "b": jnp.ones(2)})["w"].tolist() == [-1, 0, 1]
    assert mapped({"w": 1.5, "b": (2, 3)}, {"w": 0.5, "b": (1, 1)}) == {"w": 1.0, "b": (1, 2)}
    assert mapped(None, 1) is None


# None in a list or tuple, or in one of its first or last rows.
_NONE = (
    "type({0}) in ('list', 'tuple') and (None in {0} or "
    "type(min({0})) in ('list', 'tuple') and (None in min({0}) or None in max({0})))"
)
_MAPS = ("jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map")
# No literal shows a None that is deep in the first tree, so a use with two trees is possible at most.
_TREES = "given(rest) and not given(is_leaf) and unseen"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#14506 google-deepmind/optax#1093",
        change="jax#18564",
        fix="jax@9c58a112b3",
        discussion="equinox#753",
        docs="jax:changelog.html#jax-0-4-34-october-4-2024 jax:changelog.html#jax-0-6-0-april-16-2025",
    ),
    known_by=r"pytree None\b",
    control=none_in_both,
    behaviours={"taken": "affected", "other": "different"},
    cases=(
        Case(
            in_an_array,
            rules=(
                Rule("taken", "jax<0.4.21"),
                Rule("warns", "jax<0.6.0", "jax#18564"),
                Rule("refused", "", "9c58a112b3, and the changelog of jax 0.6.0"),
            ),
            workaround=Workaround(
                "In a list of floats, replace each None by float('nan').", nan_said, elsewhere=nan_in_rows
            ),
            signatures={
                "warns": Signature("FutureWarning", "None encountered in jnp.array()"),
                "refused": Signature("ValueError", "None is not a valid value for jnp.array"),
            },
            touches=(
                f"jax.numpy.array(object) if seen(object == None or {_NONE.format('object')})",
                f"jax.numpy.asarray(a) if seen(a == None or {_NONE.format('a')})",
            ),
        ),
        Case(
            in_a_tree,
            rules=(
                Rule("taken", "jaxlib<0.4.29"),
                Rule("warns", "jaxlib<0.4.34"),
                Rule("refused", "", "the changelog of jax 0.4.34"),
            ),
            workaround=Workaround(
                "In f, return None if x is None; pass is_leaf=lambda x: x is None.", none_kept, elsewhere=other_trees
            ),
            signatures={
                "warns": Signature("DeprecationWarning", "will no longer consider None to be a t"),
                "refused": (
                    Signature("ValueError", "Expected None, got 3.0"),
                    Signature("ValueError", "pytree structure error: different types", everyday=True),
                ),
            },
            touches=tuple(f"{name}(f, tree, rest, third, fourth, fifth, is_leaf) if {_TREES}" for name in _MAPS),
        ),
    ),
)
