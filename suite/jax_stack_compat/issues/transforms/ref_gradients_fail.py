"""grad fails if a constant overwrites a ref, jacfwd if f reads its own ref

Overwriting a ref, JAX's mutable array, with a constant breaks `grad`: the transposition that 24686f9b37 made the
default adds to the gradient of the constant, which has none (jax#33987). jax#38927 fixed it; jax#35217, an earlier
attempt, gave a wrong gradient. `jacfwd` fails for another reason: jax#31672 batches refs that are made under vmap, so
the value that f reads is batched, which `jacfwd` does not accept.
"""

from __future__ import annotations

from jax_stack_compat.cell import GRADIENTS, Case, Issue, Rule, Signature, Upstream, Workaround, compare


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
    """A constant plus 0 times the input overwrites the ref."""
    import jax

    if not hasattr(jax, "new_ref"):
        return

    def f(x: jax.Array) -> jax.Array:
        ref = jax.new_ref(x)
        y = ref[...]
        ref[...] = 2.0 + 0.0 * x
        return y * ref[...]

    assert jax.grad(f)(3.0) == 2.0
    assert jax.grad(jax.jit(f))(3.0) == 2.0


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


def jacfwd() -> tuple[str, str]:
    """Does jax.jacfwd differentiate a function that makes a ref and doubles its value?"""
    import jax

    if not hasattr(jax, "new_ref"):
        return "absent", "there is no jax.new_ref"

    def f(x: jax.Array) -> jax.Array:
        ref = jax.new_ref(x)
        ref[...] = 2.0 * ref[...]
        return ref[...]

    return compare(jax.jacfwd(f)(3.0), 2.0)


def one_direction() -> None:
    """jax.jvp differentiates in one direction."""
    import jax

    if not hasattr(jax, "new_ref"):
        return

    def f(x: jax.Array) -> jax.Array:
        ref = jax.new_ref(x)
        ref[...] = 2.0 * ref[...]
        return ref[...]

    assert jax.jvp(f, (3.0,), (1.0,))[1] == 2.0


_ABSENT = Rule("absent", "jax<0.7.2", "jax.new_ref came with 0.7.2")
_OVERWRITTEN = (f"jax.new_ref if {GRADIENTS}",)

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#33987", cause="jax@24686f9b37 jax#31672", fix="jax#38927", attempt="jax#35217"),
    known_by=r"\bnew_ref\b|\bRef\b|\bin jacfun\b",
    control=doubled,
    rules=(
        _ABSENT,
        Rule("agrees", "jax<0.8.1"),
        Rule("no-accum", "jax<0.11", "24686f9b37"),
        Rule("agrees", "", "jax#38927 (120f0b4132)"),
    ),
    workaround=Workaround("For finite x: overwrite the ref with 2.0 + 0.0 * x.", depends_on_it),
    signatures={"no-accum": Signature("AttributeError", "has no attribute …accum")},
    cases=(
        Case(overwritten, touches=_OVERWRITTEN),
        Case(overwritten_jitted, touches=_OVERWRITTEN),
        Case(
            jacfwd,
            behaviours={"agrees": "clear", "differs": "different"},
            rules=(_ABSENT, Rule("axis-spec", "", "jax#31672 batches the ref")),
            workaround=Workaround("Call jax.jvp(f, (x,), (v,)) for each direction v.", one_direction),
            signatures={
                "axis-spec": Signature("ValueError", "got axis spec None but output was batched", everyday=True)
            },
            touches=(
                "jax.new_ref if uses('jax.jacfwd', 'jax.hessian', 'equinox.filter_jacfwd', 'equinox.filter_hessian')",
            ),
        ),
    ),
)
