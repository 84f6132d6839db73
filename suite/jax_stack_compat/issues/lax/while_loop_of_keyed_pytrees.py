"""lax.while_loop raises an IndexError over a pytree whose aux data differ with and without keys, in jax 0.4.36

    jax.tree_util.register_pytree_with_keys(C, with_keys, unflatten, without_keys)    # two ways to flatten
    lax.while_loop(cond, body, C(x))    # IndexError: list index out of range

A class may be flattened with the keys of its children or without, by two functions, and nothing says that both have to
give the same aux data. jax 0.4.36 compared what the one gave with what the other did, to name the leaf whose type
changes, and found no such leaf. The changelog of 0.4.37 has the repair; 0.4.35 and before ran the loop.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


class _Carry:
    def __init__(self, x: Any) -> None:
        self.x = x


def _registered(aux: object) -> type[_Carry]:
    """A class of its own with `aux` for aux data with keys, and None without."""
    import jax

    class Carry(_Carry): ...

    def with_keys(carry: Carry) -> Any:
        return ((jax.tree_util.GetAttrKey("x"), carry.x),), aux

    jax.tree_util.register_pytree_with_keys(Carry, with_keys, lambda _, x: Carry(*x), lambda carry: ((carry.x,), None))
    return Carry


def other_aux() -> tuple[str, str]:
    """Does a loop run over a pytree with other aux data where it is flattened with keys?"""
    import jax

    carry = _registered("with keys")
    found = jax.lax.while_loop(lambda c: c.x < 3.0, lambda c: carry(c.x + 1.0), carry(0.0))
    return "runs", f"it ends with {float(found.x)}"


def same_aux() -> None:
    """Over one with the same aux data it runs."""
    import jax

    carry = _registered(None)
    assert float(jax.lax.while_loop(lambda c: c.x < 3.0, lambda c: carry(c.x + 1.0), carry(0.0)).x) == 3.0


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(docs="jax:changelog.html#jax-0-4-37-dec-9-2024"),
    touches=("jax.tree_util.register_pytree_with_keys", "jax.tree_util.register_pytree_with_keys_class"),
    control=same_aux,
    behaviours={"runs": "clear"},
    rules=(Rule("refused", "jax==0.4.36", "the changelog of 0.4.37"), Rule("runs")),
    workaround=Workaround("Give the same aux data in both.", same_aux),
    signatures={"refused": Signature("IndexError", "list index out of range", everyday=True)},
    cases=(Case(other_aux),),
)
