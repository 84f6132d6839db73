"""jax.grad fails if a constant overwrites a ref that is then read

A ref is JAX's mutable array. 24686f9b37 made another transposition the default, which adds to the gradient of the value
that overwrites a ref. A constant has no gradient, so `jax.grad` raises an AttributeError (jax#33987). jax#38927 fixed
this error; jax#35217, an earlier attempt, gave a wrong gradient.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import GRADIENTS, Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare


def overwritten() -> tuple[str, str]:
    """Does jax.grad differentiate a function that overwrites a ref with a constant?"""
    import jax

    if not hasattr(jax, "new_ref"):
        return "absent", "there is no jax.new_ref"

    def f(x: jax.Array) -> jax.Array:
        ref = jax.new_ref(x)
        y = ref[...]
        ref[...] = 2.0
        return y * ref[...]

    return compare(jax.grad(f)(3.0), 2.0)


def doubled() -> None:
    """grad and jvp differentiate a function that doubles a ref's value; without refs, grad alone."""
    import jax

    assert jax.grad(lambda x: 2.0 * x)(3.0) == 2.0
    if hasattr(jax, "new_ref"):

        def f(x: jax.Array) -> jax.Array:
            ref = jax.new_ref(x)
            ref[...] = 2.0 * ref[...]
            return ref[...]

        assert jax.grad(f)(3.0) == 2.0
        assert jax.jvp(f, (3.0,), (1.0,))[1] == 2.0


def depends_on_it() -> None:
    """jax.grad succeeds if a constant plus 0 times its old value overwrites the ref."""
    import jax

    if not hasattr(jax, "new_ref"):
        return

    def f(x: jax.Array) -> jax.Array:
        ref = jax.new_ref(x)
        y = ref[...]
        ref[...] = 2.0 + 0.0 * ref[...]
        return y * ref[...]

    assert jax.grad(f)(3.0) == 2.0
    assert jax.grad(jax.jit(f))(3.0) == 2.0


def gradient(x: Any) -> Any:
    """Differentiate a function that overwrites a ref with a constant plus 0 times its old value."""
    import jax

    def f(x: Any) -> Any:
        ref = jax.new_ref(x)
        y = ref[...]
        ref[...] = 3.0 + 0.0 * ref[...]
        return (y * ref[...]).sum()

    return jax.grad(f)(x)


def threes(x: Any) -> Any:
    """Return the gradient of `(3 * x).sum()`."""
    import numpy as np

    return np.full_like(x, 3.0)


def overwritten_jitted() -> tuple[str, str]:
    """Does jax.grad differentiate a jitted function that overwrites a ref with a constant?"""
    import jax

    if not hasattr(jax, "new_ref"):
        return "absent", "there is no jax.new_ref"

    def f(x: jax.Array) -> jax.Array:
        ref = jax.new_ref(x)
        y = ref[...]
        ref[...] = 2.0
        return y * ref[...]

    return compare(jax.grad(jax.jit(f))(3.0), 2.0)


_ABSENT = Rule("absent", "jax<0.7.2", "jax.new_ref came with 0.7.2")
# A ref that is made outside of the differentiated function has no gradient.
_OVERWRITTEN = (f"jax.new_ref if unseen and {GRADIENTS.replace('uses', 'within', 1)}",)

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#33987", cause="jax@24686f9b37", fix="jax#38927", attempt="jax#35217"),
    known_by=r"\bnew_ref\b|\bRef\b",
    control=doubled,
    rules=(
        _ABSENT,
        Rule("agrees", "jax<0.8.1"),
        Rule("no-accum", "jax<0.11", "24686f9b37"),
        Rule("agrees", "", "jax#38927 (120f0b4132)"),
    ),
    workaround=Workaround(
        "For first derivatives, add 0.0 times the ref's finite old value to the constant.",
        depends_on_it,
        elsewhere=Elsewhere(
            gradient,
            threes,
            ("float32 vector", "float16 matrix", "float32 scalar", "float32 empty", "zero float32 batch"),
        ),
    ),
    signatures={"no-accum": Signature("AttributeError", "has no attribute …accum")},
    cases=(
        Case(overwritten, touches=_OVERWRITTEN),
        Case(overwritten_jitted, touches=_OVERWRITTEN),
    ),
)
