"""diffeqsolve with a boolean event and a root_finder returns y = 0 where the event holds at t0

    event = diffrax.Event(lambda t, y, args, **kwargs: True, optimistix.Newton(1e-4, 1e-4))    # y0 = 10.0, dt0 = 0.1
    diffrax.diffeqsolve(..., event=event)    # up to diffrax 0.7.0: ts = [0.1], ys = [0.0], "event occurred"

You'd expect `t0` and `y0`, which is what you get without a root finder. No step has been made, so what is interpolated
are placeholders, all 0, and the root is sought up to the end of a step that never was. The report has it with
`steady_state_event`, beside another event too, and diffrax 0.7.1 has the fix. There is an event that holds at the start
in many a batch.

Seen in these runs:

- The gradient by `y0` is 0 with diffrax 0.6.0 to 0.7.0, where it is 1: a fit is told that its start does not matter.
- Constant and adaptive steps go wrong alike.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def holds_at_start() -> tuple[str, str]:
    """Does a solve whose boolean event holds at t0, with a root finder, end at t0 and y0?"""
    import diffrax

    if not hasattr(diffrax, "Event"):
        return "absent", "there is no diffrax.Event"
    import optimistix

    event = diffrax.Event(lambda t, y, args, **kwargs: t >= 0, optimistix.Newton(1e-4, 1e-4))
    term, solver = diffrax.ODETerm(lambda t, y, args: -y), diffrax.Euler()
    solution = diffrax.diffeqsolve(term, solver, 0.0, 1.0, dt0=0.1, y0=10.0, event=event)
    return compare([solution.ts[-1], solution.ys[-1]], [0.0, 10.0])


def control_steps() -> None:
    """Three steps of Euler's method, made by hand from the term: where such an event comes true, y is 7.29."""
    import diffrax

    term, y = diffrax.ODETerm(lambda t, y, args: -y), 10.0
    for step in range(3):
        y = y + 0.1 * term.vector_field(step / 10, y, None)
    assert abs(y - 7.29) < 1e-4, y


def without_root_finder() -> None:
    """Without a root finder the solve ends at t0 and y0; a boolean condition has no root to find within a step."""
    import diffrax

    event = diffrax.Event(lambda t, y, args, **kwargs: t >= 0)
    term, solver = diffrax.ODETerm(lambda t, y, args: -y), diffrax.Euler()
    solution = diffrax.diffeqsolve(term, solver, 0.0, 1.0, dt0=0.1, y0=10.0, event=event)
    assert (solution.ts[-1], solution.ys[-1]) == (0.0, 10.0), (solution.ts, solution.ys)


def steady_state() -> tuple[str, str]:
    """Does one that is in its steady state at t0, with adaptive steps, end there?"""
    import diffrax

    if not hasattr(diffrax, "Event"):
        return "absent", "there is no diffrax.Event"
    import optimistix

    event = diffrax.Event(diffrax.steady_state_event(rtol=1e-6, atol=1e-6), optimistix.Newton(1e-4, 1e-4))
    term, solver = diffrax.ODETerm(lambda t, y, args: 0.0 * y), diffrax.Heun()
    steps = diffrax.PIDController(rtol=1e-6, atol=1e-6)
    found = diffrax.diffeqsolve(term, solver, 0.0, 1.0, dt0=0.1, y0=10.0, stepsize_controller=steps, event=event)
    return compare([found.ts[-1], found.ys[-1]], [0.0, 10.0])


def beside_another() -> tuple[str, str]:
    """Does it with a second event, whose condition is a number that changes sign?"""
    import diffrax

    if not hasattr(diffrax, "Event"):
        return "absent", "there is no diffrax.Event"
    import optimistix

    conditions = (lambda t, y, args, **kwargs: t >= 0, lambda t, y, args, **kwargs: y - 5.0)
    event = diffrax.Event(conditions, optimistix.Newton(1e-4, 1e-4))
    term, solver = diffrax.ODETerm(lambda t, y, args: -y), diffrax.Euler()
    solution = diffrax.diffeqsolve(term, solver, 0.0, 1.0, dt0=0.1, y0=10.0, event=event)
    return compare([solution.ts[-1], solution.ys[-1]], [0.0, 10.0])


def gradient() -> tuple[str, str]:
    """Is the gradient of where it ends, by y0, 1?"""
    import diffrax
    import jax

    if not hasattr(diffrax, "Event"):
        return "absent", "there is no diffrax.Event"
    import optimistix

    event = diffrax.Event(lambda t, y, args, **kwargs: t >= 0, optimistix.Newton(1e-4, 1e-4))
    term, solver = diffrax.ODETerm(lambda t, y, args: -y), diffrax.Euler()
    end = jax.grad(lambda y0: diffrax.diffeqsolve(term, solver, 0.0, 1.0, dt0=0.1, y0=y0, event=event).ys[-1])
    return compare(end(10.0), 1.0)


def gradient_without_root_finder() -> None:
    """Without a root finder the gradient is 1."""
    import diffrax
    import jax

    event = diffrax.Event(lambda t, y, args, **kwargs: t >= 0)
    term, solver = diffrax.ODETerm(lambda t, y, args: -y), diffrax.Euler()
    end = jax.value_and_grad(lambda y0: diffrax.diffeqsolve(term, solver, 0.0, 1.0, 0.1, y0, event=event).ys[-1])
    assert end(10.0) == (10.0, 1.0), end(10.0)


_TEXT = "Leave the root_finder out: a boolean condition has no root."
_RULES = (
    Rule("absent", "diffrax<0.6.0", "events came with diffrax 0.6.0"),
    Rule("differs", "diffrax<0.7.1"),
    Rule("agrees", "", "diffrax#724 (392f16d194)"),
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="diffrax#720", fix="diffrax#724"),
    touches=("diffrax.Event",),
    control=control_steps,
    rules=_RULES,
    workaround=Workaround(_TEXT, without_root_finder),
    needs=("jax", "equinox", "diffrax"),
    waits_for=("stack-smoke/train-and-solve", "stack-smoke/implicit-solve"),
    cases=(
        Case(holds_at_start),
        Case(steady_state),
        Case(beside_another),
        Case(
            gradient,
            signatures={"cannot-solve": Signature("TypeError", "Custom JVP rule must produce primal and tangent")},
            rules=(
                Rule("cannot-solve", "jax>=0.4.34 optimistix<0.0.9"),
                Rule("cannot-solve", "jax>=0.4.34 equinox<0.11.8", "diffrax#508, equinox#871"),
                *_RULES,
            ),
            workaround=Workaround(_TEXT, gradient_without_root_finder),
        ),
    ),
)
