"""x[0] = 1 and jnp.sum([1, 2]) raise TypeError

JAX documents that its arrays refuse assignment and that its functions generally refuse lists. JAX arrays are immutable,
and `.at` returns an updated copy. Under tracing, each element of a list or tuple would become a variable, so the cost
would grow with the list. Hence JAX asks for an explicit conversion ("we've chosen to instead ban list arguments",
jax#365).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, members


def assignment() -> tuple[str, str]:
    """Can `x[0] = 1.0` change an element of a JAX array?"""
    import jax.numpy as jnp

    x = jnp.arange(3.0)
    x[0] = 1.0
    return "taken", f"{x}"


def asked_for() -> None:
    """jnp.sum sums an array."""
    import jax.numpy as jnp

    assert float(jnp.sum(jnp.arange(3.0))) == 3.0


def written_otherwise() -> None:
    """x.at[0].set(1.0) returns an updated copy, and jnp.sum(jnp.array([1, 2])) sums the list."""
    import jax.numpy as jnp

    assert jnp.arange(3.0).at[0].set(1.0).tolist() == [1.0, 1.0, 2.0]
    assert int(jnp.sum(jnp.array([1, 2]))) == 3


def set_and_summed(x: Any) -> Any:
    """Set the first element or row of a copy, and sum a list of arrays."""
    import jax.numpy as jnp

    return jnp.sum(jnp.array([x.at[0].set(1), x]), axis=0)


def numpy_set_and_summed(x: Any) -> Any:
    """Assign to a NumPy copy in place, and sum a list of arrays."""
    import numpy as np

    changed = x.copy()
    changed[0] = 1
    return np.sum([changed, x], axis=0)


def list_summed() -> tuple[str, str]:
    """Does jnp.sum take a list?"""
    import jax.numpy as jnp

    return "taken", f"{jnp.sum([1, 2])}"


def list_concatenated() -> tuple[str, str]:
    """Does jnp.concatenate take a list as one of its arrays?"""
    import jax.numpy as jnp

    return "taken", f"{jnp.concatenate([jnp.ones(2), [1.0, 2.0]])}"


_ELSEWHERE = Elsewhere(
    set_and_summed,
    numpy_set_and_summed,
    ("float32 matrix", "int32 vector", "bool square", "complex64 batch", "uint8 one", "float16 vector"),
)
_CONVERT = Workaround(
    "Convert each list first: jnp.array([1, 2]); by default, its numbers get 32 bits.",
    written_otherwise,
    elsewhere=_ELSEWHERE,
)

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#101 jax#5044",
        discussion="jax#365",
        docs="jax:notebooks/Common_Gotchas_in_JAX.html#in-place-updates "
        "jax:notebooks/Common_Gotchas_in_JAX.html#non-array-inputs-numpy-vs-jax",
    ),
    known_by=r"\bArrayImpl\b|JAX arrays are immutable",
    control=asked_for,
    behaviours={"taken": "different"},
    rules=(Rule("refused", "", "documented on JAX's page of sharp bits"),),
    workaround=_CONVERT,
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
            workaround=Workaround(
                "Use the updated copy: x = x.at[0].set(1.0); an index out of bounds can pass unnoticed.",
                written_otherwise,
                elsewhere=_ELSEWHERE,
            ),
            touches=("jax.Array.__setitem__", "jax.Array.at"),
        ),
        Case(list_summed, touches=members("jax.numpy", "sum max min mean", "(a) if type(a) in ('list', 'tuple')")),
        Case(list_concatenated, touches=("lists",)),
    ),
)
