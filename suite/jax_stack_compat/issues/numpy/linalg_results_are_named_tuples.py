"""linalg.eig gives a named tuple since jax 0.8.0: lax.cond and tree.map refuse it beside a plain tuple

    lax.cond(ready, jnp.linalg.eig, lambda a: (w, v), a)     # a TypeError from jax 0.8.0
    TypeError: ... must have the same pytree structure ...

A named tuple unpacks as a tuple does, and to JAX it is another pytree: a branch, a loop's carry or a `tree.map` that
has a plain `(w, v)` on its other side stops. f3b4d7b57e gave `eig` the attributes `eigenvalues` and `eigenvectors`, as
NumPy 2 has them; the changelog of 0.8.0 says "a namedtuple instead of a plain tuple", and not what it breaks.

Seen in these runs: `eigh` changed in the same way in 0.4.24, with the same error.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, members


def eig() -> tuple[str, str]:
    """Can lax.cond choose between jnp.linalg.eig and a plain tuple?"""
    import jax
    import jax.numpy as jnp

    a, w, v = jnp.diag(jnp.array([2.0, 3.0])), jnp.zeros(2, "complex64"), jnp.zeros((2, 2), "complex64")
    got = jax.lax.cond(True, jnp.linalg.eig, lambda a: (w, v), a)
    return "same-structure", f"{len(got)} arrays in a {type(got).__name__}"


def unpacked() -> None:
    """Unpacked it is two arrays on every release."""
    import jax.numpy as jnp

    for f in (jnp.linalg.eig, jnp.linalg.eigh):
        w, v = f(jnp.diag(jnp.array([2.0, 3.0])))
        assert [w.shape, v.shape] == [(2,), (2, 2)]
        assert sorted(jnp.real(w).tolist()) == [2.0, 3.0]


def plain_tuple() -> None:
    """tuple() round it, in the branch."""
    import jax
    import jax.numpy as jnp

    a, w, v = jnp.diag(jnp.array([2.0, 3.0])), jnp.zeros(2), jnp.zeros((2, 2))
    got = jax.lax.cond(True, lambda a: tuple(jnp.linalg.eigh(a)), lambda a: (w, v), a)
    assert got[0].tolist() == [2.0, 3.0]
    pair = jax.lax.cond(
        True, lambda a: tuple(jnp.linalg.eig(a)), lambda a: (w.astype("complex64"), v.astype("complex64")), a
    )
    assert sorted(jnp.real(pair[0]).tolist()) == [2.0, 3.0]


def eigh() -> tuple[str, str]:
    """Can lax.cond choose between jnp.linalg.eigh and a plain tuple?"""
    import jax
    import jax.numpy as jnp

    a, w, v = jnp.diag(jnp.array([2.0, 3.0])), jnp.zeros(2), jnp.zeros((2, 2))
    got = jax.lax.cond(True, jnp.linalg.eigh, lambda a: (w, v), a)
    return "same-structure", f"{len(got)} arrays in a {type(got).__name__}"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(change="jax@f3b4d7b57e", docs="jax:changelog.html"),
    touches=members("jax.numpy.linalg", "eig eigh qr svd slogdet"),
    known_by=r"\b(Eigh?|QR|SVD|Slogdet)Result\b",
    control=unpacked,
    behaviours={"same-structure": "clear", "refused": "documented"},
    workaround=Workaround("Make it plain in the branch: tuple(jnp.linalg.eig(a)).", plain_tuple),
    signatures={
        "refused": (
            Signature("TypeError", "must have the same pytree structure", everyday=True),
            Signature("TypeError", "must have same type structure", everyday=True),
        )
    },
    cases=(
        Case(eig, rules=(Rule("same-structure", "jax<0.8.0"), Rule("refused", "", "f3b4d7b57e, and the changelog"))),
        Case(eigh, rules=(Rule("same-structure", "jax<0.4.24"), Rule("refused"))),
    ),
)
