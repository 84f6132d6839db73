"""jax.scipy.optimize.minimize with BFGS gives up where SciPy converges

The line search of BFGS fails with status 3 (jax#4594); `success` is False, and no exception is raised. The line search
can treat an interval with swapped ends as empty (jax#16236); jax#40228 would compare the absolute length of the
interval. jax@88d98bdb3c corrects a value that the cubic interpolation stores, so the search in the case `path`
stops elsewhere. The docstring of `minimize` says that results may differ from SciPy because of the line search.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def rosenbrock() -> tuple[str, str]:
    """Does jax.scipy.optimize.minimize with BFGS minimize Rosenbrock's function from (-1.2, 1)?"""
    import jax.numpy as jnp
    from jax.scipy.optimize import minimize

    def f(x: object) -> object:
        return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)  # type: ignore[index]

    got = minimize(f, jnp.array([-1.2, 1.0]), method="BFGS")
    behaviour = "arrives" if got.success and got.fun < 1e-6 else "gives-up" if got.status == 3 else "other"
    return behaviour, f"success {bool(got.success)}, status {int(got.status)}, f {float(got.fun):.2f}"


def from_elsewhere() -> None:
    """BFGS minimizes Rosenbrock's function from (2, 2)."""
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
    """SciPy's own BFGS, with value and gradient from JAX, minimizes Rosenbrock's function from (-1.2, 1)."""
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


def other_functions() -> None:
    """SciPy's BFGS, with value and gradient from JAX, minimizes three functions of two and three variables."""
    import jax
    import jax.numpy as jnp
    import scipy.optimize

    def rosenbrock(x: Any) -> Any:
        return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    def himmelblau(x: Any) -> Any:
        return (x[0] ** 2 + x[1] - 11.0) ** 2 + (x[0] + x[1] ** 2 - 7.0) ** 2

    def steep(x: Any) -> Any:
        return jnp.sum(jnp.array([1e3, 1.0, 1e4]) * (x - 1.0) ** 2)

    for f, start in ((rosenbrock, [0.0, 0.0]), (himmelblau, [0.0, 0.0]), (steep, [3.0, -2.0, 5.0])):
        value_and_grad = jax.jit(jax.value_and_grad(f))
        got = scipy.optimize.minimize(value_and_grad, start, jac=True, method="BFGS", options={"gtol": 1e-3})
        assert got.success, got
        assert got.fun < 1e-6, got


def path() -> tuple[str, str]:
    """Where does jax.scipy.optimize.minimize with BFGS stop on Rosenbrock's function from (0, 0)?"""
    import jax.numpy as jnp
    from jax.scipy.optimize import minimize

    def f(x: object) -> object:
        return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)  # type: ignore[index]

    got = float(minimize(f, jnp.array([0.0, 0.0]), method="BFGS").fun)
    found = {"first-path": 0.7851, "second-path": 0.7766, "arrives": 0.0}
    behaviour = next((name for name, value in found.items() if abs(got - value) < 1e-3), "other")
    return behaviour, f"f {got:.3f}"


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#4594 jax#16236", change="jax@88d98bdb3c", attempt="jax#40228"),
    touches=("jax.scipy.optimize.minimize",),
    control=from_elsewhere,
    workaround=Workaround(
        'Outside jit, call scipy.optimize.minimize(jax.value_and_grad(f), x0, jac=True, options={"gtol": 1e-3}), '
        "which ends at gradients below 1e-3.",
        scipy_with_gradient,
        elsewhere=other_functions,
    ),
    cases=(
        Case(
            rosenbrock,
            behaviours={"arrives": "clear", "gives-up": "affected", "other": "different"},
            rules=(Rule("gives-up", "", "jax#40228 is open"),),
        ),
        Case(
            path,
            behaviours={
                "arrives": "clear",
                "first-path": "affected",
                "second-path": "affected",
                "other": "different",
            },
            rules=(Rule("first-path", "jax<0.8.2"), Rule("second-path", "", "88d98bdb3c")),
        ),
    ),
)
