"""jnp.ldexp: a gradient of 0 up to jax 0.4.33, and infinities for its repair, up to 0.6.0

    jax.grad(lambda x: jnp.ldexp(x, 3))(1.5)     # 0 up to jax 0.4.33, should be 8
    jnp.ldexp(1e-30, 200)                        # inf from jax 0.4.34 to 0.6.0, should be 1.6e30

It put the exponent together bit by bit, where no gradient comes through: as expected, said upstream in 2022
(jax#11467). jax#23923, in 0.4.34, computes `x * 2**n` instead, which has one; but the power alone overflows at n = 128,
and vanishes at -150, where the product does neither. jax#28158, in 0.6.1, mended that.

At x = 0 the gradient was 1 instead of 8 up to 0.11.2 (jax#37992): a branch that keeps the sign of zero gives x itself.

Seen in these runs:

- The values are right up to 0.4.33. From 0.4.34 to 0.6.0 they are wrong in both directions: `ldexp(1e30, -200)` is 0.
- The gradient at 0 is right from 0.12.0 on.
- So none of the releases run from 0.4.18 to 0.11.2 has value and gradient right everywhere.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def gradient() -> tuple[str, str]:
    """Is the gradient of ldexp(x, 3) at 1.5 and at -2 the factor, 8?"""
    import jax
    import jax.numpy as jnp

    return compare([jax.grad(lambda x: jnp.ldexp(x, 3))(x) for x in (1.5, -2.0)], [8.0, 8.0])


def small_exponents() -> None:
    """With an exponent of a few bits the value is right everywhere."""
    import jax.numpy as jnp
    import numpy as np

    np.testing.assert_allclose(jnp.ldexp(jnp.array([1.5, -2.0, 0.0]), 3), [12.0, -16.0, 0.0])


def two_products() -> None:
    """Powers of 2 written as products, the exponent in two halves."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def scale(x: jax.Array, n: int) -> jax.Array:
        return x * 2.0 ** (n // 2) * 2.0 ** (n - n // 2)

    for x, n in ((0.5, 128), (1e-30, 200), (1e30, -200)):
        np.testing.assert_allclose(scale(jnp.float32(x), n), np.ldexp(np.float32(x), n), rtol=1e-6)
    assert [jax.grad(lambda x: scale(x, 3))(x) for x in (1.5, -2.0, 0.0)] == [8.0] * 3


def value() -> tuple[str, str]:
    """Is ldexp right where 2**n alone is no float32, and the product is?"""
    import jax.numpy as jnp
    import numpy as np

    x, n = np.array([0.5, 1e-30, 1e30], np.float32), np.array([128, 200, -200])
    return compare(jnp.ldexp(jnp.asarray(x), jnp.asarray(n)), np.ldexp(x, n), rtol=1e-6)


def gradient_at_zero() -> tuple[str, str]:
    """Is the gradient of ldexp(x, 3) at 0 the factor, 8?"""
    import jax
    import jax.numpy as jnp

    return compare(jax.grad(lambda x: jnp.ldexp(x, 3))(0.0), 8.0)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#28040 jax#11467 jax#37992", fix="jax#23923 jax#28158"),
    touches=("jax.numpy.ldexp",),
    control=small_exponents,
    workaround=Workaround("Multiply: x * 2.0 ** (n // 2) * 2.0 ** (n - n // 2).", two_products),
    cases=(
        Case(gradient, rules=(Rule("differs", "jax<0.4.34"), Rule("agrees", "", "jax#23923 (65a58d622c)"))),
        Case(
            value,
            rules=(
                Rule("agrees", "jax<0.4.34"),
                Rule("differs", "jax<0.6.1", "jax#23923 brought it"),
                Rule("agrees", "", "jax#28158 (aae929313f)"),
            ),
        ),
        Case(gradient_at_zero, rules=(Rule("differs", "jax<0.12.0"), Rule("agrees"))),
    ),
)
