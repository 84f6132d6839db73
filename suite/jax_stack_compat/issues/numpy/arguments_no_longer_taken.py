"""Three kinds of arguments are refused since jax 0.8.0: objects with __jax_array__, integers for where=, dtype=array

    jnp.sum(jnp.array([1.0, 2.0]), where=jnp.array([1, 0]))    # warns from jax 0.4.36
    x.astype(y)                                                # warns from 0.4.30; before that a TypeError
    jnp.sin(Wrapped())                                         # Wrapped has __jax_array__: warns from 0.6.1

Each was taken once, and is a ValueError from 0.8.0 on. The changelog of 0.8.0 has all three: call
`jnp.asarray` on an object of one's own, `.dtype` on an array, and make truth values of a mask.

Seen in these runs: a mask of integers warns from 0.4.36 to 0.7.2.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare, members


def jax_array_object() -> tuple[str, str]:
    """Does jnp.sin take an object that has __jax_array__?"""
    import jax
    import jax.numpy as jnp

    class Wrapped:
        def __jax_array__(self) -> jax.Array:
            return jnp.zeros(2)

    return compare(jnp.sin(Wrapped()), [0.0, 0.0])


def as_documented() -> None:
    """Arrays, truth values and dtypes are taken."""
    import jax
    import jax.numpy as jnp

    assert jnp.sin(jnp.zeros(2)).tolist() == [0.0, 0.0]
    assert jax.jit(lambda x: x + 1.0)(jnp.zeros(2)).tolist() == [1.0, 1.0]
    assert float(jnp.sum(jnp.array([1.0, 2.0]), where=jnp.array([True, False]))) == 1.0
    assert jnp.array([1.5, 2.5]).astype("int32").tolist() == [1, 2]


def converted() -> None:
    """What is converted first is taken."""
    import jax
    import jax.numpy as jnp

    class Wrapped:
        def __jax_array__(self) -> jax.Array:
            return jnp.zeros(2)

    assert jax.jit(lambda x: x + 1.0)(jnp.asarray(Wrapped())).tolist() == [1.0, 1.0]
    assert float(jnp.sum(jnp.array([1.0, 2.0]), where=jnp.array([1, 0]).astype(bool))) == 1.0
    assert jnp.array([1.5, 2.5]).astype(jnp.array([1, 2]).dtype).tolist() == [1, 2]


def jax_array_object_in_jit() -> tuple[str, str]:
    """Does a jitted function?"""
    import jax
    import jax.numpy as jnp

    class Wrapped:
        def __jax_array__(self) -> jax.Array:
            return jnp.zeros(2)

    return compare(jax.jit(lambda x: x + 1.0)(Wrapped()), [1.0, 1.0])


def where_of_integers() -> tuple[str, str]:
    """Does jnp.sum take a mask of integers?"""
    import jax.numpy as jnp

    return compare(jnp.sum(jnp.array([1.0, 2.0]), where=jnp.array([1, 0])), 1.0)


def dtype_of_an_array() -> tuple[str, str]:
    """Does astype take an array for its dtype?"""
    import jax.numpy as jnp

    return compare(jnp.array([1.5, 2.5]).astype(jnp.array([1, 2])), [1, 2])


_REFUSED = Rule("refused")

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(change="jax#28288", docs="jax:changelog.html#jax-0-8-0-october-15-2025"),
    touches=("__jax_array__", "jax.Array.astype", "jax.numpy.sum(where=)", "jax.numpy.max(where=)"),
    control=as_documented,
    behaviours={"warns": "documented"},
    rules=(Rule("agrees", "jax<0.6.1"), Rule("warns", "jax<0.8.0"), _REFUSED),
    workaround=Workaround("Call jnp.asarray on it first.", converted),
    signatures={
        "warns": Signature("DeprecationWarning", "__jax_array__() during abstractification is deprecated"),
        "refused": Signature("ValueError", "__jax_array__() during abstractification is no longer supported"),
    },
    cases=(
        Case(jax_array_object, touches=("__jax_array__",)),
        Case(jax_array_object_in_jit, touches=("__jax_array__",)),
        Case(
            where_of_integers,
            rules=(Rule("agrees", "jax<0.4.36"), Rule("warns", "jax<0.8.0"), _REFUSED),
            workaround=Workaround("where=mask.astype(bool).", converted),
            signatures={
                "warns": Signature("DeprecationWarning", "where must be None or a boolean array"),
                "refused": Signature("ValueError", "where must be None or a boolean array"),
            },
            touches=members(
                "jax.numpy",
                "sum max",
                "(a, axis, dtype, out, keepdims, initial, where) "
                "if given(where) and where not in (True, False, None) and form(where) not in ('compare', 'astype')",
            ),
        ),
        Case(
            dtype_of_an_array,
            rules=(Rule("refused", "jax<0.4.30", "a TypeError"), Rule("warns", "jax<0.8.0"), _REFUSED),
            workaround=Workaround("x.astype(y.dtype).", converted),
            signatures={
                "warns": Signature("DeprecationWarning", "Passing an array as a dtype argument is deprecated"),
                "refused": (
                    Signature("ValueError", "Passing an array as a dtype argument is no longer supported"),
                    Signature("TypeError", "unhashable type: …ArrayImpl"),
                ),
            },
            behaviours={"agrees": "clear", "differs": "different", "warns": "documented"},
            touches=("jax.Array.astype",),
        ),
    ),
)
