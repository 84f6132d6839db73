"""Gradients through a ref that is overwritten with a constant fail from jax 0.8.1 to 0.10.2; jacfwd fails through any

    def f(x):
        ref = jax.new_ref(x)
        y = ref[...]
        ref[...] = 2.0
        return y * ref[...]
    jax.grad(f)(3.0)       # AttributeError: … has no attribute 'accum', jax 0.8.1 to 0.10.2; should be 2
    jax.jacfwd(f)(3.0)     # ValueError: at vmap out_axes[0] …, from jax 0.7.2 on; should be 2

Refs are JAX's mutable arrays. What is written need not depend on what is differentiated, and before 0.8.1 it worked.
The new way of transposing wants to add to the gradient of the constant, which has none. jax#35217, a first attempt,
made the error go and the gradient wrong, and was not merged; jax#38927, for jax#33987, mended it in 0.11.0. `jacfwd`
maps over directions, and jax#31672, in 0.7.2, for jax#31670, made every ref that is made under vmap a batched one.

Seen in these runs, of three functions that make a ref: one doubles what is in it, one is f, one begins with a constant.

- `jacfwd` and `hessian` fail for all three, since 0.7.2, which named it `jax.new_ref`, and on 0.12.0.
- With 0.7.1, under the older name, `jacfwd` worked for the first two, and `hessian` for none.
- `jax.jvp` of the first is right. `grad`, and from 0.8.0 on `jacrev`, are right but for f: there both raise from 0.8.1
  to 0.10.2.
"""

from __future__ import annotations

from jax_stack_compat.cell import GRADIENTS, Case, Issue, Rule, Signature, Upstream, Workaround, compare


def overwritten() -> tuple[str, str]:
    """Does grad of a function that reads a ref and overwrites it with a constant give its gradient?"""
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
    """grad and jvp of a function that doubles what is in a ref; without refs, any."""
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
    """A constant that depends on the input, by 0."""
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
    """Does it where the function is jitted?"""
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
    """Does jacfwd of a function that makes a ref and doubles what is in it give 2?"""
    import jax

    if not hasattr(jax, "new_ref"):
        return "absent", "there is no jax.new_ref"

    def f(x: jax.Array) -> jax.Array:
        ref = jax.new_ref(x)
        ref[...] = 2.0 * ref[...]
        return ref[...]

    return compare(jax.jacfwd(f)(3.0), 2.0)


def one_direction() -> None:
    """Forward mode by jax.jvp, without vmap."""
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
    upstream=Upstream.of(report="jax#33987", fix="jax#38927", change="jax#35217", commit="jax#31672"),
    known_by=r"\bnew_ref\b|\bRef\b|\bin jacfun\b",
    control=doubled,
    rules=(
        _ABSENT,
        Rule("agrees", "jax<0.8.1"),
        Rule("no-accum", "jax<0.11"),
        Rule("agrees", "", "jax#38927 (120f0b4132)"),
    ),
    workaround=Workaround("Have the constant depend on the input: 2.0 + 0.0 * x.", depends_on_it),
    signatures={"no-accum": Signature("AttributeError", "has no attribute …accum")},
    cases=(
        Case(overwritten, touches=_OVERWRITTEN),
        Case(overwritten_jitted, touches=_OVERWRITTEN),
        Case(
            jacfwd,
            behaviours={"agrees": "clear", "differs": "different"},
            rules=(_ABSENT, Rule("axis-spec", "", "jax#31672 batches the ref")),
            workaround=Workaround("Use jax.jvp, one direction at a time, or from 0.8.0 on jacrev.", one_direction),
            signatures={
                "axis-spec": Signature("ValueError", "got axis spec None but output was batched", everyday=True)
            },
            touches=(
                "jax.new_ref if uses('jax.jacfwd', 'jax.hessian', 'equinox.filter_jacfwd', 'equinox.filter_hessian')",
            ),
        ),
    ),
)
