"""jax.jacfwd fails if the result of f depends on a ref that f makes

jax#31672 batches refs made under vmap, but `jacfwd` needs an unbatched value of f.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare


def jacfwd() -> tuple[str, str]:
    """Does jax.jacfwd differentiate a function that makes a jax.new_ref and doubles its value?"""
    import jax

    new_ref = jax.new_ref if hasattr(jax, "new_ref") else getattr(jax, "array_ref", None)  # as it was in 0.7.1
    if new_ref is None:
        return "absent", "there is no jax.new_ref"

    def f(x: jax.Array) -> jax.Array:
        ref = new_ref(x)
        ref[...] = 2.0 * ref[...]
        return ref[...]

    return compare(jax.jacfwd(f)(3.0), 2.0)


def ref_made_outside() -> None:
    """jax.jacfwd differentiates a function without a ref, and one that reads a ref made outside."""
    import jax

    assert jax.jacfwd(lambda x: 2.0 * x)(3.0) == 2.0
    if hasattr(jax, "new_ref"):
        ref = jax.new_ref(jax.numpy.float32(2.0))
        assert jax.jacfwd(lambda x: x * ref[...])(3.0) == 2.0


def all_directions() -> None:
    """The stacked tangents of jax.jvp, one for each direction, give the Jacobian."""
    import jax

    if hasattr(jax, "new_ref"):
        assert jacobian(jax.numpy.array([1.0, 3.0])).tolist() == [[10.0, 2.0], [6.0, 14.0]]


def jacobian(x: Any) -> Any:
    """Return the Jacobian of a function that makes a ref and writes to its items, with one jvp per direction."""
    import jax
    import jax.numpy as jnp

    new_ref = getattr(jax, "new_ref", None) or jax.array_ref

    def f(x: Any) -> Any:
        ref = new_ref(x)
        ref[0] = 2.0 * x[0]
        ref[1:] = 2.0 * x[1:]
        return ref[...] * x.sum()

    return jnp.stack([jax.jvp(f, (x,), (v,))[1] for v in jnp.eye(x.size, dtype=x.dtype)], -1)


def by_hand(x: Any) -> Any:
    """Return the Jacobian of `2 * x * x.sum()`."""
    import numpy as np

    return 2 * x.sum() * np.eye(x.size) + 2 * x[:, None]


# A call outside of all functions makes no ref inside f: there, `within` is false, and not open.
_JACOBIANS = "'jax.jacfwd', 'jax.hessian', 'equinox.filter_jacfwd', 'equinox.filter_hessian'"

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(cause="jax#31672"),
    touches=(
        f"jax.new_ref(init_val) if uses({_JACOBIANS}) "
        f"and (not seen(not within({_JACOBIANS})) or not seen(given(init_val)))",
    ),
    known_by=r"\bnew_ref\b|\bRef\b|\bin jacfun\b",
    workaround=Workaround(
        "For non-empty vectors x, f(x), slower: "
        "jnp.stack([jax.jvp(f, (x,), (v,))[1] for v in jnp.eye(x.size, dtype=x.dtype)], -1).",
        all_directions,
        elsewhere=Elsewhere(jacobian, by_hand, ("float32 vector", "float16 vector", "complex64 vector"), 2e-3),
    ),
    signatures={"axis-spec": Signature("ValueError", "got axis spec None but output was batched", everyday=True)},
    behaviours={"agrees": "clear", "differs": "different"},
    rules=(
        Rule("absent", "jax<0.7.1", "jax.array_ref came with 0.7.1"),
        Rule("agrees", "jax<0.7.2"),
        Rule("axis-spec", "", "jax#31672"),
    ),
    cases=(Case(jacfwd, ref_made_outside),),
)
