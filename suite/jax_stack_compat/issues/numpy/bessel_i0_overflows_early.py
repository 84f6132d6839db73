"""jnp.i0 and jax.scipy.special.i0 and i1 return infinity early

JAX multiplies `i0e(x)` by exp(|x|), which overflows before `i0` does. So `i0` is infinite above 709.8 instead of 714.0
in float64, and above 88.7 instead of 91.9 in float32. JAX computes `i1` in the same way (jax#39772). `jnp.kaiser`
divides one `i0` by another, so its window has zeros, or NaN where both are infinite (`kaiser`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def i0_float64() -> tuple[str, str]:
    """In float64, are jnp.i0(713.0) and jax.scipy.special.i0(713.0) finite?"""
    import jax
    import jax.numpy as jnp

    x = jnp.array(713.0)
    return compare(jnp.stack([jnp.i0(x), jax.scipy.special.i0(x)]), [6.705128263670996e307] * 2, rtol=1e-9)


def small() -> None:
    """Where exp(|x|) is finite, jnp.i0 and jnp.kaiser agree with NumPy."""
    import jax.numpy as jnp
    import numpy as np

    np.testing.assert_allclose(jnp.i0(jnp.array([0.0, 1.0, 80.0])), np.i0([0.0, 1.0, 80.0]), rtol=1e-4)
    np.testing.assert_allclose(jnp.kaiser(7, 8.6), np.kaiser(7, 8.6), rtol=1e-3, atol=1e-5)


def by_halves() -> None:
    """Multiplying i0e and i1e by exp(|x| / 2) twice gives finite values near the limit."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    wanted = {90.0: [5.139238345508664e37, 5.110606815256598e37], 713.0: [6.705128263670996e307, 6.700424559186402e307]}
    x = 713.0 if jax.config.jax_enable_x64 else 90.0
    half = jnp.exp(jnp.maximum(x, -x) / 2)
    scaled = jnp.stack([jax.scipy.special.i0e(x), jax.scipy.special.i1e(x)])
    np.testing.assert_allclose(half * scaled * half, wanted[x], rtol=1e-6)


def values(x: Any) -> Any:
    """Return i0, its gradient, and i1."""
    import jax
    import jax.numpy as jnp

    def scaled(f: Any, x: Any) -> Any:
        half = jnp.exp(jnp.maximum(x, -x) / 2)
        return half * f(x) * half

    gradient = jax.grad(lambda x: scaled(jax.scipy.special.i0e, x).sum())(x)
    return jnp.stack([scaled(jax.scipy.special.i0e, x), gradient, scaled(jax.scipy.special.i1e, x)])


def scipy_values(x: Any) -> Any:
    """Return SciPy's i0, its derivative i1, and i1, in float64."""
    import numpy as np
    from scipy import special

    wide = np.asarray(x, np.float64)
    return np.stack([special.i0(wide), special.i1(wide), special.i1(wide)])


def i0() -> tuple[str, str]:
    """In float32, are jnp.i0(90.0) and jax.scipy.special.i0(90.0) finite?"""
    import jax
    import jax.numpy as jnp

    x = jnp.array(90.0)
    return compare(jnp.stack([jnp.i0(x), jax.scipy.special.i0(x)]), [5.1391927e37] * 2, rtol=1e-4)


def i1() -> tuple[str, str]:
    """In float32, is jax.scipy.special.i1(90.0) finite?"""
    import jax

    return compare(jax.scipy.special.i1(90.0), 5.110606815256598e37, rtol=1e-4)


def kaiser() -> tuple[str, str]:
    """Does jnp.kaiser(7, 100.0) agree with NumPy?"""
    import jax.numpy as jnp
    import numpy as np

    return compare(jnp.kaiser(7, 100.0), np.kaiser(7, 100.0), rtol=1e-3, atol=1e-6)


def by_numpy() -> None:
    """jnp.asarray makes NumPy's Kaiser window a constant of the program."""
    import jax.numpy as jnp
    import numpy as np

    got = jnp.asarray(np.kaiser(7, 100.0), jnp.float32)
    assert abs(float(got[2]) - 0.0033810) < 1e-6


def windows() -> None:
    """Converted NumPy windows of other lengths agree with the definition, for beta from 0 to 700."""
    import jax.numpy as jnp
    import numpy as np
    from scipy.special import i0e

    for length in (2, 8, 51):
        for beta in (0.0, 8.6, 89.0, 700.0):
            root = beta * np.sqrt(1 - np.linspace(-1, 1, length) ** 2)
            got = jnp.asarray(np.kaiser(length, beta), jnp.float32)
            np.testing.assert_allclose(got, i0e(root) / i0e(beta) * np.exp(root - beta), rtol=1e-5, atol=1e-30)


_WIDE = "(x) if seen(709.78 < abs(x) < 713.98) and uses('jax_enable_x64')"
_SINGLE = "(x) if seen(88.73 < abs(x) < 91.9) and without('jax_enable_x64')"
_SCALED = Elsewhere(
    values,
    scipy_values,
    ("float32 matrix", "float64 vector", "float32 scalar", "zero float32 vector", "float32 empty"),
    rtol=1e-5,
    atol=1e-6,
)
_I0 = Workaround(
    "For floats: half = jnp.exp(jnp.maximum(x, -x)/2); half * jax.scipy.special.i0e(x) * half. "
    "Gradients overflow early.",
    by_halves,
    elsewhere=_SCALED,
)
_I1 = Workaround(
    "For floats: half = jnp.exp(jnp.maximum(x, -x)/2); half * jax.scipy.special.i1e(x) * half. "
    "Gradients overflow early.",
    by_halves,
    elsewhere=_SCALED,
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#39770 jax#39771 jax#39772"),
    control=small,
    rules=(Rule("differs", "", "jax#39770 is open"),),
    workaround=_I0,
    cases=(
        Case(i0_float64, x64=True, touches=(f"jax.numpy.i0{_WIDE}", f"jax.scipy.special.i0{_WIDE}")),
        Case(i0, touches=(f"jax.numpy.i0{_SINGLE}", f"jax.scipy.special.i0{_SINGLE}")),
        Case(i1, workaround=_I1, touches=(f"jax.scipy.special.i1{_WIDE}", f"jax.scipy.special.i1{_SINGLE}")),
        Case(
            kaiser,
            workaround=Workaround(
                "For known beta up to 700, convert NumPy's window: jnp.asarray(np.kaiser(M, beta), jnp.float32).",
                by_numpy,
                elsewhere=windows,
            ),
            touches=("jax.numpy.kaiser(M, beta) if seen(beta > 88.73) and without('jax_enable_x64')",),
        ),
    ),
)
