"""jax.scipy.special.i0, i1 and jnp.i0 have wrong derivatives at 0

I0 is even, so its gradient at 0 is 0, but JAX returned 1 (jax#11479, jax#40628). jax#18706 set the gradient of `jnp.i0`
at 0 to the constant 0, so the second derivative there became 0 instead of 0.5 (jax#40627). The second derivative of i1
at 0 was 1 instead of 0, and is inexact near 0. jax#40640 makes i1 the derivative of i0, and uses a series for the
derivative of i1 below sqrt(eps).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import DERIVATIVES, Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def scipy_i0() -> tuple[str, str]:
    """Is jax.grad(jax.scipy.special.i0)(0.0) equal to 0?"""
    import jax

    return compare(jax.grad(jax.scipy.special.i0)(0.0), 0.0)


def beside_zero() -> None:
    """At 1, the first two derivatives of i0 match reference values, and i0(0.0) is 1."""
    import jax
    import numpy as np

    for i0 in (jax.numpy.i0, jax.scipy.special.i0):
        np.testing.assert_allclose([i0(0.0), jax.grad(i0)(1.0)], [1.0, 0.5651591], rtol=1e-5)
        np.testing.assert_allclose(jax.grad(jax.grad(i0))(1.0), 0.70090677, rtol=1e-4)


def derivative_by_hand() -> None:
    """With i1 as the derivative of i0, the first two derivatives at 0 are 0 and 0.5."""
    import jax
    import numpy as np

    @jax.custom_jvp
    def i0(x):  # type: ignore[no-untyped-def]
        return jax.scipy.special.i0(x)

    i0.defjvps(lambda tangent, value, x: jax.scipy.special.i1(x) * tangent)
    np.testing.assert_allclose([jax.grad(i0)(0.0), jax.grad(i0)(1.0)], [0.0, 0.5651591], rtol=1e-5)
    np.testing.assert_allclose(jax.grad(jax.grad(i0))(0.0), 0.5, rtol=1e-5)


def two_derivatives_of_i0(x: Any) -> Any:
    """Return the first two derivatives of i0 by a custom JVP rule that uses i1."""
    import jax
    import jax.numpy as jnp

    @jax.custom_jvp
    def i0(x):  # type: ignore[no-untyped-def]
        return jax.scipy.special.i0(x)

    i0.defjvps(lambda tangent, value, x: jax.scipy.special.i1(x) * tangent)

    def first(x: Any) -> Any:
        return jax.jvp(i0, (x,), (jnp.ones_like(x),))[1]

    return jnp.stack(jax.jvp(first, (x,), (jnp.ones_like(x),)))


def scipy_derivatives_of_i0(x: Any) -> Any:
    """Return SciPy's first two derivatives of i0."""
    import numpy as np
    import scipy.special

    return np.stack([scipy.special.ivp(0, x.astype("float64"), n) for n in (1, 2)])


def jnp_i0() -> tuple[str, str]:
    """Is jax.grad(jnp.i0)(0.0) equal to 0?"""
    import jax

    return compare(jax.grad(jax.numpy.i0)(0.0), 0.0)


def second_derivative() -> tuple[str, str]:
    """Is jax.grad(jax.grad(jnp.i0))(0.0) equal to 0.5?"""
    import jax

    given = float(jax.grad(jax.grad(jax.numpy.i0))(0.0))
    named = {1.5: "one-and-a-half", 0.0: "zero", 0.5: "half"}
    return named.get(round(given, 5), "other"), f"{given:.6g}, should be 0.5"


def i1_second_derivative() -> tuple[str, str]:
    """Is jax.grad(jax.grad(jax.scipy.special.i1))(0.0) equal to 0?"""
    import jax

    return compare(jax.grad(jax.grad(jax.scipy.special.i1))(0.0), 0.0)


