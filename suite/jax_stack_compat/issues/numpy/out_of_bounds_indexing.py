"""Out of bounds, x[i] is clamped and x.at[i] skipped, without an error

The documentation says that raising an error from code on an accelerator can be difficult or impossible. So out of
bounds, `x[i]` clamps the index (`read`), and `x.at[i].set` skips the update (`update`). Out of bounds, `jnp.take` of
floats returns NaN (`take`), and of signed integers the smallest value (`take_of_integers`). Maintainers call the
missing error a known feature (jax#4383), and the value of `jnp.take` expected (jax#14193).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def read() -> tuple[str, str]:
    """What does x[5] return for x = jnp.arange(3.0)?"""
    import jax.numpy as jnp

    found = float(jnp.arange(3.0)[5])
    return "clamped" if found == 2.0 else "other", f"{found}"


def within() -> None:
    """Indices within bounds, also negative ones, read the elements that NumPy reads."""
    import jax.numpy as jnp

    assert jnp.arange(3.0)[jnp.array([0, 2, -1, -3])].tolist() == [0.0, 2.0, 2.0, 0.0]


def index_checks() -> None:
    """With index checks, x[i], x.at[i].set and jnp.take report an error if i is 5, and none if i is 1."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import checkify

    x = jnp.arange(3.0)
    for f, wanted in (
        (lambda x, i: x[i], 1.0),
        (lambda x, i: x.at[i].set(9.0), [0.0, 9.0, 2.0]),
        (lambda x, i: jnp.take(x, i), 1.0),
    ):
        checked = checkify.checkify(jax.jit(f), errors=checkify.index_checks)
        error, _ = checked(x, 5)
        assert "out-of-bounds" in str(error.get())
        error, found = checked(x, 1)
        error.throw()
        assert found.tolist() == wanted


def checks_of_integers_and_batches() -> None:
    """Index checks accept negative indices within bounds, and find one bad index among several, also under vmap."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import checkify

    x = jnp.arange(6).reshape(2, 3)
    for f in (lambda x, i: x[0, i], jax.vmap(lambda row, i: row[i]), lambda x, i: x.at[:, i].add(1)):
        checked = checkify.checkify(f, errors=checkify.index_checks)
        for indices, is_good in (([0, -3], True), ([2, 1], True), ([0, 3], False), ([-4, 0], False)):
            error, found = checked(x, jnp.array(indices))
            assert (error.get() is None) == is_good
            assert not is_good or found.tolist() == f(x, jnp.array(indices)).tolist()


def update() -> tuple[str, str]:
    """What does x.at[5].set(9) do to x = jnp.arange(3.0)?"""
    import jax.numpy as jnp

    found = jnp.arange(3.0).at[5].set(9.0).tolist()
    return "dropped" if found == [0.0, 1.0, 2.0] else "other", f"{found}"


def take() -> tuple[str, str]:
    """What is jnp.take(jnp.arange(3.0), 5)?"""
    import jax.numpy as jnp

    found = float(jnp.take(jnp.arange(3.0), 5))
    return "filled" if found != found else "other", f"{found}"


def take_of_integers() -> tuple[str, str]:
    """What does jnp.take(x, 5) return for the integers x = jnp.arange(3)?"""
    import jax.numpy as jnp

    found = int(jnp.take(jnp.arange(3), 5))
    return "filled" if found == jnp.iinfo(jnp.arange(3).dtype).min else "other", f"{found}"


_RUN = "documented under The Sharp Bits"
_FILLS = "the documentation of jnp.take"

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#4383 jax#14193",
        docs="jax:notebooks/Common_Gotchas_in_JAX.html#out-of-bounds-indexing jax:debugging/checkify_guide.html",
    ),
    touches=("jax.Array.at", "indexing"),
    control=within,
    workaround=Workaround(
        "Outside jit, for int32 indices without mode=, write "
        "error, y = checkify.checkify(f, errors=checkify.index_checks)(x, i); error.throw().",
        index_checks,
        elsewhere=checks_of_integers_and_batches,
    ),
    cases=(
        Case(read, behaviours={"clamped": "documented", "other": "different"}, rules=(Rule("clamped", "", _RUN),)),
        Case(update, behaviours={"dropped": "documented", "other": "different"}, rules=(Rule("dropped", "", _RUN),)),
        Case(take, behaviours={"filled": "documented", "other": "different"}, rules=(Rule("filled", "", _FILLS),)),
        Case(
            take_of_integers,
            behaviours={"filled": "documented", "other": "different"},
            rules=(Rule("filled", "", _FILLS),),
        ),
    ),
)
