"""The gradient of jax.scipy.special.i0 at 0 is 1, and the second derivative 1.5, up to jax 0.11.1

    jax.grad(jax.scipy.special.i0)(0.0)               # 1 up to jax 0.11.1, should be 0
    jax.grad(jax.grad(jnp.i0))(0.0)                   # 1.5 up to jax 0.4.20, 0 up to 0.11.1, should be 0.5

I0 is even and smooth. JAX writes it as exp(|x|) times a scaled function, and the gradient of |x| at 0 is 1 there: a
parameter that starts at 0 is pushed to one side. jax#11479 reported `jnp.i0` in 2022; jax#18706 put 0 for the gradient
at 0, in 0.4.21, and with a constant 0 the second derivative was 0 as well. `jax.scipy.special.i0`, another function in
the source, was not touched. jax#40627 and jax#40628 reported both in September 2026, and jax#40640 writes a series for
them, in 0.11.2.

Seen in these runs: 0.4.21 replaced one wrong second derivative by another, 1.5 by 0. It is 0.5 from 0.11.2 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def scipy_i0() -> tuple[str, str]:
    """Is the gradient of jax.scipy.special.i0 at 0 that of an even function?"""
    import jax

    return compare(jax.grad(jax.scipy.special.i0)(0.0), 0.0)


def beside_zero() -> None:
    """At 1 the gradient and the second derivative are right, and so are the values at 0."""
    import jax
    import numpy as np

    for i0 in (jax.numpy.i0, jax.scipy.special.i0):
        np.testing.assert_allclose([i0(0.0), jax.grad(i0)(1.0)], [1.0, 0.5651591], rtol=1e-5)
        np.testing.assert_allclose(jax.grad(jax.grad(i0))(1.0), 0.70090677, rtol=1e-4)


def derivative_by_hand() -> None:
    """A rule for the derivative, which is i1: for one derivative it is all that is needed."""
    import jax
    import numpy as np

    @jax.custom_jvp
    def i0(x):  # type: ignore[no-untyped-def]
        return jax.scipy.special.i0(x)

    i0.defjvps(lambda tangent, value, x: jax.scipy.special.i1(x) * tangent)
    np.testing.assert_allclose([jax.grad(i0)(0.0), jax.grad(i0)(1.0)], [0.0, 0.5651591], rtol=1e-5)
    np.testing.assert_allclose(jax.grad(jax.grad(i0))(0.0), 0.5, rtol=1e-5)


def jnp_i0() -> tuple[str, str]:
    """And that of jnp.i0?"""
    import jax

    return compare(jax.grad(jax.numpy.i0)(0.0), 0.0)


def second_derivative() -> tuple[str, str]:
    """Is the second derivative of jnp.i0 at 0 a half?"""
    import jax

    given = float(jax.grad(jax.grad(jax.numpy.i0))(0.0))
    named = {1.5: "one-and-a-half", 0.0: "zero", 0.5: "half"}
    return named.get(round(given, 5), "other"), f"{given:.6g}, should be 0.5"


_FIXED = "jax#40640"
_GRADIENT = (
    "uses('jax.grad', 'jax.value_and_grad', 'jax.vjp', 'jax.jacrev', 'jax.jacfwd', 'jax.hessian', 'jax.linearize', "
    "'jax.jvp', 'equinox.filter_grad', 'equinox.filter_value_and_grad', 'equinox.filter_vjp')"
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#40628 jax#40627 jax#11479", fix="jax#18706 jax#40640"),
    control=beside_zero,
    workaround=Workaround("Give i0 its derivative, i1, by jax.custom_jvp.", derivative_by_hand),
    cases=(
        Case(
            scipy_i0,
            rules=(Rule("differs", "jax<0.11.2"), Rule("agrees", "", _FIXED)),
            touches=(f"jax.scipy.special.i0 if {_GRADIENT}",),
        ),
        Case(
            jnp_i0,
            rules=(Rule("differs", "jax<0.4.21"), Rule("agrees", "", "jax#18706 (a8723ecb9c)")),
            touches=(f"jax.numpy.i0 if {_GRADIENT}",),
        ),
        Case(
            second_derivative,
            behaviours={"one-and-a-half": "affected", "zero": "affected", "half": "clear", "other": "different"},
            rules=(
                Rule("one-and-a-half", "jax<0.4.21"),
                Rule("zero", "jax<0.11.2", "jax#18706"),
                Rule("half", "", _FIXED),
            ),
            touches=(f"jax.numpy.i0 if {_GRADIENT}",),
        ),
    ),
)
