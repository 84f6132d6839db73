"""The gradient of a preconditioned lineax solve runs out of steps: it is taken without the preconditioner

    options = {"preconditioner": preconditioner}
    jax.grad(lambda b: lineax.linear_solve(a, b, lineax.CG(1e-5, 1e-5, max_steps=20), options).value.sum())(b)

You'd expect the solve for the gradient to be as well conditioned as the first. Up to Lineax 0.0.8 the solvers drop the
preconditioner where they transpose: the value converges, and its gradient needs as many steps as there are without
one. lineax#162, in 0.1.0, keeps it; lineax#160 and lineax#181 have GMRES. The error does not say that it is the
gradient's, and `throw=False` does not hold there, on any release, on purpose: there is nowhere to tell of a failure
(lineax#117, lineax#243).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def preconditioned() -> tuple[str, str]:
    """Is the gradient of a preconditioned CG solve found in as many steps as its value?"""
    import jax
    import jax.numpy as jnp
    import lineax
    import numpy as np

    a = np.diag(10.0 ** np.linspace(0.0, 5.0, 30)) + 0.1
    operator = lineax.MatrixLinearOperator(jnp.asarray(a, "float32"), lineax.positive_semidefinite_tag)
    inverse = jnp.asarray(np.diag(1.0 / np.diag(a)), "float32")
    options = {"preconditioner": lineax.MatrixLinearOperator(inverse, lineax.positive_semidefinite_tag)}

    def total(b: jax.Array) -> jax.Array:
        solver = lineax.CG(rtol=1e-5, atol=1e-5, max_steps=20)
        return lineax.linear_solve(operator, b, solver, options=options, throw=False).value.sum()

    b, wanted = np.ones(30), np.linalg.solve(a.T, np.ones(30))
    assert abs(float(total(jnp.asarray(b, "float32"))) / np.linalg.solve(a, b).sum() - 1) < 1e-2, "the value is wrong"
    try:
        return compare(jax.grad(total)(jnp.asarray(b, "float32")), wanted, rtol=1e-2, atol=1e-4)
    except Exception as error:  # of a class that each release has another name for
        if "The maximum number of solver steps was reached" not in str(error):
            raise
        return "steps-run-out", "The maximum number of solver steps was reached"


def control_operators() -> None:
    """The preconditioned matrix is well conditioned, the matrix is not, and NumPy solves it."""
    import numpy as np

    a = np.diag(10.0 ** np.linspace(0.0, 5.0, 30)) + 0.1
    assert np.linalg.cond(a / np.diag(a)[:, None]) < 10 < 1e4 < np.linalg.cond(a)
    np.testing.assert_allclose(a @ np.linalg.solve(a, np.ones(30)), np.ones(30), rtol=1e-6)


def direct_solver() -> None:
    """A direct solver has the right gradient."""
    import jax
    import jax.numpy as jnp
    import lineax
    import numpy as np

    a = np.diag(10.0 ** np.linspace(0.0, 5.0, 30)) + 0.1
    operator = lineax.MatrixLinearOperator(jnp.asarray(a, "float32"), lineax.positive_semidefinite_tag)
    gradient = jax.grad(lambda b: lineax.linear_solve(operator, b, lineax.Cholesky()).value.sum())
    wanted = np.linalg.solve(a.T, np.ones(30))
    np.testing.assert_allclose(gradient(jnp.ones(30)), wanted, rtol=1e-2, atol=1e-4)


def throw_false() -> tuple[str, str]:
    """Does throw=False hold for the gradient of a solve that has no preconditioner, and runs out of steps?"""
    import jax
    import jax.numpy as jnp
    import lineax
    import numpy as np

    a = np.diag(10.0 ** np.linspace(0.0, 5.0, 30)) + 0.1
    operator = lineax.MatrixLinearOperator(jnp.asarray(a, "float32"), lineax.positive_semidefinite_tag)
    solver = lineax.CG(rtol=1e-5, atol=1e-5, max_steps=5)
    gradient = jax.grad(lambda b: lineax.linear_solve(operator, b, solver, throw=False).value.sum())
    try:
        return "returned", f"a gradient of shape {np.asarray(gradient(jnp.ones(30))).shape}"
    except Exception as error:  # of a class that each release has another name for
        if "The maximum number of solver steps was reached" not in str(error):
            raise
        return "steps-run-out", "The maximum number of solver steps was reached"


_STEPS = "uses('lineax.CG', 'lineax.NormalCG', 'lineax.BiCGStab', 'lineax.GMRES')"

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="lineax#160 lineax#181 lineax#117 lineax#243", fix="lineax#162 lineax@6893255"),
    touches=("lineax.linear_solve(options=)",),
    control=control_operators,
    workaround=Workaround("Use a direct solver.", direct_solver, fails=("jax<0.4.24 scipy>=1.13",)),
    needs=("jax", "equinox", "lineax"),
    waits_for=("stack-smoke/train-and-solve", "stack-smoke/implicit-solve"),
    cases=(
        Case(
            preconditioned,
            behaviours={"steps-run-out": "affected"},
            rules=(Rule("steps-run-out", "lineax<0.1.0"), Rule("agrees", "", "lineax#162 (6893255)")),
            touches=(f"lineax.linear_solve(operator, vector, solver, options) if options and {_STEPS}",),
        ),
        Case(
            throw_false,
            behaviours={"returned": "clear", "steps-run-out": "documented"},
            rules=(Rule("steps-run-out", "", "lineax#243"),),
            touches=(f"lineax.linear_solve(operator, vector, solver, throw) if throw == False and {_STEPS}",),
        ),
    ),
)
