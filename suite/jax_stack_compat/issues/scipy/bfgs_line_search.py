"""jax.scipy.optimize.minimize, BFGS, gives up on Rosenbrock's function, and takes another path since jax 0.8.2

    result = minimize(rosenbrock, jnp.array([-1.2, 1.0]), method="BFGS")
    result.success, result.status, result.fun     # False, 3, 1.747 on every release; SciPy: True, 0, 0

Rosenbrock's function from its usual starting point is the first thing that an optimiser is tried on. The line search's
zoom takes an interval whose ends stand the other way round for one that has shrunk to nothing, and fails: jax#16236 has
said why since 2023, jax#4594 shows it since 2020, and jax#40228 would mend it, open. Who does not look at
`success` has a point that is none.

88d98bdb3c, in 0.8.2, mended another fault in the same place, which point the cubic interpolation remembers. It is not
in the changelog, and moves results: from (0, 0) Rosenbrock's function was given up at 0.785, and is at 0.777.

Seen in these runs:

- From (0, 0) BFGS gives up at 0.785 up to jax 0.8.1, and at 0.777 from 0.8.2 on.
- From (2, 2) it arrives, from jax 0.4.18 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def rosenbrock() -> tuple[str, str]:
    """Does BFGS arrive at the minimum of Rosenbrock's function from (-1.2, 1)?"""
    import jax.numpy as jnp
    from jax.scipy.optimize import minimize

    def f(x: object) -> object:
        return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)  # type: ignore[index]

    got = minimize(f, jnp.array([-1.2, 1.0]), method="BFGS")
    behaviour = "arrives" if got.success and got.fun < 1e-6 else "gives-up" if got.status == 3 else "other"
    return behaviour, f"success {bool(got.success)}, status {int(got.status)}, f {float(got.fun):.2f}"


def from_elsewhere() -> None:
    """From (2, 2) it arrives on every release."""
    import jax.numpy as jnp
    from jax.scipy.optimize import minimize

    got = minimize(
        lambda x: jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2),
        jnp.array([2.0, 2.0]),
        method="BFGS",
    )
    assert bool(got.success), got
    assert float(got.fun) < 1e-6, got


def scipy_with_gradient() -> None:
    """SciPy's own BFGS with the gradient of jax.grad."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import scipy.optimize

    def f(x: object) -> object:
        return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)  # type: ignore[index]

    value_and_grad = jax.jit(jax.value_and_grad(f))

    def both(x: object) -> tuple[float, object]:
        value, gradient = value_and_grad(jnp.asarray(x, "float32"))
        return float(value), np.asarray(gradient, "float64")

    got = scipy.optimize.minimize(both, [-1.2, 1.0], jac=True, method="BFGS", options={"gtol": 1e-3})
    np.testing.assert_allclose(got.x, [1.0, 1.0], atol=1e-2)


def path() -> tuple[str, str]:
    """Where does BFGS give up on Rosenbrock's function from (0, 0)?"""
    import jax.numpy as jnp
    from jax.scipy.optimize import minimize

    def f(x: object) -> object:
        return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)  # type: ignore[index]

    got = float(minimize(f, jnp.array([0.0, 0.0]), method="BFGS").fun)
    found = {"first-path": 0.7851, "second-path": 0.7766}
    behaviour = next((name for name, value in found.items() if abs(got - value) < 1e-3), "other")
    return behaviour, f"f {got:.3f}"


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(report="jax#16236 jax#4594", change="jax@88d98bdb3c", attempt="jax#40228"),
    touches=("jax.scipy.optimize.minimize",),
    control=from_elsewhere,
    workaround=Workaround(
        "Use scipy.optimize.minimize with jax.value_and_grad, and look at success.", scipy_with_gradient
    ),
    cases=(
        Case(
            rosenbrock,
            behaviours={"arrives": "clear", "gives-up": "affected", "other": "different"},
            rules=(Rule("gives-up", "", "jax#40228 is open"),),
        ),
        Case(
            path,
            behaviours={"first-path": "clear", "second-path": "affected", "other": "different"},
            rules=(Rule("first-path", "jax<0.8.2"), Rule("second-path", "", "88d98bdb3c")),
        ),
    ),
)
