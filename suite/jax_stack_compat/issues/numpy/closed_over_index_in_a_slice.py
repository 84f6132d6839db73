"""In jax 0.4.21 a jitted function cannot slice from an index that is an array from outside

    start = jnp.array(2)
    jax.jit(lambda x: x[start:])(x)      # TracerBoolConversionError in jax 0.4.21

The bounds of a slice must be known when it is traced, and an array from outside is. jax 0.4.21 compares them by JAX's
own operations, which under jit are traced, and asks for a truth value. jax#18818 mends it, in 0.4.22. Outside jit, and
as a number of NumPy, it is well on every release; a bound that is an argument of the jitted function is not known, and
refused on all of them.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def start() -> tuple[str, str]:
    """Is a slice from an index that is an array from outside?"""
    import jax
    import jax.numpy as jnp

    index = jnp.array(2)
    return compare(jax.jit(lambda x: x[index:])(jnp.arange(4)), [2, 3])


def outside() -> None:
    """Outside jit it is."""
    import jax.numpy as jnp

    assert jnp.arange(4)[jnp.array(2) :].tolist() == [2, 3]


def as_a_number() -> None:
    """The index as a Python integer."""
    import jax
    import jax.numpy as jnp

    index = int(jnp.array(2))
    assert jax.jit(lambda x: x[index:])(jnp.arange(4)).tolist() == [2, 3]
    assert jax.jit(lambda x: x.at[index:].set(9))(jnp.arange(4)).tolist() == [0, 1, 9, 9]


def set_from() -> tuple[str, str]:
    """Is one with .at[...].set?"""
    import jax
    import jax.numpy as jnp

    index = jnp.array(2)
    return compare(jax.jit(lambda x: x.at[index:].set(9))(jnp.arange(4)), [0, 1, 9, 9])


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(fix="jax#18818 jax@ec460585c8"),
    touches=("indexing", "slices"),
    known_by=r"\bin clamp_index\b",
    control=outside,
    rules=(Rule("refused", "jax==0.4.21", "jax#18818"), Rule("agrees")),
    workaround=Workaround("Make it a Python integer before: int(index).", as_a_number),
    signatures={"refused": Signature("TracerBoolConversionError", "boolean conversion of traced array", everyday=True)},
    cases=(Case(start), Case(set_from)),
)
