"""Flax fails beside the jax that came after it: in Linen, in nnx.jit, or as nnx is imported

    flax.linen.Dense(3).init(key, x)    # 0.9.0 beside jax 0.4.36: 'EvalTrace' object has no attribute 'level'
    flax.nnx.jit(f)                     # 0.12.1 beside jax 0.8.2: jit() got an unexpected … 'abstracted_axes'
    from flax import nnx                # 0.9.0 beside jax 0.4.36, 0.12.0 beside 0.9.0, 0.12.6 beside 0.11.0

You'd expect Flax, which asks for a jax of its time or newer, to work with a newer one. It looks at how deep in JAX's
transformations it is, takes classes from JAX's insides, and passes arguments of `jax.jit` on, by ways that JAX is free
to change, and did: at the end of 2024, at the end of 2025, and three times in 2026. Linen and NNX break apart
from each other: where `from flax import nnx` fails, Linen may go on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def linen() -> tuple[str, str]:
    """Does a layer of Linen initialise, and apply under jit?"""
    import jax
    import jax.numpy as jnp
    from flax import linen

    layer, x = linen.Dense(3), jnp.ones((2, 4))
    found = jax.jit(layer.apply)(layer.init(jax.random.PRNGKey(0), x), x)
    return "applies" if found.shape == (2, 3) else "no-layer", f"a layer's output of shape {found.shape}"


def by_hand() -> None:
    """What a layer needs of JAX by itself: parameters in a tree, and a product under jit."""
    import jax
    import jax.numpy as jnp

    layer = jax.jit(lambda of, x: x @ of["w"] + of["b"])
    assert layer({"w": jnp.ones((4, 3)), "b": jnp.zeros(3)}, jnp.ones((2, 4))).tolist() == [[4.0] * 3] * 2


def nnx_jit() -> tuple[str, str]:
    """Does one of NNX apply under nnx.jit?"""
    import jax.numpy as jnp
    from flax import nnx

    found = nnx.jit(lambda layer, x: layer(x))(nnx.Linear(4, 3, rngs=nnx.Rngs(0)), jnp.ones((2, 4)))
    return "applies" if found.shape == (2, 3) else "no-layer", f"a layer's output of shape {found.shape}"


_APPLIES = Rule("applies")

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="google/flax#5148 apax-hub/apax#387"),
    touches=("Flax",),
    control=by_hand,
    workaround=Workaround("Upgrade Flax with jax, or cap jax until it has followed.", pin="flax>=0.12.10"),
    needs=("jax", "flax"),
    behaviours={"applies": "clear", "no-layer": "affected"},
    cases=(
        Case(
            linen,
            touches=("flax.linen if shows('no-level', 'no-trace-state')",),
            signatures={
                "no-level": Signature("AttributeError", "'EvalTrace' object has no attribute 'level'", "flax"),
                "no-trace-state": Signature("AttributeError", "get_opaque_trace_state", "flax"),
            },
            rules=(
                Rule("no-trace-state", "flax<0.12.7 jax>=0.11.0"),
                Rule("no-level", "flax<0.10.0 jax>=0.4.36", "apax#387"),
                _APPLIES,
            ),
        ),
        Case(
            nnx_jit,
            touches=("import flax.nnx if shows('does-not-import')", "flax.nnx.jit if shows('no-abstracted-axes')"),
            signatures={
                "does-not-import": (
                    Signature("ImportError", "cannot import name 'MainTrace'", "flax"),
                    Signature("ImportError", "cannot import name 'mutable_array'", "flax"),
                    Signature("AttributeError", "Effect", "flax"),
                    Signature("AttributeError", "has no attribute 'MutableHiType'", "flax"),
                    Signature("AttributeError", "has no attribute 'HiPrimitive'", "flax"),
                ),
                "no-abstracted-axes": Signature("TypeError", "unexpected keyword argument 'abstracted_axes'", "flax"),
            },
            rules=(
                Rule("does-not-import", "flax<0.10.0 jax>=0.4.36", "MainTrace"),
                Rule("does-not-import", "flax>=0.12.0,<0.12.1 jax>=0.9.0", "mutable_array"),
                Rule("does-not-import", "flax<0.12.7 jax>=0.11.0", "jax.core.Effect"),
                Rule("does-not-import", "flax<0.12.9 jax>=0.11.1", "MutableHiType"),
                Rule("does-not-import", "flax<0.12.10 jax>=0.11.2", "HiPrimitive"),
                Rule("no-abstracted-axes", "flax<0.12.2 jax>=0.8.2", "flax#5148"),
                _APPLIES,
            ),
        ),
    ),
)
