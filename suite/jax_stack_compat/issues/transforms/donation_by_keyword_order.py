"""A jitted function called with keywords donates another argument than donate_argnames names

    f = jax.jit(lambda x, y: (x + 1, y + 1), donate_argnames="x")
    f(y=y, x=x)    # up to jax 0.4.26 it is y that is gone, and x that is kept

You'd expect the argument with that name to be given up, in whatever order the keywords stand. Up to jax 0.4.26 the
marks were made in the order of the call, and the arguments come sorted by name: each mark goes to the wrong one, unless
the call is in alphabetical order. Nothing is said at the call. Later `Array has been deleted` is raised for an array
that nobody gave away; and the one that was to go keeps its memory. 3f17626f4b, in 0.4.27, reads the marks off the tree
of arguments. Its message is the only report that was found, the changelog has no line of it, and neither says that

- `donate_argnums=0` is wrong as well: jit adds the parameter's name to it, so a call by keyword donates too.
- Compiling ahead of time does not help; `args_info` shows the wrong mark, and that is where one can look.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def argnames() -> tuple[str, str]:
    """Does a call f(y=y, x=x) with donate_argnames="x" donate x, and x alone?"""
    import jax
    import jax.numpy as jnp

    x, y = jnp.ones(3), jnp.full(3, 2.0)
    jax.jit(lambda x, y: (x + 1, y + 1), donate_argnames="x")(y=y, x=x)
    gone = [name for name, array in (("x", x), ("y", y)) if array.is_deleted()]
    return ("right" if gone == ["x"] else "wrong" if gone == ["y"] else "other"), f"deleted: {gone}"


def control_order() -> None:
    """By position, and by keywords in alphabetical order, x is donated."""
    import jax
    import jax.numpy as jnp

    for by_keyword in (False, True):
        x, y = jnp.ones(3), jnp.full(3, 2.0)
        f = jax.jit(lambda x, y: (x + 1, y + 1), donate_argnames="x")
        f(x=x, y=y) if by_keyword else f(x, y)
        assert (x.is_deleted(), y.is_deleted()) == (True, False), by_keyword


def by_position() -> None:
    """Donated arguments passed by position are the right ones, keywords for the others in whatever order."""
    import jax
    import jax.numpy as jnp

    x, y, z = jnp.ones(3), jnp.full(3, 2.0), jnp.full(3, 3.0)
    jax.jit(lambda x, y, z: (x + 1, y + 1, z + 1), donate_argnames="x")(x, z=z, y=y)
    assert (x.is_deleted(), y.is_deleted(), z.is_deleted()) == (True, False, False)


def argnums() -> tuple[str, str]:
    """Does a call f(y=y, x=x) with donate_argnums=0 donate x, and x alone?"""
    import jax
    import jax.numpy as jnp

    x, y = jnp.ones(3), jnp.full(3, 2.0)
    jax.jit(lambda x, y: (x + 1, y + 1), donate_argnums=0)(y=y, x=x)
    gone = [name for name, array in (("x", x), ("y", y)) if array.is_deleted()]
    return ("right" if gone == ["x"] else "wrong" if gone == ["y"] else "other"), f"deleted: {gone}"


def compiled() -> tuple[str, str]:
    """Does it once lowered and compiled, and does args_info mark the same?"""
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
    touches=("jax.jit(donate_argnums=)", "jax.jit(donate_argnames=)", "buffer donation"),
    control=control_order,
    behaviours={"other": "different"},
    rules=(
        Rule("wrong", "jax<0.4.27", "marks in the order of the call"),
        Rule("right", "", "3f17626f4b, first in 0.4.27"),
    ),
    workaround=Workaround("Pass donated arguments by position, or keywords in alphabetical order.", by_position),
    cases=(Case(argnames), Case(argnums), Case(compiled)),
)
