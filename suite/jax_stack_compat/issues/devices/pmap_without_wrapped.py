"""jax.pmap(f).__wrapped__ is gone in jax 0.8.0, and there again in 0.8.1

    jax.pmap(f).__wrapped__    # f; in jax 0.8.0: AttributeError: 'function' object has no attribute '__wrapped__'

`functools.wraps` sets it, and so do `jax.jit` and `jax.vmap`. jax 0.8.0 wrote pmap anew, on top of shard_map, and left
it out, which Equinox's `filter_pmap` met (jax#32701). So did `inspect.signature`, which goes by it: it saw `*args`.
ebb84c4c79, two days later, has it back; the thread is open still.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def wrapped() -> tuple[str, str]:
    """Is jax.pmap(f).__wrapped__ f?"""
    import jax

    def double(x: jax.Array) -> jax.Array:
        return 2 * x

    return ("there" if jax.pmap(double).__wrapped__ is double else "other"), "the function itself"


def jit_and_vmap() -> None:
    """jax.jit and jax.vmap have it on every release, and what pmap gives is right."""
    import jax
    import jax.numpy as jnp

    def double(x: jax.Array) -> jax.Array:
        return 2 * x

    assert jax.jit(double).__wrapped__ is jax.vmap(double).__wrapped__ is double
    count = jax.local_device_count()
    assert jax.pmap(double)(jnp.ones((count, 2))).tolist() == [[2.0, 2.0]] * count


def keep_it() -> None:
    """functools.wraps round the pmapped function."""
    import functools
    import inspect

    import jax

    def double(x: jax.Array) -> jax.Array:
        return 2 * x

    pmapped = jax.pmap(double)
    outer = functools.wraps(double)(lambda *args: pmapped(*args))
    assert outer.__wrapped__ is double
    assert tuple(inspect.signature(outer).parameters) == ("x",)


def signature() -> tuple[str, str]:
    """Has inspect.signature of jax.pmap(f) the names of f's arguments?"""
    import inspect

    import jax

    def double(x: jax.Array) -> jax.Array:
        return 2 * x

    names = tuple(inspect.signature(jax.pmap(double)).parameters)
    return ("there" if names == ("x",) else "gone"), f"{', '.join(names)}"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#32701", commit="jax@ebb84c4c79"),
    touches=("jax.pmap",),
    control=jit_and_vmap,
    behaviours={"other": "different"},
    rules=(Rule("gone", "jax==0.8.0", "jax#32701"), Rule("there", "", "ebb84c4c79")),
    workaround=Workaround("Wrap it: functools.wraps(f)(lambda *args: pmapped(*args)).", keep_it),
    cases=(
        Case(
            wrapped, signatures={"gone": Signature("AttributeError", "has no attribute '__wrapped__'", everyday=True)}
        ),
        Case(signature),
    ),
)
