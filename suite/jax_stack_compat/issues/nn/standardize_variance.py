"""jax.nn.standardize of numbers far from zero is NaN or wrongly scaled

JAX computes the variance as `mean(x**2) - mean(x)**2`, which is rounding error for numbers far from zero. Negative
variances gave NaN (`constant`, jax#30426); jax@c13c96b656 replaces them by 0. If the squares overflow in float16, the
result is 0 or NaN (`half_precision`). jax#37358 added `algorithm="stable"`, keeps "fast" as default for backward
compatibility, and documents the cancellation in "fast".
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def constant() -> tuple[str, str]:
    """Is jax.nn.standardize of constant rows free of NaN?"""
    import jax
    import numpy as np

    rows = np.repeat(10.0 ** (np.arange(40) / 8)[:, None], 5, axis=1).astype(np.float32)
    found = rows[np.isnan(np.asarray(jax.nn.standardize(jax.numpy.asarray(rows)))).any(axis=1), 0]
    if not found.size:
        return "finite", "no NaN for forty constants from 1 to 75000, five of each"
    return "nan", f"NaN for {found.size} of forty constants, five of each, the smallest {found[0]:.6g}"


def near_zero() -> None:
    """jax.nn.standardize of [0, 0.5, 1, 1.5] agrees with NumPy."""
    import jax
    import numpy as np

    x = np.array([0.0, 0.5, 1.0, 1.5])
    got = jax.nn.standardize(jax.numpy.asarray(x, np.float32))
    np.testing.assert_allclose(got, (x - x.mean()) / np.sqrt(x.var() + 1e-5), rtol=1e-4)


def variance_of_var() -> None:
    """With the variance from jnp.var, constant rows give no NaN, and four numbers near 4096 are standardized."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    rows = jnp.asarray(np.repeat(10.0 ** (np.arange(40) / 8)[:, None], 5, axis=1), np.float32)
    assert not jnp.isnan(jax.nn.standardize(rows, variance=jnp.var(rows, -1, keepdims=True))).any()
    x = jnp.array([4096.0, 4096.5, 4097.0, 4097.5])
    got = jax.nn.standardize(x, variance=jnp.var(x, -1, keepdims=True))
    np.testing.assert_allclose(got, [-1.3416193, -0.4472064, 0.4472064, 1.3416193], rtol=1e-3)


def standardized(x: Any) -> Any:
    """Standardize x and 16 * x + 300 with the variance from jnp.var, float16 in float32."""
    import jax
    import jax.numpy as jnp

    def standardize(x: Any) -> Any:
        x = x.astype("float32") if x.dtype == "float16" else x
        return jax.nn.standardize(x, variance=jnp.var(x, -1, keepdims=True))

    return jnp.stack([standardize(x), standardize(16 * x + 300)])


def standardized_in_float64(x: Any) -> Any:
    """Standardize x and 16 * x + 300 with NumPy in float64."""
    import numpy as np

    wide = np.asarray([x, 16 * x + 300], np.float64)
    return (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)


def offset() -> tuple[str, str]:
    """Does jax.nn.standardize of [4096, 4096.5, 4097, 4097.5] agree with NumPy?"""
    import inspect

    import jax
    import numpy as np

    x = np.array([4096.0, 4096.5, 4097.0, 4097.5])
    wanted = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
    seen, detail = compare(jax.nn.standardize(jax.numpy.asarray(x, np.float32)), wanted, rtol=1e-3)
    if seen == "differs" and "algorithm" in inspect.signature(jax.nn.standardize).parameters:
        return "fast-by-default", detail
    return seen, detail


def offset_stable() -> tuple[str, str]:
    """Does jax.nn.standardize(algorithm="stable") of four numbers near 4096 agree with NumPy?"""
    import inspect

    import jax
    import numpy as np

    if "algorithm" not in inspect.signature(jax.nn.standardize).parameters:
        return "absent", "there is no algorithm="
    x = np.array([4096.0, 4096.5, 4097.0, 4097.5])
    wanted = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
    return compare(jax.nn.standardize(jax.numpy.asarray(x, np.float32), algorithm="stable"), wanted, rtol=1e-3)


def half_precision() -> tuple[str, str]:
    """Does jax.nn.standardize of 300, 310 and 320 in float16 agree with NumPy?"""
    import jax
    import jax.numpy as jnp

    return compare(jax.nn.standardize(jnp.array([300.0, 310.0, 320.0], jnp.float16)), [-1.2247, 0.0, 1.2247], rtol=1e-2)


_JNP_VAR = Workaround(
    "Convert 16-bit x to float32; below 1e15, pass variance=jnp.var(x, -1, keepdims=True), same axis and where.",
    variance_of_var,
    elsewhere=Elsewhere(
        standardized,
        standardized_in_float64,
        ("float32 matrix", "float32 batch", "zero float32 vector", "int32 matrix", "float16 matrix", "float16 batch"),
        rtol=1e-2,
        atol=1e-2,
    ),
)
_CALL = "jax.nn.standardize(x, axis, mean, variance, epsilon, where, algorithm) if "
# The data decide, so a use is possible at most.
_FAST = f"{_CALL}not given(variance) and not algorithm == 'stable' and unseen"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#30426 jax#37281", fix="jax@c13c96b656", change="jax#37358"),
    control=near_zero,
    cases=(
        Case(
            constant,
            behaviours={"nan": "affected", "finite": "clear"},
            rules=(Rule("nan", "jax<0.8.2"), Rule("finite", "", "c13c96b656 replaces a negative variance by 0")),
            workaround=_JNP_VAR,
            touches=(_FAST,),
        ),
        Case(
            offset,
            behaviours={"fast-by-default": "documented"},
            rules=(Rule("differs", "jax<0.10.1"), Rule("fast-by-default", "", "jax#37358 and its docstring")),
            workaround=_JNP_VAR,
            touches=(_FAST,),
        ),
        Case(
            offset_stable,
            rules=(Rule("absent", "jax<0.10.1"), Rule("agrees", "", "jax#37358")),
            touches=(f"{_CALL}algorithm == 'stable'",),
        ),
        Case(
            half_precision,
            rules=(Rule("differs"),),
            workaround=_JNP_VAR,
            touches=(f"{_FAST} and uses('jax.numpy.float16')",),
        ),
    ),
)
