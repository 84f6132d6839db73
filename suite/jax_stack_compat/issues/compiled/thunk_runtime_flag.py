"""XLA_FLAGS=--xla_cpu_use_thunk_runtime=false stops everything in jax 0.7.0 and 0.7.1: CpuExecutable has no thunks

    XLA_FLAGS=--xla_cpu_use_thunk_runtime=false python -c "import jax; jax.numpy.ones(3)"
    XlaRuntimeError: INTERNAL: CpuExecutable has no thunks.

The flag is what many threads on slow loops on the CPU tell their readers to set (jax#25190, jax#26021). jaxlib knows
it since 0.4.29, and ends the process before that, as it does for any flag that it does not know. jaxlib 0.7.0 has no
other runtime left: it compiles nothing for the one that the flag asks for, and runs nothing. From 0.7.2 on the flag
is taken, and changes nothing. So jax#30554, open, is answered by the releases: leave the flag out from 0.7.0 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def any_computation() -> tuple[str, str]:
    """Does anything run with the flag?"""
    import jax.numpy as jnp

    return "runs", f"the sum of three ones is {float(jnp.ones(3).sum())}"


def traced() -> None:
    """What needs no device works."""
    import jax
    import numpy as np

    assert jax.eval_shape(lambda x: x + 1, np.ones(3, np.float32)).shape == (3,)


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#30554"),
    touches=("XLA flags",),
    control=traced,
    behaviours={"runs": "clear", "crashed": "guarded"},
    rules=(
        Rule("crashed", "jaxlib<0.4.29", "an unknown flag"),
        Rule("no-thunks", "jaxlib>=0.7.0,<0.7.2", "jax#30554"),
        Rule("runs"),
    ),
    workaround=Workaround(
        "Leave the flag out.", environment={"XLA_FLAGS": "--xla_cpu_use_thunk_runtime=true"}, fails=("jaxlib<0.4.29",)
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
