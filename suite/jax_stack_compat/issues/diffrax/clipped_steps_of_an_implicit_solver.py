"""An implicit solver is refused with jump_ts or step_ts, in diffrax 0.7.0

    controller = diffrax.PIDController(rtol=1e-3, atol=1e-6, jump_ts=[0.5])
    diffrax.diffeqsolve(term, diffrax.Kvaerno5(), ..., stepsize_controller=controller)
    # ValueError: A fixed step size controller is being used alongside an implicit solver

You'd expect the tolerances to be those of the controller, which the root finder takes where it has none of its own.
diffrax 0.7.0 moved `jump_ts` and `step_ts` from `PIDController` to `ClipStepSizeController`, which wraps it, and keeps
the old spelling; but a wrapper is not asked for tolerances. diffrax#607 reports it, and so do #654 and #723, the
latter as a trap. 0.7.1 asks what is wrapped. Explicit solvers are right on every release.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def jump_ts() -> tuple[str, str]:
    """Does backward Euler, with adaptive steps and a jump, solve y' = -y?"""
    import diffrax
    import jax.numpy as jnp

    steps = diffrax.PIDController(rtol=1e-3, atol=1e-6)
    if hasattr(diffrax, "ClipStepSizeController"):
        steps = diffrax.ClipStepSizeController(steps, jump_ts=jnp.array([0.5]))
    else:
        steps = diffrax.PIDController(rtol=1e-3, atol=1e-6, jump_ts=jnp.array([0.5]))
    term, solver = diffrax.ODETerm(lambda t, y, args: -y), diffrax.ImplicitEuler()
    end = diffrax.diffeqsolve(term, solver, 0.0, 1.0, 0.1, 1.0, stepsize_controller=steps)
    return compare(end.ys[-1], 0.36788, rtol=5e-2)


def control_by_hand() -> None:
    """Backward Euler by hand, with 20 steps, is right."""
    import diffrax

    term, y = diffrax.ODETerm(lambda t, y, args: -y), 1.0
    for step in range(20):
        slope = term.vector_field(step / 20, 1.0, None)
        y = y / (1.0 - slope / 20)
    assert abs(y - 0.36788) < 0.02, y


def solve_in_two() -> None:
    """Two solves, up to the jump and from there, with no more than rtol and atol for the controller."""
    import diffrax

    steps = diffrax.PIDController(rtol=1e-3, atol=1e-6)
    term, solver, y = diffrax.ODETerm(lambda t, y, args: -y), diffrax.ImplicitEuler(), 1.0
    for t0, t1 in ((0.0, 0.5), (0.5, 1.0)):
        y = diffrax.diffeqsolve(term, solver, t0, t1, 0.1, y, stepsize_controller=steps).ys[-1]
    assert abs(y - 0.36788) < 0.02, y


def step_ts_of_the_controller() -> tuple[str, str]:
    """Does it with step_ts, in the spelling of before 0.7.0?"""
    import diffrax
    import jax.numpy as jnp

    steps = diffrax.PIDController(rtol=1e-3, atol=1e-6, step_ts=jnp.array([0.5]))
    term, solver = diffrax.ODETerm(lambda t, y, args: -y), diffrax.ImplicitEuler()
    end = diffrax.diffeqsolve(term, solver, 0.0, 1.0, 0.1, 1.0, stepsize_controller=steps)
    return compare(end.ys[-1], 0.36788, rtol=5e-2)


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="diffrax#607 diffrax#654 diffrax#723", fix="diffrax#608"),
    touches=(
        *("diffrax.ClipStepSizeController", "diffrax.PIDController(jump_ts=)", "diffrax.PIDController(step_ts=)"),
    ),
    control=control_by_hand,
    rules=(Rule("refused", "diffrax==0.7.0", "diffrax#607"), Rule("agrees", "", "diffrax#608")),
    workaround=Workaround(
        "Solve in two, up to the jump and from there; or give the solver's root_finder tolerances of its own.",
        solve_in_two,
        fails=("jax>=0.7.1 equinox<0.13.1",),
    ),
    signatures={"refused": Signature("ValueError", "A fixed step size controller is being used alongside an implicit")},
    needs=("jax", "equinox", "diffrax"),
    waits_for=("stack-smoke/implicit-solve",),
    cases=(Case(jump_ts), Case(step_ts_of_the_controller)),
)
