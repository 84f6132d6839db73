"""Haiku does not import beside a newer jax, or an older one: jax.core.JaxprEqn, jax.lib.xla_extension, DropVar

    import haiku    # 0.0.13 beside jax 0.6.0: AttributeError: jax.core.JaxprEqn was removed in JAX v0.6.0
                    # 0.0.14 beside jax 0.8.0: AttributeError: jax.lib.xla_extension.PjitFunction is deprecated
                    # 0.0.16 beside jax 0.11.0: AttributeError: jax.core.DropVar was deprecated … and removed
                    # 0.0.17 beside jax 0.4.35: AttributeError: … no attribute 'take_current_trace'

You'd expect an installer to choose releases that go together. It cannot: Haiku names jax in an extra only, without an
upper bound. On import it takes names out of `jax.core` and `jax.lib`, and JAX removed them, in April and October 2025
and in July 2026. The Haiku for the new jax came days later, or had come before. 0.0.17 needs jax 0.4.36 in its turn.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def applies() -> tuple[str, str]:
    """Does Haiku import, and apply a layer under jit?"""
    import haiku
    import jax
    import jax.numpy as jnp

    layer = haiku.without_apply_rng(haiku.transform(lambda x: haiku.Linear(3)(x)))
    x = jnp.ones((2, 4))
    found = jax.jit(layer.apply)(layer.init(jax.random.PRNGKey(0), x), x)
    return "applies" if found.shape == (2, 3) else "other", f"a layer's output of shape {found.shape}"


def control_applies() -> None:
    """What a layer needs of JAX by itself: parameters in a tree, and a product under jit."""
    import jax
    import jax.numpy as jnp

    layer = jax.jit(lambda of, x: x @ of["w"] + of["b"])
    assert layer({"w": jnp.ones((4, 3)), "b": jnp.zeros(3)}, jnp.ones((2, 4))).tolist() == [[4.0] * 3] * 2


_RAISED = "'no-jaxpr-eqn', 'no-xla-extension', 'no-drop-var', 'no-take-current-trace'"

ISSUE = Issue(
    kind="import-error",
    upstream=Upstream.of(
        report="neuralgcm/neuralgcm#333 pyro-ppl/numpyro#2019 google-deepmind/alphafold3#715",
        change="evo-design/proto-tools#31",
    ),
    touches=("Haiku",),
    control=control_applies,
    behaviours={"applies": "clear", "other": "affected"},
    rules=(
        Rule("no-xla-extension", "dm-haiku<0.0.15 jax>=0.8.0"),
        Rule("no-jaxpr-eqn", "dm-haiku<0.0.14 jax>=0.6.0", "numpyro#2019"),
        Rule("no-drop-var", "dm-haiku<0.0.17 jax>=0.11.0", "alphafold3#715"),
        Rule("no-take-current-trace", "dm-haiku>=0.0.17 jax<0.4.36", "proto-tools#31"),
        Rule("applies"),
    ),
    workaround=Workaround("Upgrade Haiku with jax; below jax 0.4.36 stay at 0.0.16.", pin="dm-haiku>=0.0.17"),
    signatures={
        "no-jaxpr-eqn": Signature("AttributeError", "JaxprEqn", "haiku"),
        "no-xla-extension": Signature("AttributeError", "xla_extension", "haiku"),
        "no-drop-var": Signature("AttributeError", "DropVar", "haiku"),
        "no-take-current-trace": Signature("AttributeError", "take_current_trace", "haiku"),
    },
    needs=("jax", "dm-haiku"),
    cases=(Case(applies, touches=(f"import haiku if shows({_RAISED})",)),),
)