def power_series() -> None:
    """Five terms of the power series of i1 give its second and third derivatives at 0, which are 0 and 0.375."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def i1(x):  # type: ignore[no-untyped-def]
        near = jnp.where(jnp.abs(x) < 1, x, 0.0)
        square = near**2 / 4
        series = near / 2 * (1 + square / 2 * (1 + square / 6 * (1 + square / 12 * (1 + square / 20))))
        return jnp.where(jnp.abs(x) < 1, series, jax.scipy.special.i1(jnp.where(jnp.abs(x) < 1, 1.0, x)))

    second = jax.grad(jax.grad(i1))
    np.testing.assert_allclose(
        [i1(0.5), i1(1.0), i1(2.0)],  # type: ignore[no-untyped-call]
        [0.2578943, 0.5651591, 1.5906369],  # type: ignore[arg-type]
        rtol=1e-5,
    )
    np.testing.assert_allclose([second(0.0), jax.grad(second)(0.0)], [0.0, 0.375], rtol=1e-5)


def i1_near_zero(x: Any) -> Any:
    """Return i1, by its power series between -1 and 1, and its first two derivatives."""
    import jax
    import jax.numpy as jnp

    def i1(x: Any) -> Any:
        near = jnp.where(jnp.abs(x) < 1, x, 0.0)
        square = near**2 / 4
        series = near / 2 * (1 + square / 2 * (1 + square / 6 * (1 + square / 12 * (1 + square / 20))))
        return jnp.where(jnp.abs(x) < 1, series, jax.scipy.special.i1(jnp.where(jnp.abs(x) < 1, 1.0, x)))

    def first(x: Any) -> Any:
        return jax.jvp(i1, (x,), (jnp.ones_like(x),))[1]

    return jnp.stack([i1(x), *jax.jvp(first, (x,), (jnp.ones_like(x),))])


def scipy_i1(x: Any) -> Any:
    """Return SciPy's i1 and its first two derivatives."""
    import numpy as np
    import scipy.special

    return np.stack([scipy.special.ivp(1, x.astype("float64"), n) for n in (0, 1, 2)])


_FIXED = "jax#40640"
_INPUTS = ("float32 matrix", "float16 vector", "float32 scalar", "zero float32 vector", "float32 empty")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#40628 jax#40627 jax#11479", fix="jax#18706 jax#40640"),
    control=beside_zero,
    workaround=Workaround(
        "For first and second derivatives, make i1 the derivative of i0 with jax.custom_jvp.",
        derivative_by_hand,
        elsewhere=Elsewhere(two_derivatives_of_i0, scipy_derivatives_of_i0, _INPUTS, rtol=1e-3, atol=1e-3),
    ),
    cases=(
        Case(
            scipy_i0,
            rules=(Rule("differs", "jax<0.11.2"), Rule("agrees", "", _FIXED)),
            touches=(f"jax.scipy.special.i0 if {DERIVATIVES} and not within('jax.custom_jvp')",),
        ),
        Case(
            jnp_i0,
            rules=(Rule("differs", "jax<0.4.21"), Rule("agrees", "", "jax#18706 (a8723ecb9c)")),
            touches=(f"jax.numpy.i0 if {DERIVATIVES}",),
        ),
        Case(
            second_derivative,
            behaviours={"one-and-a-half": "affected", "zero": "affected", "half": "clear", "other": "different"},
            rules=(
                Rule("one-and-a-half", "jax<0.4.21"),
                Rule("zero", "jax<0.11.2", "jax#18706"),
                Rule("half", "", _FIXED),
            ),
            touches=(f"jax.numpy.i0 if {DERIVATIVES}",),
        ),
        Case(
            i1_second_derivative,
            rules=(Rule("differs", "jax<0.11.2"), Rule("agrees", "", _FIXED)),
            workaround=Workaround(
                "Between -1 and 1, sum five terms of i1's series: float32 second derivatives within 2e-6.",
                power_series,
                elsewhere=Elsewhere(i1_near_zero, scipy_i1, _INPUTS, rtol=1e-3, atol=1e-3),
            ),
            # The other workaround calls i1 within defjvps, where its first derivative is right.
            touches=(
                f"jax.scipy.special.i1 if {DERIVATIVES} "
                "and not within('jax.custom_jvp', '.defjvps', 'jax.numpy.where')",
            ),
        ),
    ),
)
