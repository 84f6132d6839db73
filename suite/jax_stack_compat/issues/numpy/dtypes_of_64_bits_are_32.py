"""dtype="float64" gives float32 with a warning, and int64 int32, unless x64 is on, by design

    jnp.ones(2, dtype="float64").dtype    # float32, and "Explicitly requested dtype float64 … is not available"

JAX computes in 32 bits by default. A dtype of 64 that is asked for by name is truncated, with a warning once for each
place; NumPy arrays of 64 bits that come in are truncated without one. The switch is to be set before anything is
computed: JAX_ENABLE_X64=1, or `jax.config.update("jax_enable_x64", True)`. The sharp bits have it.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def asked_by_name() -> tuple[str, str]:
    """Which dtype has jnp.ones(2, dtype="float64")?"""
    import jax.numpy as jnp

    dtype = str(jnp.ones(2, dtype="float64").dtype)
    return "kept" if dtype == "float64" else "truncated", dtype


def of_32_bits() -> None:
    """float32 is float32."""
    import jax.numpy as jnp

    assert jnp.ones(2, dtype="float32").dtype == "float32"


def switched_on() -> None:
    """With x64 on it is float64."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    try:
        assert jnp.ones(2, dtype="float64").dtype == "float64"
    finally:  # by itself the module goes on in this process
        jax.config.update("jax_enable_x64", False)


def brought_along() -> tuple[str, str]:
    """Which dtype has jnp.asarray of a NumPy array of float64?"""
    import jax.numpy as jnp
    import numpy as np

    dtype = str(jnp.asarray(np.ones(2)).dtype)
    return "kept" if dtype == "float64" else "truncated", dtype


_RUN = "the sharp bits"

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(docs="jax:notebooks/Common_Gotchas_in_JAX.html#double-64bit-precision"),
    touches=("64 bits",),
    control=of_32_bits,
    behaviours={"truncated": "documented", "truncated-with-warning": "documented", "kept": "different"},
    workaround=Workaround("Set JAX_ENABLE_X64=1, before anything is computed.", switched_on),
    cases=(
        Case(
            asked_by_name,
            rules=(Rule("truncated-with-warning", "", _RUN),),
            signatures={"truncated-with-warning": Signature("UserWarning", "Explicitly requested dtype")},
        ),
        Case(brought_along, rules=(Rule("truncated", "", _RUN),)),
    ),
)
