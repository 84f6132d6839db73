"""lax.cond refuses jnp.linalg's named tuples beside plain tuples

A named tuple unpacks like a tuple, but is a different pytree: `lax.cond`, loops and `tree.map` refuse it beside a plain
`(w, v)`. jax#19347 returns named tuples from eigh, qr, svd and slogdet for the array API, and calls this
backward-compatible "in all meaningful ways". f3b4d7b57e returns a named tuple from `eig`, as the changelog says.
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
    """The results of eig and eigh unpack into two arrays."""
    import jax.numpy as jnp

    for f in (jnp.linalg.eig, jnp.linalg.eigh):
        w, v = f(jnp.diag(jnp.array([2.0, 3.0])))
        assert [w.shape, v.shape] == [(2,), (2, 2)]
        assert sorted(jnp.real(w).tolist()) == [2.0, 3.0]


def plain_tuple() -> None:
    """Calling tuple() on the result in one branch gives both branches the same structure."""
    import jax
    import jax.numpy as jnp

    a, w, v = jnp.diag(jnp.array([2.0, 3.0])), jnp.zeros(2), jnp.zeros((2, 2))
    got = jax.lax.cond(True, lambda a: tuple(jnp.linalg.eigh(a)), lambda a: (w, v), a)
    assert got[0].tolist() == [2.0, 3.0]
    pair = jax.lax.cond(
        True, lambda a: tuple(jnp.linalg.eig(a)), lambda a: (w.astype("complex64"), v.astype("complex64")), a
    )
    assert sorted(jnp.real(pair[0]).tolist()) == [2.0, 3.0]


def other_decompositions() -> None:
    """tuple() also helps qr, svd and slogdet, for a batch, in a loop and in jax.tree_util.tree_map."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    a = jnp.array([[[4.0, 1.0], [1.0, 3.0]], [[2.0, 0.5], [0.5, 1.0]]])
    for f in (jnp.linalg.qr, jnp.linalg.svd, jnp.linalg.slogdet, jnp.linalg.eigh):
        wanted = tuple(jax.device_get(f(a)))
        zeros = tuple(map(jnp.zeros_like, wanted))
        looped = jax.lax.fori_loop(0, 2, lambda i, carry, f=f: tuple(f(a)), zeros)
        mapped = jax.tree_util.tree_map(lambda one, other: one + other, tuple(f(a)), zeros)
        for got in (looped, mapped):
            assert type(got) is tuple
            jax.tree_util.tree_map(lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-5), got, wanted)


def eigh() -> tuple[str, str]:
    """Can lax.cond choose between jnp.linalg.eigh and a plain tuple?"""
    import jax
    import jax.numpy as jnp

    a, w, v = jnp.diag(jnp.array([2.0, 3.0])), jnp.zeros(2), jnp.zeros((2, 2))
    got = jax.lax.cond(True, jnp.linalg.eigh, lambda a: (w, v), a)
    return "same-structure", f"{len(got)} arrays in a {type(got).__name__}"


def _chosen(names: str) -> tuple[str, ...]:
    """Return touches for results in cond, switch or tree.map; in a loop, most results are unpacked."""
    combined = ("jax.lax.cond", "jax.lax.switch", "jax.tree.map", "jax.tree_util.tree_map")
    within = " or ".join(f"within('{each}')" for each in combined)
    return members("jax.numpy.linalg", names, f" if unseen and seen({within}) and not within('builtins.tuple')")


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(change="jax@f3b4d7b57e jax#19347", docs="jax:changelog.html"),
    known_by=r"\b(Eigh?|QR|SVD|Slogdet)Result\b",
    also={"refused": Signature("ValueError", "Expected tuple, got …Result(")},
    control=unpacked,
    behaviours={"same-structure": "clear", "refused": "documented"},
    workaround=Workaround(
        "In lax.cond's branch, convert the named tuple: tuple(jnp.linalg.eig(a)).",
        plain_tuple,
        elsewhere=other_decompositions,
    ),
    signatures={
        "refused": (
            Signature("TypeError", "must have the same pytree structure", everyday=True),
            Signature("TypeError", "must have same type structure", everyday=True),
        )
    },
    cases=(
        Case(
            eig,
            rules=(Rule("same-structure", "jax<0.8.0"), Rule("refused", "", "f3b4d7b57e, and the changelog")),
            touches=_chosen("eig"),
        ),
        Case(
            eigh,
            rules=(Rule("same-structure", "jax<0.4.24"), Rule("refused", "", "jax#19347 (012c5bd439)")),
            touches=_chosen("eigh qr svd slogdet"),
        ),
    ),
)
