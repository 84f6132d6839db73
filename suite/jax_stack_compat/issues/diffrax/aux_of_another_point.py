"""Optimistix gives the aux of another point than the value that it returns

    solution = optimistix.minimise(lambda y, _: (jnp.cosh(y - 3), y), solver, 0.0, has_aux=True)    # aux is y itself
    solution.value, solution.aux    # optimistix 0.1.0 with BFGS(1e-3, 1e-3): 3.0, 3.00073

You'd expect `aux` to be what the function gave at `value`: a prediction, a residual, a state to go on with. The report,
optimistix#33, is of `BestSoFarMinimiser`, which held the function's value at one point against another point, and
forgot the last. optimistix#211, "Fixes the `aux` output being from the wrong `y`", in 0.1.0, mends that in the solvers,
by giving out the aux of the step before.

Seen in these runs:

- With that the plain solvers went wrong. Up to 0.0.11 `minimise` and `least_squares` give the aux of `value`, with
  BFGS, nonlinear CG, gradient descent, Gauss-Newton and Levenberg-Marquardt; 0.1.0 that of the point before. The looser
  the tolerance, the further it is away; where `max_steps` ends the solve, as far as a step.
- `root_find` by Newton's method gives the aux of the point before on every release.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def minimise() -> tuple[str, str]:
    """Is `aux` that of `value`, for BFGS?"""
    import jax.numpy as jnp
    import optimistix

    solver = optimistix.BFGS(rtol=1e-3, atol=1e-3)
    found = optimistix.minimise(lambda y, _: (jnp.cosh(y - 3.0), y), solver, jnp.array(0.0), has_aux=True)
    return compare(found.aux, found.value)


def control_value() -> None:
    """Newton's method by hand gets to 3 in plain JAX, and what is to be solved can be made."""
    import jax
    import jax.numpy as jnp
    import optimistix

    y = 2.0
    for _ in range(6):
        y = y - jnp.sinh(y - 3.0) / jax.grad(lambda y: jnp.sinh(y - 3.0))(y)
    assert abs(y - 3.0) < 1e-4, y
    assert optimistix.BFGS(rtol=1e-3, atol=1e-3) is not None


def call_it_again() -> None:
    """`value` is right with every solver, best so far or not; the function called there gives its aux."""
    import jax.numpy as jnp
    import optimistix

    found = optimistix.minimise(lambda y, _: jnp.cosh(y - 3.0), optimistix.BFGS(rtol=1e-5, atol=1e-5), jnp.array(0.0))
    value, aux = (lambda y, _: (jnp.cosh(y - 3.0), y))(found.value, None)
    assert abs(aux - 3.0) + abs(value - 1.0) < 1e-2, (value, aux)


def least_squares() -> tuple[str, str]:
    """Is it, for Levenberg and Marquardt's method?"""
    import jax.numpy as jnp
    import optimistix

    solver = optimistix.LevenbergMarquardt(rtol=1e-2, atol=1e-2)
    found = optimistix.least_squares(lambda y, _: (jnp.sinh(y - 3.0), y), solver, jnp.array(0.0), has_aux=True)
    return compare(found.aux, found.value)


def root_find() -> tuple[str, str]:
    """Is it, for Newton's method stopped after three steps?"""
    import jax.numpy as jnp
    import optimistix

    arguments = {"has_aux": True, "max_steps": 3, "throw": False}
    solver = optimistix.Newton(rtol=1e-5, atol=1e-5)
    found = optimistix.root_find(lambda y, _: (jnp.sinh(y - 3.0), y), solver, jnp.array(0.0), **arguments)
    return compare(found.aux, found.value)


def best_so_far() -> tuple[str, str]:
    """Does BestSoFarMinimiser return the best point, where that is the last?"""
    import jax.numpy as jnp
    import optimistix

    solver = optimistix.BestSoFarMinimiser(optimistix.BFGS(rtol=1e-5, atol=1e-5))
    return compare(optimistix.minimise(lambda y, _: (y - 3.0) ** 2, solver, jnp.array(0.0)).value, 3.0, rtol=1e-3)


_WAS_RIGHT = (Rule("agrees", "optimistix<0.1.0"), Rule("differs", "", "optimistix#211 (f41291e)"))

_HAS_AUX = "optimistix.root_find(fn, solver, y0, args, options, has_aux) if has_aux"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="optimistix#33", fix="optimistix#211", attempt="optimistix#34"),
    touches=("optimistix.minimise(has_aux=)", "optimistix.least_squares(has_aux=)", "optimistix.root_find(has_aux=)"),
    control=control_value,
    workaround=Workaround("Call the function once more, at `value`.", call_it_again),
    needs=("jax", "equinox", "optimistix"),
    cases=(
        Case(minimise, rules=_WAS_RIGHT),
        Case(least_squares, rules=_WAS_RIGHT, waits_for=("stack-smoke/implicit-solve",)),
        Case(root_find, touches=(_HAS_AUX,), rules=(Rule("differs"),), waits_for=("stack-smoke/implicit-solve",)),
        Case(
            best_so_far,
            touches=members("optimistix", "BestSoFarMinimiser BestSoFarLeastSquares"),
            rules=(Rule("differs", "optimistix<0.1.0"), Rule("agrees", "", "optimistix#211 (f41291e)")),
        ),
    ),
)
