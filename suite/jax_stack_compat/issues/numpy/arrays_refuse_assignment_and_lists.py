"""x[0] = 1 and jnp.sum([1, 2]) raise a TypeError: arrays are immutable, and lists are no arrays, by design

    x = jnp.arange(3.0)
    x[0] = 1.0         # TypeError
    jnp.sum([1, 2])    # TypeError

What is traced can be neither changed in place nor made of a list without a copy for each element, so JAX refuses where
NumPy does not: the sharp bits have both. The text of the first drifts: "object does not support item assignment. JAX
arrays are immutable" up to jax 0.4.34, and since 0.4.35 it begins with "JAX arrays are immutable".
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def assignment() -> tuple[str, str]:
    """Can an element be assigned to?"""
    import jax.numpy as jnp

    x = jnp.arange(3.0)
    x[0] = 1.0
    return "taken", f"{x}"


def asked_for() -> None:
    """An array is summed."""
    import jax.numpy as jnp

    assert float(jnp.sum(jnp.arange(3.0))) == 3.0


def written_otherwise() -> None:
    """A new array with the element set, and a list made an array first."""
    import jax.numpy as jnp

    assert jnp.arange(3.0).at[0].set(1.0).tolist() == [1.0, 1.0, 2.0]
    assert int(jnp.sum(jnp.array([1, 2]))) == 3


def list_summed() -> tuple[str, str]:
    """Can a list be summed?"""
    import jax.numpy as jnp

    return "taken", f"{jnp.sum([1, 2])}"


def list_concatenated() -> tuple[str, str]:
    """Can a list be concatenated with an array?"""
    import jax.numpy as jnp

    return "taken", f"{jnp.concatenate([jnp.ones(2), [1.0, 2.0]])}"


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        docs="jax:notebooks/Common_Gotchas_in_JAX.html#in-place-updates "
        "jax:notebooks/Common_Gotchas_in_JAX.html#non-array-inputs"
    ),
    touches=("jax.Array.at", "lists"),
    known_by=r"\bArrayImpl\b|JAX arrays are immutable",
    control=asked_for,
    behaviours={"taken": "different"},
    rules=(Rule("refused", "", "the sharp bits"),),
    workaround=Workaround("x = x.at[0].set(1.0); jnp.sum(jnp.array([1, 2])).", written_otherwise),
    signatures={"refused": Signature("TypeError", "requires ndarray or scalar arguments, got <class 'list'>")},
    cases=(
        Case(
            assignment,
            signatures={
                "refused": (
                    Signature("TypeError", "object does not support item assignment", everyday=True),
                    Signature("TypeError", "JAX arrays are immutable"),
                )
            },
        ),
        Case(list_summed),
        Case(list_concatenated),
    ),
)
