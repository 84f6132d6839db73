"""jax.pmap(f).__wrapped__ raises AttributeError, and f's signature is lost

`functools.wraps` sets `__wrapped__`, which `inspect.signature` follows. The new implementation of `jax.pmap`, the
default since aa2f995b1d, did not set `__wrapped__`, which a maintainer calls a "minor oversight" (jax#32701);
ebb84c4c79 sets it again. Setting `jax_pmap_shmap_merge` to False selects the old implementation (page on migrating
pmap). JAX later deprecated and removed `jax_pmap_shmap_merge` (changelog).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def wrapped() -> tuple[str, str]:
    """Is jax.pmap(f).__wrapped__ the function f?"""
    import jax

    def double(x: jax.Array) -> jax.Array:
        return 2 * x

    return ("there" if jax.pmap(double).__wrapped__ is double else "other"), "the function itself"


def jit_and_vmap() -> None:
    """jax.jit(f) and jax.vmap(f) have __wrapped__, and jax.pmap(f) doubles its input as f does."""
    import jax
    import jax.numpy as jnp

    def double(x: jax.Array) -> jax.Array:
        return 2 * x

    assert jax.jit(double).__wrapped__ is jax.vmap(double).__wrapped__ is double
    count = jax.local_device_count()
    assert jax.pmap(double)(jnp.ones((count, 2))).tolist() == [[2.0, 2.0]] * count


def old_implementation() -> None:
    """With jax_pmap_shmap_merge=False, if the option exists, jax.pmap(f) keeps __wrapped__ and f's signature."""
    import inspect

    import jax
    import jax.numpy as jnp

    def double(x: jax.Array) -> jax.Array:
        return 2 * x

    # Releases without the option have one implementation.
    if hasattr(jax.config, "jax_pmap_shmap_merge"):
        jax.config.update("jax_pmap_shmap_merge", False)
    pmapped = jax.pmap(double)
    assert pmapped.__wrapped__ is double
    assert tuple(inspect.signature(pmapped).parameters) == ("x",)
    count = jax.local_device_count()
    assert pmapped(jnp.ones((count, 2))).tolist() == [[2.0, 2.0]] * count


def old_implementation_with_keywords() -> None:
    """The old jax.pmap of a function with a keyword and an axis name keeps the signature, runs and lowers."""
    import inspect

    import jax
    import jax.numpy as jnp

    def shifted(x: jax.Array, *, by: jax.Array) -> jax.Array:
        return x + jax.lax.psum(by, "rows")

    has_option = hasattr(jax.config, "jax_pmap_shmap_merge")
    before = has_option and jax.config.jax_pmap_shmap_merge
    if has_option:
        jax.config.update("jax_pmap_shmap_merge", False)
    try:
        pmapped = jax.pmap(shifted, axis_name="rows")
        assert inspect.unwrap(pmapped) is shifted
        assert tuple(inspect.signature(pmapped).parameters) == ("x", "by")
        count = jax.local_device_count()
        x, by = jnp.zeros((count, 2, 2), jnp.int32), jnp.ones((count, 1), jnp.int32)
        assert pmapped(x, by=by).tolist() == [[[count] * 2] * 2] * count
        assert pmapped.lower(x, by=by).as_text()
    finally:
        if has_option:
            jax.config.update("jax_pmap_shmap_merge", before)


def signature() -> tuple[str, str]:
    """Does inspect.signature(jax.pmap(f)) name the arguments of f?"""
    import inspect

    import jax

    def double(x: jax.Array) -> jax.Array:
        return 2 * x

    names = tuple(inspect.signature(jax.pmap(double)).parameters)
    return ("there" if names == ("x",) else "gone"), f"{', '.join(names)}"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="jax#32701",
        cause="jax@aa2f995b1d",
        fix="jax@ebb84c4c79",
        docs="jax:migrate_pmap.html jax:changelog.html",
    ),
    touches=("jax.pmap if uses('__wrapped__', 'inspect.signature') and without('jax_pmap_shmap_merge')",),
    control=jit_and_vmap,
    behaviours={"other": "different"},
    rules=(Rule("gone", "jax==0.8.0", "jax#32701"), Rule("there", "", "ebb84c4c79")),
    workaround=Workaround(
        'Before jax.pmap, select the old one, removed later: jax.config.update("jax_pmap_shmap_merge", False).',
        old_implementation,
        elsewhere=old_implementation_with_keywords,
    ),
    cases=(
        Case(
            wrapped, signatures={"gone": Signature("AttributeError", "has no attribute '__wrapped__'", everyday=True)}
        ),
        Case(signature),
    ),
)
