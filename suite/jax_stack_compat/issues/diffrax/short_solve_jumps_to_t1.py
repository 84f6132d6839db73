"""diffeqsolve over a very short time jumps to t1, and is wrong

    diffrax.diffeqsolve(term, diffrax.Euler(), t0=0.0, t1=1e-9, dt0=1e-11, y0=1.0)    # y' = -y / t1: 0.0099, not 0.366

You'd expect 100 steps. Up to diffrax 0.7.0 a step that ends within 1e-6 of `t1` (1e-10 in float64) is taken for the
last one and stretched to `t1`; where all of the solve is that short, nothing else is left, and no error. Nanoseconds in
SI units are enough. diffrax#660, in 0.7.1, has 100 units in the last place of `t1` instead: see
rejected-last-step-is-retried for what that one costs. No release run is right for both.

It begins above the tolerance: in float64, diffrax#657 has the last steps clipped at `t1=1e-9`, ten times the tolerance,
and diffrax#632 has wrong answers below that.

The same tolerance is too small where floats are coarse. With `jump_ts` at `t1=1000`, in float32, a time saved there
comes back as inf, and y with it (diffrax#663, fixed by diffrax#660 too).

Seen in these runs:

- In float32, at `t1=1e-5`, the last ten of 100 steps are one, and y is 0.3643 instead of 0.366.
- With adaptive steps a short solve loops up to `max_steps`: rejected-last-step-is-retried again.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def constant_steps() -> tuple[str, str]:
    """Is Euler's method with 100 steps over a nanosecond what it is over a second?"""
    import diffrax

    term = diffrax.ODETerm(lambda t, y, args: -y / 1e-9)
    solution = diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1e-9, 1e-11, 1.0, max_steps=200)
    return compare(float(solution.ys[-1]), 0.99**100, rtol=1e-2)


def control_by_hand() -> None:
    """The same steps made by hand from the term, over a nanosecond."""
    import diffrax

    term, y = diffrax.ODETerm(lambda t, y, args: -y / 1e-9), 1.0
    for step in range(100):
        y = y + 1e-11 * term.vector_field(step * 1e-11, y, None)
    assert abs(y - 0.99**100) < 1e-3, y


def rescaled() -> None:
    """Time in nanoseconds: the vector field times 1e-9, from 0 to 1."""
    import diffrax

    term = diffrax.ODETerm(lambda t, y, args: 1e-9 * (-y / 1e-9))
    solution = diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1.0, 1e-2, 1.0, max_steps=200)
    assert abs(float(solution.ys[-1]) - 0.99**100) < 1e-3, solution.ys


def step_to() -> tuple[str, str]:
    """Is it, with the steps' ends given by StepTo?"""
    import diffrax
    import jax.numpy as jnp

    term, steps = diffrax.ODETerm(lambda t, y, args: -y / 1e-9), diffrax.StepTo(ts=jnp.linspace(0.0, 1e-9, 101))
    solution = diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1e-9, None, 1.0, stepsize_controller=steps)
    return compare(float(solution.ys[-1]), 0.99**100, rtol=1e-2)


def double_precision() -> tuple[str, str]:
    """Is it in float64, over a hundredth of a nanosecond?"""
    import diffrax

    term = diffrax.ODETerm(lambda t, y, args: -y / 1e-11)
    solution = diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1e-11, 1e-13, 1.0, max_steps=200)
    return compare(float(solution.ys[-1]), 0.99**100, rtol=1e-2)


def a_hundred_thousandth() -> tuple[str, str]:
    """Is it over 1e-5 seconds?"""
    import diffrax

    term = diffrax.ODETerm(lambda t, y, args: -y / 1e-5)
    solution = diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1e-5, 1e-7, 1.0, max_steps=200)
    return compare(float(solution.ys[-1]), 0.99**100, rtol=1e-3)


def saved_time_at_a_jump() -> tuple[str, str]:
    """Is a time saved at t1 = 1000 kept, where jump_ts has t1, too?"""
    import diffrax
    import jax.numpy as jnp

    pid, jumps = diffrax.PIDController, {"jump_ts": jnp.array([1000.0])}
    if hasattr(diffrax, "ClipStepSizeController"):
        steps = diffrax.ClipStepSizeController(pid(rtol=1e-3, atol=1e-6), **jumps)
    else:
        steps = pid(rtol=1e-3, atol=1e-6, **jumps)
    term, saveat = diffrax.ODETerm(lambda t, y, args: -y), diffrax.SaveAt(ts=[1000.0])
    arguments = {"stepsize_controller": steps, "saveat": saveat}
    solution = diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 1000.0, 0.1, 1.0, **arguments)
    return compare(float(solution.ts[-1]), 1000.0)


def without_the_last_jump() -> None:
    """Without the jump at t1, after which nothing is solved, the saved time is right."""
    import diffrax

    term, saveat = diffrax.ODETerm(lambda t, y, args: -y), diffrax.SaveAt(ts=[1000.0])
    arguments = {"stepsize_controller": diffrax.PIDController(rtol=1e-3, atol=1e-6), "saveat": saveat}
    solution = diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 1000.0, 0.1, 1.0, **arguments)
    assert float(solution.ts[-1]) == 1000.0, solution.ts
    assert abs(float(solution.ys[-1])) < 1e-3, solution.ys


_SOLVE = "diffrax.diffeqsolve(terms, solver, t0, t1, dt0, y0, args, stepsize_controller) if "
_WITHIN = "abs(t0) <= {0} and abs(t1) <= {0}".format
_JUMPS = "if jump_ts != None and uses('diffrax.SaveAt')"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="diffrax#632 diffrax#657 diffrax#663", fix="diffrax#660"),
    touches=("diffrax.diffeqsolve", "diffrax.ClipStepSizeController(jump_ts=)", "diffrax.PIDController(jump_ts=)"),
    control=control_by_hand,
    rules=(Rule("differs", "diffrax<0.7.1"), Rule("agrees", "", "diffrax#660 (4e8d745)")),
    workaround=Workaround("Count the time in another unit, so that t1 is about 1.", rescaled),
    needs=("jax", "equinox", "diffrax"),
    waits_for=("stack-smoke/train-and-solve",),
    cases=(
        Case(constant_steps, touches=(f"{_SOLVE}not given(stepsize_controller) and {_WITHIN(1e-6)}",)),
        Case(step_to, touches=(f"{_SOLVE}given(stepsize_controller) and {_WITHIN(1e-6)} and uses('diffrax.StepTo')",)),
        Case(double_precision, x64=True, touches=(f"{_SOLVE}{_WITHIN(1e-9)} and uses('jax_enable_x64')",)),
        Case(a_hundred_thousandth, touches=(f"{_SOLVE}not given(stepsize_controller) and {_WITHIN(1e-5)}",)),
        Case(
            saved_time_at_a_jump,
            workaround=Workaround("Leave the jump at t1 out of jump_ts.", without_the_last_jump),
            touches=(
                f"diffrax.ClipStepSizeController(controller, step_ts, jump_ts) {_JUMPS}",
                "diffrax.PIDController(rtol, atol, pcoeff, icoeff, dcoeff, dtmin, dtmax, force_dtmin, step_ts, "
                f"jump_ts) {_JUMPS}",
            ),
        ),
    ),
)
