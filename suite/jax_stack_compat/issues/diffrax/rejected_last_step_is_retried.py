"""diffeqsolve repeats a step rejected very near t1, until max_steps

After a rejected step, if the controller's next step would still end near `t1`, `diffeqsolve` tries half of what is
left. If that half is rejected too, and the next step would still end there, it repeats the half (diffrax#756). "Near"
was an absolute time until diffrax#660 made it 100 units in the last place of `t1`: `microsecond` then agrees, and
`end_of_a_day` no longer does. diffrax#758 removes the half step.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def end_of_a_day() -> tuple[str, str]:
    """Does diffrax.diffeqsolve with PIDController solve an oscillation over the last ten seconds of a day?"""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    term = diffrax.ODETerm(lambda t, y, args: jnp.stack([2.0 * y[1], -2.0 * y[0]]))
    steps = diffrax.PIDController(rtol=1e-5, atol=1e-5)
    arguments = {"stepsize_controller": steps, "max_steps": 400}
    end = diffrax.diffeqsolve(term, diffrax.Tsit5(), 86390.0, 86400.0, 0.1, jnp.array([1.0, 0.0]), **arguments)
    return compare([end.ts[-1], *end.ys[-1]], [86400.0, np.cos(20.0), -np.sin(20.0)], rtol=1e-2)


def control_by_hand() -> None:
    """Runge-Kutta steps of 0.1, by hand from the ODETerm, follow the oscillation."""
    import diffrax
    import numpy as np

    term, y = diffrax.ODETerm(lambda t, y, args: np.array([2.0 * y[1], -2.0 * y[0]])), np.array([1.0, 0.0])
    for step in range(100):
        field = [term.vector_field(step / 10, y, None)]
        for share in (0.05, 0.05, 0.1):
            field.append(term.vector_field(step / 10 + share, y + share * field[-1], None))
        y = y + (field[0] + 2 * field[1] + 2 * field[2] + field[3]) / 60
    np.testing.assert_allclose(y, [np.cos(20.0), -np.sin(20.0)], atol=1e-2)


def to_zero() -> None:
    """From -10 to 0, the solve agrees."""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    term = diffrax.ODETerm(lambda t, y, args: jnp.stack([2.0 * y[1], -2.0 * y[0]]))
    steps = diffrax.PIDController(rtol=1e-5, atol=1e-5)
    arguments = {"stepsize_controller": steps, "max_steps": 400}
    end = diffrax.diffeqsolve(term, diffrax.Tsit5(), -10.0, 0.0, 0.1, jnp.array([1.0, 0.0]), **arguments)
    np.testing.assert_allclose(end.ys[-1], [np.cos(20.0), -np.sin(20.0)], atol=1e-2)


def faster_towards_zero() -> None:
    """From -600 to 0 instead of 0 to 600, two solvers follow two oscillations of rising frequency, and save times."""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    t0, t1 = 0.0, 600.0

    def field(t: Any, y: Any, args: Any) -> Any:
        return 1000.0 * jnp.exp(5.0 * (t - t1)) * jnp.stack([y[1], -y[0]])

    term, y0 = diffrax.ODETerm(lambda t, y, args: field(t + t1, y, args)), jnp.array([[1.0, 2.0], [0.0, 0.0]])
    times, steps = jnp.array([599.5, 600.0]) - t1, diffrax.PIDController(rtol=1e-4, atol=1e-4)
    arguments = {"stepsize_controller": steps, "max_steps": 2000, "saveat": diffrax.SaveAt(ts=times)}
    turned = 200.0 * np.exp(5.0 * np.array([-0.5, 0.0]))
    wanted = np.stack([np.cos(turned), -np.sin(turned)], -1)[:, :, None] * [1.0, 2.0]
    for solver in (diffrax.Tsit5(), diffrax.Dopri5()):
        solution = diffrax.diffeqsolve(term, solver, t0 - t1, 0.0, 0.1, y0, **arguments)
        np.testing.assert_allclose(solution.ys, wanted, atol=0.1)


def microsecond() -> tuple[str, str]:
    """Does diffrax.diffeqsolve with PIDController solve an oscillation over one microsecond?"""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    term = diffrax.ODETerm(lambda t, y, args: jnp.stack([1e7 * y[1], -1e7 * y[0]]))
    steps = diffrax.PIDController(rtol=1e-5, atol=1e-5)
    arguments = {"stepsize_controller": steps, "max_steps": 400, "throw": False}
    end = diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 1e-6, 1e-8, jnp.array([1.0, 0.0]), **arguments)
    return compare([end.ts[-1], *end.ys[-1]], [1e-6, np.cos(10.0), -np.sin(10.0)], rtol=1e-2)


def from_zero_to_about_one() -> None:
    """Both solves agree if their time runs from 0 to 1."""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    steps = diffrax.PIDController(rtol=1e-5, atol=1e-5)
    for turns in (20.0, 10.0):
        term = diffrax.ODETerm(lambda t, y, turns: turns * jnp.stack([y[1], -y[0]]))
        y0, arguments = jnp.array([1.0, 0.0]), {"stepsize_controller": steps, "max_steps": 400, "args": turns}
        end = diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 1.0, 0.01, y0, **arguments)
        np.testing.assert_allclose(end.ys[-1], [np.cos(turns), -np.sin(turns)], atol=1e-2)


def decay_from_zero_to_one() -> None:
    """With a decay of 1e9 a second, and a time from 0 to 1 instead of 1e-8, two solvers agree with the closed form."""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    y0 = jnp.array([[1.0, -2.0, 0.5]])
    term = diffrax.ODETerm(lambda t, y, args: 1e-8 * (-1e9 * y))
    for solver in (diffrax.Dopri5(), diffrax.Heun()):
        steps = diffrax.PIDController(rtol=1e-4, atol=1e-7)
        end = diffrax.diffeqsolve(term, solver, 0.0, 1.0, 0.01, y0, stepsize_controller=steps)
        np.testing.assert_allclose(end.ys[-1], np.asarray(y0) * np.exp(-10.0), atol=1e-6)


_REACHED = Signature("EquinoxRuntimeError", "solver steps was reached. Try increasing `max_steps`", everyday=True)
_SOLVE = (
    "diffrax.diffeqsolve(terms, solver, t0, t1, dt0, y0, args, stepsize_controller) if given(stepsize_controller) and "
)

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="diffrax#756", fix="diffrax#758", cause="diffrax#660"),
    touches=("diffrax.PIDController",),
    control=control_by_hand,
    needs=("jax", "equinox", "diffrax"),
    waits_for=("stack-smoke/train-and-solve",),
    cases=(
        Case(
            end_of_a_day,
            workaround=Workaround(
                "If float32 resolves the first steps at t0 - t1: shift all times by -t1.",
                to_zero,
                elsewhere=faster_towards_zero,
            ),
            signatures={"max-steps": _REACHED},
            rules=(Rule("agrees", "diffrax<0.7.1"), Rule("max-steps", "", "diffrax#660 (4e8d745)")),
            touches=(f"{_SOLVE}abs(t1) >= 100 and uses('diffrax.PIDController') and not uses('jax_enable_x64')",),
        ),
        Case(
            microsecond,
            workaround=Workaround(
                "Scale the time to run from 0 to 1, if steps then exceed 1e-5.",
                from_zero_to_about_one,
                elsewhere=decay_from_zero_to_one,
            ),
            rules=(Rule("differs", "diffrax<0.7.1"), Rule("agrees", "", "diffrax#660 (4e8d745)")),
            touches=(f"{_SOLVE}abs(t0) <= 1e-5 and abs(t1) <= 1e-5",),
        ),
    ),
)
