"""diffeqsolve from one float before a jump of jump_ts steps away from t1 until max_steps

    controller = diffrax.ClipStepSizeController(diffrax.PIDController(...), jump_ts=[1.0])
    diffrax.diffeqsolve(..., t0=prevbefore(1.0), t1=2.0, stepsize_controller=controller)

You'd expect y at `t1`. One float before a jump is where steps are made to end, so a solve may well start from there. In
diffrax 0.7.0, the first with this controller, such a start is moved past the jump while its step's end stays before it:
the steps have the wrong sign, and the solve runs away from `t1`, backwards in time, up to `max_steps`. By default that
raises EquinoxRuntimeError. diffrax 0.7.1 has the fix. Before 0.7.0 `PIDController(jump_ts=)` did it right.

Seen in these runs:

- With `throw=False`, as the cases have it, the last point is returned with a `result` that says max_steps: t = -85.4,
  y = 3.1e37, for y' = -y.
- Solved backwards in time it is the same, one float after the jump.
- In float64 it is the same, with its own one float.
- `step_ts` there is right in 0.6.2, 0.7.0 and 0.7.1.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def forwards() -> tuple[str, str]:
    """Does a solve of y' = -y from one float before a jump at 1 get to t = 2?"""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    steps = diffrax.PIDController(rtol=1e-3, atol=1e-6)
    if hasattr(diffrax, "ClipStepSizeController"):
        steps = diffrax.ClipStepSizeController(steps, jump_ts=jnp.array([1.0]))
    else:
        steps = diffrax.PIDController(rtol=1e-3, atol=1e-6, jump_ts=jnp.array([1.0]))
    term, t0 = diffrax.ODETerm(lambda t, y, args: -y), np.nextafter(np.float32(1), np.float32(0))
    arguments = {"stepsize_controller": steps, "max_steps": 500, "throw": False}
    end = diffrax.diffeqsolve(term, diffrax.Tsit5(), t0, 2.0, 0.1, 1.0, **arguments)
    return compare([end.ts[-1], end.ys[-1]], [2.0, np.exp(-1.0)], rtol=1e-2)


def control_steps() -> None:
    """Steps of 0.01 of Euler's method, made by hand from the term, go through the jump and are right."""
    import diffrax

    term, y = diffrax.ODETerm(lambda t, y, args: -y), 1.0
    for step in range(150):
        y = y + 0.01 * term.vector_field(0.5 + step / 100, y, None)
    assert abs(y - 0.22313) < 1e-2, y


def start_at_the_jump() -> None:
    """Started at the jump itself, the solve is right."""
    import diffrax
    import jax.numpy as jnp

    clip, pid = getattr(diffrax, "ClipStepSizeController", None), diffrax.PIDController
    jumps = {"jump_ts": jnp.array([1.0])}
    steps = clip(pid(rtol=1e-3, atol=1e-6), **jumps) if clip else pid(rtol=1e-3, atol=1e-6, **jumps)
    term = diffrax.ODETerm(lambda t, y, args: -y)
    solution = diffrax.diffeqsolve(term, diffrax.Tsit5(), 1.0, 2.0, 0.1, 1.0, stepsize_controller=steps)
    assert abs(float(solution.ys[-1]) - 0.36788) < 1e-3, solution.ys


def backwards() -> tuple[str, str]:
    """Does one backwards in time, from one float after the jump, get to t = 0?"""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    steps = diffrax.PIDController(rtol=1e-3, atol=1e-6)
    if hasattr(diffrax, "ClipStepSizeController"):
        steps = diffrax.ClipStepSizeController(steps, jump_ts=jnp.array([1.0]))
    else:
        steps = diffrax.PIDController(rtol=1e-3, atol=1e-6, jump_ts=jnp.array([1.0]))
    term, t0 = diffrax.ODETerm(lambda t, y, args: -y), np.nextafter(np.float32(1), np.float32(2))
    arguments = {"stepsize_controller": steps, "max_steps": 500, "throw": False}
    end = diffrax.diffeqsolve(term, diffrax.Tsit5(), t0, 0.0, -0.1, 1.0, **arguments)
    return compare([end.ts[-1], end.ys[-1]], [0.0, np.exp(1.0)], rtol=1e-2)


def in_double_precision() -> tuple[str, str]:
    """Does one in float64, from one float64 before the jump, get to t = 2?"""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    steps = diffrax.PIDController(rtol=1e-3, atol=1e-6)
    if hasattr(diffrax, "ClipStepSizeController"):
        steps = diffrax.ClipStepSizeController(steps, jump_ts=jnp.array([1.0]))
    else:
        steps = diffrax.PIDController(rtol=1e-3, atol=1e-6, jump_ts=jnp.array([1.0]))
    term, t0 = diffrax.ODETerm(lambda t, y, args: -y), np.nextafter(1.0, 0.0)
    arguments = {"stepsize_controller": steps, "max_steps": 500, "throw": False}
    end = diffrax.diffeqsolve(term, diffrax.Tsit5(), t0, 2.0, 0.1, 1.0, **arguments)
    return compare([end.ts[-1], end.ys[-1]], [2.0, np.exp(-1.0)], rtol=1e-2)


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="diffrax#713", fix="diffrax#714"),
    touches=("diffrax.ClipStepSizeController(jump_ts=)", "diffrax.PIDController(jump_ts=)"),
    control=control_steps,
    rules=(
        Rule("agrees", "diffrax<0.7.0", "PIDController(jump_ts=)"),
        Rule("differs", "diffrax<0.7.1"),
        Rule("agrees", "", "diffrax#714 (475c3f4792)"),
    ),
    workaround=Workaround("Start at the jump itself, or leave out the jumps that are past.", start_at_the_jump),
    needs=("jax", "equinox", "diffrax"),
    waits_for=("stack-smoke/train-and-solve",),
    cases=(Case(forwards), Case(backwards), Case(in_double_precision, x64=True)),
)
