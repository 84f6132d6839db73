"""jnp.linalg.det of 2 by 2 and 3 by 3 matrices has the wrong sign, or is infinite

    jnp.linalg.det(3 * jnp.eye(3) + 100000)     # -15346688 up to jax 0.11.0, should be 2700027
    jnp.linalg.det(jnp.diag(jnp.array([1e20, 1e20, 1e-20])))     # inf from jax 0.4.18 on, should be 1e20

Matrices of these sizes, alone of all, were expanded by minors: products of three large numbers, of which the last
digits of the difference are left. jax#39905 (August 2026) shows a wrong sign for a matrix whose condition number is no
more than 3e4. From 0.11.1 they are factored with pivots. On another CPU the wrong number may be another.

Seen in these runs: the infinities that jax#39905, which is closed, speaks of are there from 0.4.18 on. A
product that overflows or underflows on the way makes the determinant infinite or 0, where it is a plain number.
`slogdet` gives it right.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def cancellation() -> tuple[str, str]:
    """Are the determinants of 3 I + 100000 and of 2 I + 30000, 3 by 3, right to a tenth?"""
    import jax.numpy as jnp

    given = [round(float(jnp.linalg.det(n * jnp.eye(3) + large))) for n, large in ((3.0, 100000.0), (2.0, 30000.0))]
    right = abs(given[0] / 2700027 - 1.0) < 0.1 and abs(given[1] / 360008 - 1.0) < 0.1
    return "right" if right else "wrong", f"{given}, are 2700027 and 360008"


def overflow() -> tuple[str, str]:
    """Are the determinants of diag(1e20, 1e20, 1e-20) and of diag(1e-30, 1e-30, 1e30) finite and above 0?"""
    import jax.numpy as jnp

    given = [float(jnp.linalg.det(jnp.diag(jnp.array(d)))) for d in ([1e20, 1e20, 1e-20], [1e-30, 1e-30, 1e30])]
    right = 0.9e20 < given[0] < 1.1e20 and 0.9e-30 < given[1] < 1.1e-30
    return "right" if right else "wrong", f"{given}, should be 1e20 and 1e-30"


def slogdet() -> None:
    """slogdet of the same matrices is right, and det of a benign one."""
    import jax.numpy as jnp
    import numpy as np

    sign, log = jnp.linalg.slogdet(jnp.diag(jnp.array([1e20, 1e20, 1e-20])))
    np.testing.assert_allclose([sign, log], [1.0, np.log(1e20)], rtol=1e-5)
    np.testing.assert_allclose(jnp.linalg.det(jnp.array([[2.0, 1.0], [1.0, 3.0]])), 5.0, rtol=1e-5)


def from_slogdet() -> None:
    """The determinant from its sign and its logarithm."""
    import jax.numpy as jnp
    import numpy as np

    one = jnp.diag(jnp.array([1e20, 1e20, 1e-20]))
    two = 3.0 * jnp.eye(3) + 100000.0
    for matrix, wanted in ((one, 1e20), (two, 2700027.0)):
        sign, log = jnp.linalg.slogdet(matrix)
        np.testing.assert_allclose(sign * jnp.exp(log), wanted, rtol=0.1)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#39905", cause="jax#6543"),
    touches=("jax.numpy.linalg.det",),
    control=slogdet,
    behaviours={"right": "clear"},
    workaround=Workaround("Take sign * jnp.exp(log) of jnp.linalg.slogdet, or keep the logarithm.", from_slogdet),
    cases=(
        Case(overflow, rules=(Rule("wrong"),)),
        Case(cancellation, rules=(Rule("wrong", "jax<0.11.1"), Rule("right", "", "factored with pivots"))),
    ),
)
