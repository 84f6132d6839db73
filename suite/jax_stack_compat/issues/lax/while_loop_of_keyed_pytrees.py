"""Loops raise an IndexError if their carry has other aux data with keys

JAX compares the tree of a loop's input, flattened with keys, to the tree of its output, flattened without keys. Since
jax@a1dfdc1d61 moved flattening with keys to C++, the input's tree has the aux data of `flatten_with_keys`. If
`flatten_func` returns other aux data, JAX looks for differences in trees flattened without keys, and finds an empty
list (jax#25332). jax#25355 returns if the list is empty, and wants equal aux data to be enforced in the long term.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround


class _Carry:
    def __init__(self, x: Any) -> None:
        self.x = x


def _registered(aux: object) -> type[_Carry]:
    """Return a new class whose aux data are `aux` if flattened with keys, and None if flattened without."""
    import jax

    class Carry(_Carry): ...

    def with_keys(carry: Carry) -> Any:
        return ((jax.tree_util.GetAttrKey("x"), carry.x),), aux

    jax.tree_util.register_pytree_with_keys(Carry, with_keys, lambda _, x: Carry(*x), lambda carry: ((carry.x,), None))
    return Carry


def scan() -> tuple[str, str]:
    """Does lax.scan run if its carry has other aux data when flattened with keys?"""
    import jax

    carry = _registered("with keys")
    found, _ = jax.lax.scan(lambda c, _: (carry(c.x + 1.0), None), carry(0.0), None, length=3)
    return "runs", f"it ends with {float(found.x)}"


def same_aux() -> None:
    """lax.while_loop runs if both flatten functions of its carry return the same aux data."""
    import jax

    carry = _registered(None)
    assert float(jax.lax.while_loop(lambda c: c.x < 3.0, lambda c: carry(c.x + 1.0), carry(0.0)).x) == 3.0


def counted(x: Any) -> Any:
    """Add 1 three times, in lax.fori_loop and lax.scan."""
    import jax
    import jax.numpy as jnp

    carry = _registered(None)
    one = jax.lax.fori_loop(0, 3, lambda _, c: carry(c.x + 1), carry(x))
    two, _ = jax.lax.scan(lambda c, _: (carry(c.x + 1), None), carry(x), None, length=3)
    return jnp.stack([one.x, two.x])


def plus_three(x: Any) -> Any:
    """Add 3."""
    return [x + 3, x + 3]


def other_aux() -> tuple[str, str]:
    """Does lax.while_loop run if its carry has other aux data when flattened with keys?"""
    import jax

    carry = _registered("with keys")
    found = jax.lax.while_loop(lambda c: c.x < 3.0, lambda c: carry(c.x + 1.0), carry(0.0))
    return "runs", f"it ends with {float(found.x)}"


_LOOPS = "uses('jax.lax.while_loop', 'jax.lax.scan', 'jax.lax.fori_loop')"
_ARGUMENTS = "nodetype, flatten_with_keys, unflatten_func, flatten_func"

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="jax#25332",
        cause="jax@a1dfdc1d61",
        fix="jax#25355",
        docs="jax:changelog.html#jax-0-4-37-dec-9-2024",
    ),
    touches=(
        f"jax.tree_util.register_pytree_with_keys({_ARGUMENTS}) if given(flatten_func) and {_LOOPS}",
        f"jax.tree_util.register_pytree_with_keys_class(cls) if unseen and {_LOOPS}",
    ),
    control=same_aux,
    behaviours={"runs": "clear"},
    rules=(Rule("refused", "jax==0.4.36"), Rule("runs", "", "jax#25355 (65b6088411)")),
    workaround=Workaround(
        "Return the same aux data from flatten_with_keys and flatten_func.",
        same_aux,
        elsewhere=Elsewhere(
            counted, plus_three, ("float32 matrix", "int32 vector", "float16 scalar", "complex64 one", "float32 empty")
        ),
    ),
    signatures={"refused": Signature("IndexError", "list index out of range", everyday=True)},
    known_by=r"\b_check_carry_type\b",
    cases=(Case(scan), Case(other_aux)),
)
