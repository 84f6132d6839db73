"""With --xla_cpu_use_thunk_runtime=false, no compiled code runs on CPUs

JAX's changelog names the flag `--xla_cpu_use_thunk_runtime=false` as a temporary way back to the old CPU backend, and
jax#26145 uses it for a slow simulator. A newer jaxlib runs with the flag, and logs that it "is no longer supported";
jax#30554 is open.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def any_computation() -> tuple[str, str]:
    """Does jnp.ones(3).sum() run with XLA_FLAGS=--xla_cpu_use_thunk_runtime=false?"""
    import jax.numpy as jnp

    return "runs", f"the sum of three ones is {float(jnp.ones(3).sum())}"


def traced() -> None:
    """jax.eval_shape, which runs nothing, returns the shape."""
    import jax
    import numpy as np

    assert jax.eval_shape(lambda x: x + 1, np.ones(3, np.float32)).shape == (3,)


def other_programs() -> None:
    """Without the flag, other functions run: a key, a gradient, a loop and a cumulative sum."""
    import jax
    import jax.numpy as jnp

    assert jax.random.uniform(jax.random.PRNGKey(0), (2, 3)).shape == (2, 3)
    assert float(jax.grad(lambda x: x**3)(2.0)) == 12.0
    assert int(jax.lax.fori_loop(0, 5, lambda i, x: x + i, 0)) == 10
    assert jax.jit(jnp.cumsum)(jnp.ones(3, "float16")).tolist() == [1.0, 2.0, 3.0]


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="jax#30554", discussion="jax#26145", docs="jax:changelog.html#jaxlib-0-4-32-september-11-2024"
    ),
    touches=("XLA flags",),
    control=traced,
    behaviours={"runs": "clear", "crashed": "absent"},
    rules=(
        Rule("crashed", "jaxlib<0.4.29", "the flag is unknown"),
        Rule("no-thunks", "jaxlib>=0.7.0,<0.7.2", "jax#30554"),
        Rule("runs"),
    ),
    # A workaround's flags are added to the case's: true is the default, as without the flag.
    workaround=Workaround(
        "Remove --xla_cpu_use_thunk_runtime from XLA_FLAGS.",
        environment={"XLA_FLAGS": "--xla_cpu_use_thunk_runtime=true"},
        fails=("jaxlib<0.4.29",),
        elsewhere=other_programs,
    ),
    signatures={
        "no-thunks": (
            Signature("XlaRuntimeError", "CpuExecutable has no thunks"),
            Signature("JaxRuntimeError", "CpuExecutable has no thunks"),
        )
    },
    environment={"XLA_FLAGS": "--xla_cpu_use_thunk_runtime=false"},
    cases=(Case(any_computation),),
)
