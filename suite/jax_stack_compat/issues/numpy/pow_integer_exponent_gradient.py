"""The gradient of z ** n is wrong where an integer array n is 0

The derivative rule for integer exponents, new in jax#16419, gave `z ** 0` the derivative 1. The rule's test expected 1,
too (jax#17996). Floating-point exponents avoid the error (jax#17995), but the gradient of `0.0 ** 0.0` is NaN
(jax#14397).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import DERIVATIVES, Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def exponents() -> tuple[str, str]:
    """Does jax.grad of sum(z ** jnp.arange(3)) return the derivative of 1 + z + z²?"""
    import jax
    import jax.numpy as jnp

    return compare(jax.grad(lambda z: jnp.sum(z ** jnp.arange(3)))(3.0), 7.0, rtol=1e-6)


def positive_or_python() -> None:
    """The gradient of z ** n is correct for array exponents from 1 on, and for a Python 0."""
    import jax
    import jax.numpy as jnp

    assert jnp.allclose(jax.grad(lambda z: jnp.sum(z ** jnp.arange(1, 3)))(3.0), 7.0)
    assert jax.grad(lambda z: z**0)(3.0) == 0.0


def one_for_zero() -> None:
    """jnp.where(n == 0, 1.0, z**n) has the right gradient, also at z = 0 and with a traced n."""
    import jax
    import jax.numpy as jnp

    n = jnp.arange(3)
    gradient = jax.grad(lambda z: jnp.sum(jnp.where(n == 0, 1.0, z**n)))
    assert jnp.allclose(jnp.array([gradient(3.0), gradient(0.0)]), jnp.array([7.0, 1.0]))
    assert jax.grad(jax.jit(lambda z, n: jnp.where(n == 0, 1.0, z**n)))(3.0, 0) == 0.0


def of_polynomial(z: Any) -> Any:
    """Differentiate 1 + z + z**2, where z**0 is written as 1."""
    import jax
    import jax.numpy as jnp

    n = jnp.arange(3)
    return jax.grad(lambda z: jnp.sum(jnp.where(n == 0, 1.0, z[..., None] ** n)))(z)


def derivative(z: Any) -> Any:
    """Return 1 + 2z."""
    return 1 + 2 * z


def traced_exponent() -> tuple[str, str]:
    """Does `jax.grad` of a jitted `z ** n` return 0 for n = 0?"""
    import jax

    return compare(jax.grad(jax.jit(lambda z, n: z**n))(3.0, 0), 0.0)


_INPUTS = ("float32 matrix", "float16 vector", "float32 scalar", "zero float32 vector", "float32 empty")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#17995", cause="jax#16419", fix="jax#17996", discussion="jax#14397"),
    touches=(
        f"jax.numpy.power(x1, x2) if type(x2) not in ('int', 'float') and {DERIVATIVES}",
        f"jax.lax.pow(x, y) if type(y) != 'float' and {DERIVATIVES}",
        "jax.Array.__pow__(n) if form(n) in ('jax.numpy.arange', 'jax.numpy.array', 'jax.numpy.asarray') "
        f"and not {DERIVATIVES.replace('uses', 'without')} and not within('jax.numpy.where')",
    ),
    control=positive_or_python,
    rules=(Rule("differs", "jax<0.4.19", "since jax#16419"), Rule("agrees", "", "jax#17996 (6fe573147e)")),
    workaround=Workaround(
        "Put a 1 where n is 0: jnp.where(n == 0, 1.0, z**n).",
        one_for_zero,
        elsewhere=Elsewhere(of_polynomial, derivative, _INPUTS, rtol=1e-3),
    ),
    cases=(Case(exponents), Case(traced_exponent)),
)
