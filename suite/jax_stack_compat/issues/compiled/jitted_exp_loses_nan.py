"""Under jit, jnp.exp(x * jnp.nan) returns a number instead of NaN

On CPUs, LLVM's optimizer replaced the exponential of a constant NaN by an undefined value, often another number in the
next run (`float32`, `float64`, `bfloat16`, `float16`). Eager mode returns NaN, and so does jit for a NaN in an argument
(`argument`). A SciPy test failed in float64 (scipy#23177), which jax#29537 reported (`float64`); the test passed again
after an upstream fix (scipy#24249).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround


def float64() -> tuple[str, str]:
    """Is jit of jnp.exp(x * jnp.nan) NaN in float64?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    sizes = [jnp.full(n, 0.123, "float64") for n in range(1, 9)]
    got = jax.jit(lambda arrays: [jnp.exp(x * jnp.nan) for x in arrays])(sizes)
    kept = all(np.isnan(np.asarray(one, float)).all() for one in got)
    return ("kept", "NaN for 1 to 8 elements") if kept else ("lost", "numbers, should be NaN")


def argument() -> None:
    """Jitted jnp.exp returns NaN for a NaN in an argument."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    for dtype in (np.float32, np.float64):
        got = jax.jit(lambda x: jnp.exp(x * 2.0))(np.array([np.nan, 0.0], dtype))
        np.testing.assert_array_equal(got, [np.nan, 1.0])


def keep_it() -> None:
    """With jnp.where, jitted jnp.exp returns NaN for NaN, also in a loop."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def exp(y: jax.Array) -> jax.Array:
        return jnp.where(jnp.isnan(y), y, jnp.exp(y))

    for n in (1, 8):
        x = jnp.full(n, 0.123)
        assert np.isnan(jax.jit(lambda x: exp(x * jnp.nan))(x)).all()
        assert np.isnan(jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, c: exp(c * jnp.nan), x))(x)).all()


def compiled_exp(x: Any) -> Any:
    """Return the compiled exponentials of x and of NaN."""
    import jax
    import jax.numpy as jnp

    return jax.jit(lambda x: jnp.stack([jnp.where(jnp.isnan(y), y, jnp.exp(y)) for y in (x, x * jnp.nan)]))(x)


def numpy_exp(x: Any) -> Any:
    """Return NumPy's exponentials of x and of NaN."""
    import numpy as np

    return np.stack([np.exp(x), np.exp(x * np.nan)])


def float32() -> tuple[str, str]:
    """Is jit of jnp.exp(x * jnp.nan) NaN in float32?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    sizes = [jnp.full(n, 0.123, "float32") for n in range(1, 9)]
    got = jax.jit(lambda arrays: [jnp.exp(x * jnp.nan) for x in arrays])(sizes)
    kept = all(np.isnan(np.asarray(one, float)).all() for one in got)
    return ("kept", "NaN for 1 to 8 elements") if kept else ("lost", "numbers, should be NaN")


def bfloat16() -> tuple[str, str]:
    """Is jit of jnp.exp(x * jnp.nan) NaN in bfloat16?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    sizes = [jnp.full(n, 0.123, "bfloat16") for n in range(1, 9)]
    got = jax.jit(lambda arrays: [jnp.exp(x * jnp.nan) for x in arrays])(sizes)
    kept = all(np.isnan(np.asarray(one, float)).all() for one in got)
    return ("kept", "NaN for 1 to 8 elements") if kept else ("lost", "numbers, should be NaN")


def float16() -> tuple[str, str]:
    """Is jit of jnp.exp(x * jnp.nan) NaN in float16?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    sizes = [jnp.full(n, 0.123, "float16") for n in range(1, 9)]
    got = jax.jit(lambda arrays: [jnp.exp(x * jnp.nan) for x in arrays])(sizes)
    kept = all(np.isnan(np.asarray(one, float)).all() for one in got)
    return ("kept", "NaN for 1 to 8 elements") if kept else ("lost", "numbers, should be NaN")


_JIT = "uses('jax.jit', 'equinox.filter_jit')"
_NAN = f"jax.numpy.nan if within('jax.numpy.exp') and not within('jax.numpy.where') and {_JIT}"
_INPUTS = (
    *("float32 matrix", "float32 scalar", "float32 empty", "zero float32 vector"),
    *("float16 vector", "float64 batch", "int32 vector", "complex64 vector"),
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#29537 scipy/scipy#23177", discussion="scipy/scipy#24249"),
    control=argument,
    behaviours={"kept": "clear"},
    workaround=Workaround(
        "Keep the NaN: jnp.where(jnp.isnan(y), y, jnp.exp(y)).",
        keep_it,
        elsewhere=Elsewhere(compiled_exp, numpy_exp, _INPUTS, rtol=2e-3),
    ),
    cases=(
        Case(
            float64,
            x64=True,
            rules=(Rule("lost", "jaxlib==0.6.2"), Rule("kept")),
            touches=(f"{_NAN} and uses('jax_enable_x64')",),
        ),
        Case(
            float32,
            rules=(
                Rule("lost", "jaxlib<0.11.2", "in jaxlib 0.6.1, the LLVM code stores a poison value"),
                Rule("kept"),
            ),
            touches=(f"{_NAN} and not uses('jax_enable_x64')",),
        ),
        Case(
            bfloat16,
            rules=(Rule("lost", "jaxlib>=0.4.26,<0.11.2"), Rule("kept")),
            touches=(f"{_NAN} and uses('jax.numpy.bfloat16')",),
        ),
        Case(
            float16,
            rules=(Rule("lost", "jaxlib>=0.5.1,<0.11.2"), Rule("kept")),
            touches=(f"{_NAN} and uses('jax.numpy.float16')",),
        ),
    ),
)
