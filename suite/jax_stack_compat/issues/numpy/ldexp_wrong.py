"""jnp.ldexp has gradients of 0, and overflows where x * 2**n is finite

`ldexp` assembled the exponent bit by bit, so its gradient was 0; a maintainer first called that gradient expected
(jax#11467). jax#23923 computes `x * 2**n` instead, where `2**n` alone can overflow or vanish (jax#28040). jax#28158
first splits off the exponent of x. For x = 0, `ldexp` returned x itself, with the gradient 1 (jax#37992).
"""

from __future__ import annotations

from jax_stack_compat.cell import DERIVATIVES, Case, Issue, Rule, Upstream, Workaround, compare


def gradient() -> tuple[str, str]:
    """Is the gradient of jnp.ldexp(x, 3) equal to 2**3 at x = 1.5 and at x = -2?"""
    import jax
    import jax.numpy as jnp

    return compare([jax.grad(lambda x: jnp.ldexp(x, 3))(x) for x in (1.5, -2.0)], [8.0, 8.0])


def small_exponents() -> None:
    """For the exponent 3, jnp.ldexp returns 8 * x."""
    import jax.numpy as jnp
    import numpy as np

    np.testing.assert_allclose(jnp.ldexp(jnp.array([1.5, -2.0, 0.0]), 3), [12.0, -16.0, 0.0])


def two_products() -> None:
    """x * 2.0**(n//2) * 2.0**(n-n//2) agrees with np.ldexp; for n = 3 its gradient is 8, also at 0."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def scale(x: jax.Array, n: int) -> jax.Array:
        return x * 2.0 ** (n // 2) * 2.0 ** (n - n // 2)

    for x, n in ((0.5, 128), (1e-30, 200), (1e30, -200)):
        np.testing.assert_allclose(scale(jnp.float32(x), n), np.ldexp(np.float32(x), n), rtol=1e-6)
    assert [jax.grad(lambda x: scale(x, 3))(x) for x in (1.5, -2.0, 0.0)] == [8.0] * 3


def arrays_of_exponents() -> None:
    """In float32 and float16, multiplying a matrix twice agrees with np.ldexp, and keeps the dtype."""
    import jax.numpy as jnp
    import numpy as np

    for dtype, largest in (("float32", 120), ("float16", 9)):
        x, n = jnp.array([[0.0], [1.5], [-7.0], [100.0]], dtype), jnp.arange(-largest, largest + 1)
        products = (x * 2.0 ** (n // 2) * 2.0 ** (n - n // 2)).astype(x.dtype)
        assert products.dtype == x.dtype
        np.testing.assert_allclose(products, np.ldexp(np.asarray(x), np.asarray(n)), rtol=1e-6)


def value() -> tuple[str, str]:
    """Does jnp.ldexp agree with NumPy where x * 2**n fits float32, but 2**n alone does not?"""
    import jax.numpy as jnp
    import numpy as np

    x, n = np.array([0.5, 1e-30, 1e30], np.float32), np.array([128, 200, -200])
    return compare(jnp.ldexp(jnp.asarray(x), jnp.asarray(n)), np.ldexp(x, n), rtol=1e-6)


def gradient_at_zero() -> tuple[str, str]:
    """Is the gradient of jnp.ldexp(x, 3) equal to 2**3 at x = 0?"""
    import jax
    import jax.numpy as jnp

    return compare(jax.grad(lambda x: jnp.ldexp(x, 3))(0.0), 8.0)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#11467 jax#28040 jax#37992", fix="jax#23923 jax#28158", attempt="jax#38001"),
    control=small_exponents,
    workaround=Workaround(
        "For float arrays, abs(n) < 127 (float16: 16), multiply twice: (x*2.0**(n//2)*2.0**(n-n//2)).astype(x.dtype).",
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
            # Under jit, XLA multiplies two constant powers first.
            workaround=Workaround(
                "Outside jit, for float arrays and abs(n) < 250 (float16: 30), multiply twice: "
                "(x*2.0**(n//2)*2.0**(n-n//2)).astype(x.dtype).",
                two_products,
                elsewhere=arrays_of_exponents,
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
