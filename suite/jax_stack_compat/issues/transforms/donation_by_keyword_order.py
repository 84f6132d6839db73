"""jit donates the wrong keyword argument if keywords are not sorted

`jax.jit` listed the arguments to donate in the order of the call's keywords, but flattens a dictionary of arguments in
sorted order. So `f(y=y, x=x)` donated `y` instead of `x`, both with `donate_argnames="x"` (`argnames`) and with
`donate_argnums=0` (`argnums`). 3f17626f4b derives the list from the flattened arguments.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def argnames() -> tuple[str, str]:
    """Does a call f(y=y, x=x) with donate_argnames="x" donate only x?"""
    import jax
    import jax.numpy as jnp

    x, y = jnp.ones(3), jnp.full(3, 2.0)
    jax.jit(lambda x, y: (x + 1, y + 1), donate_argnames="x")(y=y, x=x)
    gone = [name for name, array in (("x", x), ("y", y)) if array.is_deleted()]
    return ("right" if gone == ["x"] else "wrong" if gone == ["y"] else "other"), f"deleted: {gone}"


def control_order() -> None:
    """By position, and by keywords in sorted order, x is donated."""
    import jax
    import jax.numpy as jnp

    for by_keyword in (False, True):
        x, y = jnp.ones(3), jnp.full(3, 2.0)
        f = jax.jit(lambda x, y: (x + 1, y + 1), donate_argnames="x")
        f(x=x, y=y) if by_keyword else f(x, y)
        assert (x.is_deleted(), y.is_deleted()) == (True, False), by_keyword


def by_position() -> None:
    """A call donates only x if x is passed by position, and y and z by keyword in reverse order."""
    import jax
    import jax.numpy as jnp

    x, y, z = jnp.ones(3), jnp.full(3, 2.0), jnp.full(3, 3.0)
    jax.jit(lambda x, y, z: (x + 1, y + 1, z + 1), donate_argnames="x")(x, z=z, y=y)
    assert (x.is_deleted(), y.is_deleted(), z.is_deleted()) == (True, False, False)


def donated_trees() -> None:
    """A call donates two trees passed by position, with donate_argnums or donate_argnames, also through lower."""
    import jax
    import jax.numpy as jnp

    def add(state: Any, steps: Any, weights: Any) -> Any:
        return jax.tree_util.tree_map(lambda leaf: leaf + 1, (state, steps, weights))

    for donated in ({"donate_argnums": (0, 1)}, {"donate_argnames": ("state", "steps")}):
        for is_lowered in (False, True):
            state = {"b": jnp.ones((2, 3), jnp.float16), "a": jnp.ones((2, 2), jnp.float16)}
            steps, weights = [jnp.zeros(4, jnp.int32)], (jnp.ones(5), jnp.ones(6))
            f = jax.jit(add, **donated)
            call = f.lower(state, steps, weights=weights).compile() if is_lowered else f
            call(state, steps, weights=weights)
            assert all(leaf.is_deleted() for leaf in (*state.values(), *steps))
            assert not any(leaf.is_deleted() for leaf in weights)


def argnums() -> tuple[str, str]:
    """Does a call f(y=y, x=x) with donate_argnums=0 donate only x?"""
    import jax
    import jax.numpy as jnp

    x, y = jnp.ones(3), jnp.full(3, 2.0)
    jax.jit(lambda x, y: (x + 1, y + 1), donate_argnums=0)(y=y, x=x)
    gone = [name for name, array in (("x", x), ("y", y)) if array.is_deleted()]
    return ("right" if gone == ["x"] else "wrong" if gone == ["y"] else "other"), f"deleted: {gone}"


def compiled() -> tuple[str, str]:
    """Does f.lower(y=y, x=x).compile() donate x, and does its args_info mark x?"""
    import jax
    import jax.numpy as jnp

    x, y = jnp.ones(3), jnp.full(3, 2.0)
    f = jax.jit(lambda x, y: (x + 1, y + 1), donate_argnames="x").lower(y=y, x=x).compile()
    f(y=y, x=x)
    gone = [name for name, array in (("x", x), ("y", y)) if array.is_deleted()]
    marked = [name for name, info in sorted(f.args_info[1].items()) if info.donated]
    told = f"deleted: {gone}; marked in args_info: {marked}"
    return ("right" if gone == marked == ["x"] else "wrong" if gone == marked == ["y"] else "other"), told


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax@3f17626f4b"),
    # The order of keywords in a call is not seen. Code that donates by name is likelier to call by name.
    touches=(
        "jax.jit(fun, donate_argnames) if seen(given(donate_argnames)) and unseen",
        "jax.jit(fun, donate_argnums) if given(donate_argnums) and unseen",
        "buffer donation",
    ),
    control=control_order,
    behaviours={"other": "different"},
    rules=(Rule("wrong", "jax<0.4.27"), Rule("right", "", "3f17626f4b")),
    workaround=Workaround(
        "Pass donated arguments by position; a keyword-only argument must become a positional one.",
        by_position,
        elsewhere=donated_trees,
    ),
    cases=(Case(argnames), Case(argnums), Case(compiled)),
)
