"""The gradient of a power with integer exponents is 1 too much where an exponent is 0, in jax 0.4.18

    jax.grad(lambda z: jnp.sum(z ** jnp.arange(2)))(3.14)        # 2 with jax 0.4.18, should be 1

An exponent of 0 makes a constant, whose derivative is 0; the rule had a 1 in its place, and the test the same mistake.
jax#16419 had brought it, jax#17995 found it in the gradient of a polynomial, and jax#17996 mended it in 0.4.19. Only
exponents in an integer array of JAX or NumPy, or traced, are concerned; `z ** 0` with an int of Python is right.

Seen in these runs: on 0.4.18 an exponent that is an argument of a jitted function, `jit(lambda z, n: z ** n)`, has it
too.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def exponents() -> tuple[str, str]:
    """Is the gradient of sum(z ** arange(3)) that of 1 + z + z²?"""
    import jax
    import jax.numpy as jnp

    return compare(jax.grad(lambda z: jnp.sum(z ** jnp.arange(3)))(3.0), 7.0, rtol=1e-6)


def positive_or_python() -> None:
    """Exponents from 1 on, and 0 as an int of Python."""
    import jax
    import jax.numpy as jnp

    assert jnp.allclose(jax.grad(lambda z: jnp.sum(z ** jnp.arange(1, 3)))(3.0), 7.0)
    assert jax.grad(lambda z: z**0)(3.0) == 0.0


def float_exponents() -> None:
    """Floating-point exponents."""
    import jax
    import jax.numpy as jnp

    assert jnp.allclose(jax.grad(lambda z: jnp.sum(z ** jnp.arange(3.0)))(3.0), 7.0)
    assert jax.grad(jax.jit(lambda z, n: z**n))(3.0, 0.0) == 0.0


def traced_exponent() -> tuple[str, str]:
    """Is that of a jitted z ** n with n = 0 equal to 0?"""
    import jax

    return compare(jax.grad(jax.jit(lambda z, n: z**n))(3.0, 0), 0.0)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#17995", fix="jax#17996"),
    touches=("jax.numpy.power", "jax.lax.pow", "jax.Array.__pow__"),
    control=positive_or_python,
    rules=(Rule("differs", "jax<0.4.19", "since jax#16419"), Rule("agrees", "", "jax#17996 (6fe573147e)")),
    workaround=Workaround("Use floating-point exponents: jnp.arange(3.0).", float_exponents),
    cases=(Case(exponents), Case(traced_exponent)),
)
