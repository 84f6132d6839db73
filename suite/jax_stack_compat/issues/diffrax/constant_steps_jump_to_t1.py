"""diffrax.diffeqsolve takes all constant steps very near t1 as one

Since diffrax#660, `diffeqsolve` stretches a step to `t1` if it ends within 100 units in the last place of `t1`. The
constant steps within that distance of `t1` become one, without an error: in float32, the last 0.78 before 86400.
`step_to` loses steps of StepTo, too. diffrax#756 reports what the tolerance does to adaptive steps.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def constant_steps() -> tuple[str, str]:
    """Does diffrax.diffeqsolve with steps of 1/32 solve an oscillation from t = 86390 to 86400?"""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    term = diffrax.ODETerm(lambda t, y, args: jnp.stack([8.0 * y[1], -8.0 * y[0]]))
    end = diffrax.diffeqsolve(term, diffrax.Tsit5(), 86390.0, 86400.0, 1 / 32, jnp.array([1.0, 0.0]))
    return compare(end.ys[-1], [np.cos(80.0), -np.sin(80.0)], atol=1e-3)


def control_by_hand() -> None:
    """The same 320 steps, by hand from the ODETerm, follow the oscillation."""
    import diffrax
    import numpy as np

    term, y = diffrax.ODETerm(lambda t, y, args: np.array([8.0 * y[1], -8.0 * y[0]])), np.array([1.0, 0.0])
    for step in range(320):
        field = [term.vector_field(step / 32, y, None)]
        for share in (1 / 64, 1 / 64, 1 / 32):
            field.append(term.vector_field(step / 32 + share, y + share * field[-1], None))
        y = y + (field[0] + 2 * field[1] + 2 * field[2] + field[3]) / 192
    np.testing.assert_allclose(y, [np.cos(80.0), -np.sin(80.0)], atol=1e-2)


def to_zero() -> None:
    """From -10 to 0, both solves agree with the closed form."""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    term, y0 = diffrax.ODETerm(lambda t, y, args: jnp.stack([8.0 * y[1], -8.0 * y[0]])), jnp.array([1.0, 0.0])
    steps = diffrax.StepTo(ts=jnp.linspace(-10.0, 0.0, 321))
    constant = diffrax.diffeqsolve(term, diffrax.Tsit5(), -10.0, 0.0, 1 / 32, y0)
    told = diffrax.diffeqsolve(term, diffrax.Tsit5(), -10.0, 0.0, None, y0, stepsize_controller=steps)
    for end in (constant, told):
        np.testing.assert_allclose(end.ys[-1], [np.cos(80.0), -np.sin(80.0)], atol=1e-3)


def forced_decay_to_zero() -> None:
    """Shifted from 999.75..1000 to -0.25..0, steps of 1/1024 solve a field that depends on t, and save two times."""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    t0, t1 = 999.75, 1000.0

    def field(t: Any, y: Any, args: Any) -> Any:
        return -1000.0 * y + t

    term, y0 = diffrax.ODETerm(lambda t, y, args: field(t + t1, y, args)), jnp.array([[1.0, 2.0, 3.0]])
    times = jnp.array([999.875, 1000.0]) - t1
    steps = diffrax.StepTo(ts=t0 - t1 + jnp.arange(257) / 1024)
    wanted = np.array([0.999874, 0.999999])[:, None, None] * np.ones((1, 3))
    for solver in (diffrax.Euler(), diffrax.Heun()):
        saveat = diffrax.SaveAt(ts=times)
        constant = diffrax.diffeqsolve(term, solver, t0 - t1, 0.0, 1 / 1024, y0, saveat=saveat)
        told = diffrax.diffeqsolve(term, solver, t0 - t1, 0.0, None, y0, saveat=saveat, stepsize_controller=steps)
        assert int(constant.stats["num_steps"]) == int(told.stats["num_steps"]) == 256
        for solution in (constant, told):
            np.testing.assert_allclose(solution.ys, wanted, rtol=1e-4)


def number_of_steps() -> tuple[str, str]:
    """Does diffrax.diffeqsolve with a dt0 of 1/32 take 320 steps from t = 86390 to 86400?"""
    import diffrax

    term = diffrax.ODETerm(lambda t, y, args: -y)
    end = diffrax.diffeqsolve(term, diffrax.Euler(), 86390.0, 86400.0, 1 / 32, 1.0)
    return compare(int(end.stats["num_steps"]), 320)


def step_to() -> tuple[str, str]:
    """Does diffrax.diffeqsolve, with the ends of these steps in diffrax.StepTo, solve the oscillation?"""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    term = diffrax.ODETerm(lambda t, y, args: jnp.stack([8.0 * y[1], -8.0 * y[0]]))
    steps = diffrax.StepTo(ts=86390.0 + jnp.arange(321) / 32)
    arguments = {"stepsize_controller": steps}
    end = diffrax.diffeqsolve(term, diffrax.Tsit5(), 86390.0, 86400.0, None, jnp.array([1.0, 0.0]), **arguments)
    return compare(end.ys[-1], [np.cos(80.0), -np.sin(80.0)], atol=1e-3)


_SOLVE = "diffrax.diffeqsolve(terms, solver, t0, t1, dt0, y0, args, stepsize_controller) if "
_LATE = "abs(t1) >= 100 and not uses('jax_enable_x64')"
# In float32, 100 units in the last place are 0.00076 from 64 on, and 0.098 from 8192 on.
_CONSTANT = (
    f"{_SOLVE}{_LATE} and (not given(stepsize_controller) or uses('diffrax.ConstantStepSize')) "
    "and (abs(dt0) < 0.0007 or abs(t1) >= 10000 and abs(dt0) < 0.09)"
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(cause="diffrax#660", discussion="diffrax#756"),
    touches=("diffrax.diffeqsolve", "diffrax.ConstantStepSize", "diffrax.StepTo"),
    control=control_by_hand,
    rules=(Rule("agrees", "diffrax<0.7.1"), Rule("differs", "", "diffrax#660 (4e8d745)")),
    workaround=Workaround(
        "Shift times by -t1 in Python floats; a tiny step may remain at 0.", to_zero, elsewhere=forced_decay_to_zero
    ),
    needs=("jax", "equinox", "diffrax"),
    waits_for=("stack-smoke/train-and-solve",),
    cases=(
        Case(constant_steps, touches=(_CONSTANT,)),
        Case(number_of_steps, touches=(_CONSTANT,)),
        Case(step_to, touches=(f"{_SOLVE}{_LATE} and given(stepsize_controller) and uses('diffrax.StepTo')",)),
    ),
)
