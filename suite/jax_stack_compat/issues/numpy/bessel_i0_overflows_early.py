"""jnp.i0 is infinite where its value is not, and jnp.kaiser of such a beta has NaN

    jnp.i0(90.0)               # inf, should be 5.1392e37
    jnp.kaiser(7, 100.0)[2]    # nan, NumPy: 0.0034

JAX computes exp(|x|) * i0e(x), and the exponential overflows first: in float32 above 88.7, where i0 itself is finite up
to 91.9. jnp.kaiser divides one i0 by another, so that such a beta gives infinity over infinity, which is NaN. jax#39770
and jax#39771 report it for float64, at 713.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def i0() -> tuple[str, str]:
    """Are jnp.i0 and jax.scipy.special.i0 finite at 90?"""
    import jax
    import jax.numpy as jnp

    x = jnp.array(90.0)
    return compare(jnp.stack([jnp.i0(x), jax.scipy.special.i0(x)]), [5.1391927e37] * 2, rtol=1e-4)


def small() -> None:
    """Where the exponential is finite, both are right."""
    import jax.numpy as jnp
    import numpy as np

    np.testing.assert_allclose(jnp.i0(jnp.array([0.0, 1.0, 80.0])), np.i0([0.0, 1.0, 80.0]), rtol=1e-4)
    np.testing.assert_allclose(jnp.kaiser(7, 8.6), np.kaiser(7, 8.6), rtol=1e-3, atol=1e-5)


def by_i0e() -> None:
    """The exponential of |x| + log(i0e(x))."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([1.0, 90.0])
    np.testing.assert_allclose(jnp.exp(jnp.abs(x) + jnp.log(jax.scipy.special.i0e(x))), np.i0([1.0, 90.0]), rtol=1e-4)


def kaiser() -> tuple[str, str]:
    """Is a Kaiser window of beta 100 that of NumPy?"""
    import jax.numpy as jnp
    import numpy as np

    return compare(jnp.kaiser(7, 100.0), np.kaiser(7, 100.0), rtol=1e-3, atol=1e-6)


def by_numpy() -> None:
    """NumPy's window, converted: it is a constant of the program."""
    import jax.numpy as jnp
    import numpy as np

    got = jnp.asarray(np.kaiser(7, 100.0), jnp.float32)
    assert abs(float(got[2]) - 0.0033810) < 1e-6


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#39770 jax#39771"),
    control=small,
    rules=(Rule("differs", "", "jax#39770 is open"),),
    cases=(
        Case(
            i0,
            workaround=Workaround("jnp.exp(jnp.abs(x) + jnp.log(jax.scipy.special.i0e(x)))", by_i0e),
            touches=("jax.numpy.i0(x) if x > 88", "jax.scipy.special.i0(x) if x > 88"),
        ),
        Case(
            kaiser,
            workaround=Workaround("Convert NumPy's window: jnp.asarray(np.kaiser(M, beta), jnp.float32).", by_numpy),
            touches=("jax.numpy.kaiser(M, beta) if beta > 88",),
        ),
    ),
)
