"""jax.scipy.stats.rankdata returns floats instead of integers

Ranks by "min", "max", "dense" and "ordinal" were integers; jax#36265 makes them floats, following scipy/scipy#24420. If
a vector has a NaN, jax#36265 makes all its ranks NaN (`not_a_number`). The changelog announces the float ranks. SciPy's
developers chose to change the dtype at once, because a warning would have been more inconvenient (scipy/scipy#24420).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround


def dtypes() -> tuple[str, str]:
    """Does jax.scipy.stats.rankdata return integers for the methods "min", "max", "dense" and "ordinal"?"""
    import jax
    import jax.numpy as jnp
    import jax.scipy.stats

    x = jnp.array([10.0, 30.0, 20.0])
    kinds = {jax.scipy.stats.rankdata(x, method=how).dtype.kind for how in ("min", "max", "dense", "ordinal")}
    return {"i": "integers", "f": "floats"}.get("".join(kinds), "other"), "".join(sorted(kinds))


def values() -> None:
    """Ranks by the methods "min" and "average" have SciPy's values."""
    import jax
    import jax.numpy as jnp
    import jax.scipy.stats

    x = jnp.array([10.0, 30.0, 20.0, 20.0])
    assert jax.scipy.stats.rankdata(x, method="min").tolist() == [1, 4, 2, 2]
    assert jax.scipy.stats.rankdata(x).tolist() == [1.0, 4.0, 2.5, 2.5]


def twice_argsort() -> None:
    """As integers, ordinal ranks can index an array, and equal jnp.argsort(jnp.argsort(x)) + 1."""
    import jax
    import jax.numpy as jnp
    import jax.scipy.stats

    x = jnp.array([10.0, 30.0, 20.0])
    ranks = jax.scipy.stats.rankdata(x, method="ordinal").astype(int)
    assert jnp.arange(3)[ranks - 1].tolist() == jnp.argsort(jnp.argsort(x)).tolist() == [0, 2, 1]


def ranks(x: Any) -> Any:
    """Return the ranks by all methods but "average", as integers."""
    import jax.numpy as jnp
    from jax.scipy.stats import rankdata

    return jnp.stack([rankdata(x, method=how).astype(int) for how in ("min", "max", "dense", "ordinal")])


def scipy_ranks(x: Any) -> Any:
    """Return SciPy's ranks."""
    import numpy as np
    from scipy.stats import rankdata

    return np.stack([rankdata(x, method=how) for how in ("min", "max", "dense", "ordinal")])


def as_an_index() -> tuple[str, str]:
    """Can an array be indexed by ordinal ranks of jax.scipy.stats.rankdata?"""
    import jax
    import jax.numpy as jnp
    import jax.scipy.stats

    ranks = jax.scipy.stats.rankdata(jnp.array([10.0, 30.0, 20.0]), method="ordinal")
    return "integers", f"{jnp.arange(3)[ranks - 1].tolist()}"


def not_a_number() -> tuple[str, str]:
    """Does jax.scipy.stats.rankdata return NaN for all elements of a vector if one is NaN, as SciPy does?"""
    import jax
    import jax.numpy as jnp
    import jax.scipy.stats

    got = jax.scipy.stats.rankdata(jnp.array([10.0, jnp.nan, 20.0]), method="ordinal").tolist()
    return {"[1, 3, 2]": "ranked", "[nan, nan, nan]": "all-nan"}.get(str(got), "other"), str(got)


_ARRAYS = ("float32 matrix", "int32 vector", "float16 batch", "zero float32 vector", "float32 scalar")
_WHOLE = "jax.scipy.stats.rankdata(a, method) if method in ('min', 'max', 'dense', 'ordinal')"
_CHANGELOG = "jax#36265 (e2b1ca3b06), and the changelog"
_CONVERT = Workaround(
    'If no element is NaN, convert up to 2**24 ranks to integers: rankdata(x, method="ordinal").astype(int).',
    twice_argsort,
    elsewhere=Elsewhere(ranks, scipy_ranks, _ARRAYS),
)

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(docs="jax:changelog.html", change="jax#36265 scipy/scipy#24420", attempt="jax#34628"),
    touches=(_WHOLE,),
    control=values,
    behaviours={"integers": "clear", "floats": "documented", "other": "different"},
    rules=(Rule("integers", "jax<0.10.0"), Rule("floats", "", _CHANGELOG)),
    cases=(
        Case(dtypes, workaround=_CONVERT),
        Case(
            as_an_index,
            workaround=_CONVERT,
            signatures={"floats": Signature("TypeError", "Indexer must have integer or boolean type", everyday=True)},
        ),
        Case(
            not_a_number,
            behaviours={"ranked": "affected", "all-nan": "clear", "other": "different"},
            rules=(Rule("ranked", "jax<0.10.0"), Rule("all-nan", "", "jax#36265 (e2b1ca3b06)")),
            touches=("jax.scipy.stats.rankdata if uses('jax.numpy.nan', 'numpy.nan', 'jax.numpy.isnan')",),
        ),
    ),
)
