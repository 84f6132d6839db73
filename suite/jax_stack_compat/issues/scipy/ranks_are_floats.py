"""jax.scipy.stats.rankdata gives floats for every method since jax 0.10.0, and integers before for all but "average"

    ranks = jax.scipy.stats.rankdata(x, method="ordinal")    # int32 up to jax 0.9.2, float32 from 0.10.0
    table[ranks - 1]                                         # from 0.10.0: a TypeError

You'd expect to be able to index by a rank. SciPy 1.18 made all ranks floats, and JAX followed before that was out, as
the changelog of 0.10.0 says: beside jax 0.10.0 to 0.10.2 an installer gave a SciPy whose ranks are integers still.
Where a rank is an index it is told at once. Where it is counted with, a float32 holds whole numbers to 16777216 and no
more.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def dtypes() -> tuple[str, str]:
    """Are ranks by "min", "max", "dense" and "ordinal" integers?"""
    import jax
    import jax.numpy as jnp
    import jax.scipy.stats

    x = jnp.array([10.0, 30.0, 20.0])
    kinds = {jax.scipy.stats.rankdata(x, method=how).dtype.kind for how in ("min", "max", "dense", "ordinal")}
    return {"i": "integers", "f": "floats"}.get("".join(kinds), "other"), "".join(sorted(kinds))


def values() -> None:
    """The ranks are right on every release, and by "average" they are floats."""
    import jax
    import jax.numpy as jnp
    import jax.scipy.stats

    x = jnp.array([10.0, 30.0, 20.0, 20.0])
    assert jax.scipy.stats.rankdata(x, method="min").tolist() == [1, 4, 2, 2]
    assert jax.scipy.stats.rankdata(x).tolist() == [1.0, 4.0, 2.5, 2.5]


def twice_argsort() -> None:
    """astype(int), or argsort of argsort."""
    import jax
    import jax.numpy as jnp
    import jax.scipy.stats

    x = jnp.array([10.0, 30.0, 20.0])
    ranks = jax.scipy.stats.rankdata(x, method="ordinal").astype(int)
    assert jnp.arange(3)[ranks - 1].tolist() == jnp.argsort(jnp.argsort(x)).tolist() == [0, 2, 1]


def as_an_index() -> tuple[str, str]:
    """Can an array be indexed by ordinal ranks?"""
    import jax
    import jax.numpy as jnp
    import jax.scipy.stats

    ranks = jax.scipy.stats.rankdata(jnp.array([10.0, 30.0, 20.0]), method="ordinal")
    return "integers", f"{jnp.arange(3)[ranks - 1].tolist()}"


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(docs="jax:changelog.html"),
    touches=("jax.scipy.stats.rankdata",),
    control=values,
    behaviours={"integers": "clear", "floats": "documented", "other": "different"},
    rules=(Rule("integers", "jax<0.10.0"), Rule("floats", "", "the changelog")),
    workaround=Workaround("rankdata(x).astype(int), or jnp.argsort(jnp.argsort(x)).", twice_argsort),
    cases=(
        Case(dtypes),
        Case(
            as_an_index,
            signatures={"floats": Signature("TypeError", "Indexer must have integer or boolean type", everyday=True)},
        ),
    ),
)
