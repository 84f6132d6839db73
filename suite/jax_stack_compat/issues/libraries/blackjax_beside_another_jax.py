"""BlackJAX fails beside a newer jax, or an older one: host_callback, jax.tree_map, the keywords of jnp.clip

    kernel = blackjax.nuts(log_density, step_size=0.5, inverse_mass_matrix=jnp.ones(2))
    kernel.step(key, state)    # 1.2.0 beside jax 0.10.1: TypeError: clip() got an unexpected keyword argument 'a_max'
                               # 1.2.1 beside jax 0.4.26: TypeError: clip() got an unexpected keyword argument 'max'

You'd expect a sampler that imports, and whose metadata allows the jax that is there, to draw. All releases up to 1.3
ask for jax 0.4.16 or newer. `jnp.clip` takes `max` from jax 0.4.27 on and `a_max` up to 0.9.2, and BlackJAX changed
from one to the other with 1.2.1. What maps over trees, such as its L-BFGS, calls `jax.tree_map` up to 1.1.1, which jax
0.6.0 took away, and from 1.2.0 on `jax.tree.map`, which came with jax 0.4.25. Up to 1.1.1 it imports
jax.experimental.host_callback, which went with jax 0.8.0, so that nothing of it imports.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def nuts() -> tuple[str, str]:
    """Does BlackJAX take a step of NUTS under jit?"""
    import blackjax
    import jax
    import jax.numpy as jnp

    kernel = blackjax.nuts(lambda x: -0.5 * jnp.sum(x * x), step_size=0.5, inverse_mass_matrix=jnp.ones(2))
    found, _ = jax.jit(kernel.step)(jax.random.PRNGKey(0), kernel.init(jnp.ones(2)))
    return "works" if bool(jnp.isfinite(found.position).all()) else "other-values", f"{found.position}"


def control() -> None:
    """What both need of JAX by itself: the gradient of a density under jit, and a function of each leaf."""
    import jax
    import jax.numpy as jnp

    gradient = jax.jit(jax.grad(lambda x: -0.5 * jnp.sum(x * x)))
    assert float(jax.tree_util.tree_map(lambda leaf: leaf[0], gradient(jnp.ones(2)))) == -1.0


def lbfgs() -> tuple[str, str]:
    """Does its L-BFGS find the least of a parabola?"""
    import jax.numpy as jnp
    from blackjax.optimizers.lbfgs import minimize_lbfgs

    (found, _), _ = minimize_lbfgs(lambda x: jnp.sum((x - 1) ** 2), jnp.zeros(2))
    return "works" if bool((abs(found - 1) < 1e-3).all()) else "other-values", f"{found}"


NO_TAP = Signature("ImportError", "cannot import name 'host_callback'", "blackjax")
NO_TAP_RULE = Rule("no-tap", "blackjax<1.2.0 jax>=0.8.0")
ISSUE = Issue(
    kind="import-error",
    upstream=Upstream.of(report="blackjax-devs/blackjax#665", fix="blackjax-devs/blackjax#666", change="jax#19930"),
    touches=("BlackJAX", "jax.tree_map", "jax.numpy.clip"),
    control=control,
    needs=("jax", "blackjax"),
    behaviours={"other-values": "affected"},
    cases=(
        Case(
            nuts,
            touches=("import blackjax if shows('no-tap')", "blackjax.nuts if shows('no-a-max', 'no-max')"),
            workaround=Workaround(
                "Take BlackJAX 1.2.1 or later, with jax 0.4.27 or later.", pin="blackjax>=1.2.1", fails=("jax<0.4.27",)
            ),
            signatures={
                "no-tap": NO_TAP,
                "no-a-max": Signature("TypeError", "unexpected keyword argument 'a_max'", "blackjax"),
                "no-max": Signature("TypeError", "unexpected keyword argument 'max'", "blackjax"),
            },
            rules=(
                NO_TAP_RULE,
                Rule("no-a-max", "blackjax<1.2.1 jax>=0.10.0"),
                Rule("no-max", "blackjax>=1.2.1 jax<0.4.27"),
                Rule("works"),
            ),
        ),
        Case(
            lbfgs,
            touches=("import blackjax if shows('no-tap')", "blackjax.optimizers if shows('no-tree-map', 'no-tree')"),
            workaround=Workaround("Take BlackJAX 1.2 or later, with jax 0.4.25 or later.", pin="blackjax>=1.2.0"),
            signatures={
                "no-tap": NO_TAP,
                "no-tree-map": Signature("AttributeError", "tree_map", "blackjax"),
                "no-tree": Signature("AttributeError", "has no attribute 'tree'", "blackjax"),
            },
            rules=(
                NO_TAP_RULE,
                Rule("no-tree-map", "blackjax<1.2.0 jax>=0.6.0", "JAX's changelog of 0.6.0"),
                Rule("no-tree", "blackjax>=1.2.0 jax<0.4.25", "blackjax#665"),
                Rule("works"),
            ),
        ),
    ),
)
