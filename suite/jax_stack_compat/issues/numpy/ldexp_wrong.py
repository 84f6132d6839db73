"""jnp.ldexp: gradients of 0, and overflow where the product is finite

`ldexp` assembled the exponent bit by bit, which has no gradient; a maintainer first called that expected (jax#11467).
jax#23923 computes `x * 2**n` instead, where `2**n` alone can overflow or vanish (jax#28040); jax#28158 splits off the
exponent of x first. Where x was 0, it was returned as it is, with the gradient 1 (jax#37992).
"""

from __future__ import annotations

from jax_stack_compat.cell import DERIVATIVES, Case, Issue, Rule, Upstream, Workaround, compare


def gradient() -> tuple[str, str]:
    """Is the gradient of jnp.ldexp(x, 3) at 1.5 and at -2 the factor, 8?"""
    import jax
    import jax.numpy as jnp

    return compare([jax.grad(lambda x: jnp.ldexp(x, 3))(x) for x in (1.5, -2.0)], [8.0, 8.0])


def small_exponents() -> None:
    """For the exponent 3, jnp.ldexp returns 8 * x."""
    import jax.numpy as jnp
    import numpy as np

    np.testing.assert_allclose(jnp.ldexp(jnp.array([1.5, -2.0, 0.0]), 3), [12.0, -16.0, 0.0])


def two_products() -> None:
    """Two products with half the exponent each agree with np.ldexp, and have the gradient 8, also at 0."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def scale(x: jax.Array, n: int) -> jax.Array:
        return x * 2.0 ** (n // 2) * 2.0 ** (n - n // 2)

    for x, n in ((0.5, 128), (1e-30, 200), (1e30, -200)):
        np.testing.assert_allclose(scale(jnp.float32(x), n), np.ldexp(np.float32(x), n), rtol=1e-6)
    assert [jax.grad(lambda x: scale(x, 3))(x) for x in (1.5, -2.0, 0.0)] == [8.0] * 3


def arrays_of_exponents() -> None:
    """In float32 and float16, a matrix of products agrees with np.ldexp, and keeps its dtype."""
    import jax.numpy as jnp
    import numpy as np

    for dtype, largest in (("float32", 120), ("float16", 9)):
        x, n = jnp.array([[0.0], [1.5], [-7.0], [100.0]], dtype), jnp.arange(-largest, largest + 1)
        products = (x * 2.0 ** (n // 2) * 2.0 ** (n - n // 2)).astype(x.dtype)
        assert products.dtype == x.dtype
        np.testing.assert_allclose(products, np.ldexp(np.asarray(x), np.asarray(n)), rtol=1e-6)


def value() -> tuple[str, str]:
    """Does jnp.ldexp agree with NumPy where 2**n alone is no float32, and the product is?"""
    import jax.numpy as jnp
    import numpy as np

    x, n = np.array([0.5, 1e-30, 1e30], np.float32), np.array([128, 200, -200])
    return compare(jnp.ldexp(jnp.asarray(x), jnp.asarray(n)), np.ldexp(x, n), rtol=1e-6)


def gradient_at_zero() -> tuple[str, str]:
    """Is the gradient of jnp.ldexp(x, 3) at 0 the factor, 8?"""
    import jax
    import jax.numpy as jnp

    return compare(jax.grad(lambda x: jnp.ldexp(x, 3))(0.0), 8.0)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#11467 jax#28040 jax#37992", fix="jax#23923 jax#28158", attempt="jax#38001"),
    control=small_exponents,
    workaround=Workaround(
        "Multiply twice, for abs(n) < 250 (float16: 30): (x * 2.0**(n//2) * 2.0**(n-n//2)).astype(x.dtype).",
        two_products,
        elsewhere=arrays_of_exponents,
    ),
    cases=(
        Case(
            gradient,
            rules=(Rule("differs", "jax<0.4.34"), Rule("agrees", "", "jax#23923 (65a58d622c)")),
            touches=(f"jax.numpy.ldexp if {DERIVATIVES}",),
        ),
        Case(
            value,
            rules=(
                Rule("agrees", "jax<0.4.34"),
                Rule("differs", "jax<0.6.1", "since jax#23923"),
                Rule("agrees", "", "jax#28158 (aae929313f)"),
            ),
            touches=(
                "jax.numpy.ldexp(x1, x2) if x2 >= 128 or x2 <= -127 "
                "or uses('jax.numpy.float16') and (x2 >= 16 or x2 <= -25)",
            ),
        ),
        Case(
            gradient_at_zero,
            rules=(Rule("differs", "jax<0.12.0"), Rule("agrees")),
            touches=(f"jax.numpy.ldexp if {DERIVATIVES} and unseen",),
        ),
    ),
)
