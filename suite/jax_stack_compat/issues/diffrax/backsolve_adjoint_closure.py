"""BacksolveAdjoint has no gradient by what a vector field closes over, or by a time

    term = ODETerm(lambda t, y, args: -rate * y)
    jax.grad(lambda rate: diffeqsolve(ODETerm(…), …, adjoint=BacksolveAdjoint()).ys[-1])(1.0)
    # CustomVJPException: … with respect to a closed-over value; by t1, RuntimeError: Unexpected tangent

You'd expect a gradient by `rate`, as the default adjoint gives it. BacksolveAdjoint solves a second equation backwards,
and that needs to see what is differentiated: it has to be in `y0`, in `args`, or in a term that is an Equinox module.
Else it refuses, as its documentation and the FAQ say, with an error from deep inside. Pass the number as `args`; a
time, by solving from 0 to 1 a vector field that is multiplied by it.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def closed_over() -> tuple[str, str]:
    """Is there a gradient by a number that the vector field closes over?"""
    import math

    import diffrax
    import jax

    def end(rate: jax.Array) -> jax.Array:
        term = diffrax.ODETerm(lambda t, y, args: -rate * y)
        steps, adjoint = {"dt0": 0.01, "max_steps": 128}, diffrax.BacksolveAdjoint()
        y1: jax.Array = diffrax.diffeqsolve(term, diffrax.Heun(), 0.0, 1.0, y0=1.0, adjoint=adjoint, **steps).ys[-1]
        return y1

    return compare(jax.grad(end)(1.0), -math.exp(-1.0), rtol=1e-2)


def control() -> None:
    """A term's vector field is what it was given, closed over number and all."""
    import diffrax

    rate = 2.0
    assert diffrax.ODETerm(lambda t, y, args: -rate * y).vector_field(0.0, 3.0, None) == -6.0


def passed_in() -> None:
    """The gradient by what is passed as args."""
    import math

    import diffrax
    import jax
    import jax.numpy as jnp

    def end(rate: jax.Array) -> jax.Array:
        term = diffrax.ODETerm(lambda t, y, args: -args * y)
        steps, adjoint = {"dt0": 0.01, "max_steps": 128}, diffrax.BacksolveAdjoint()
        start = jnp.array(1.0)
        solution = diffrax.diffeqsolve(term, diffrax.Heun(), 0.0, 1.0, y0=start, args=rate, adjoint=adjoint, **steps)
        y1: jax.Array = solution.ys[-1]
        return y1

    assert abs(jax.grad(end)(jnp.array(1.0)) + math.exp(-1.0)) < 1e-2


def end_time() -> tuple[str, str]:
    """Is there one by t1?"""
    import math

    import diffrax
    import jax

    def end(t1: jax.Array) -> jax.Array:
        term = diffrax.ODETerm(lambda t, y, args: -y)
        steps, adjoint = {"dt0": 0.01, "max_steps": 128}, diffrax.BacksolveAdjoint()
        y1: jax.Array = diffrax.diffeqsolve(term, diffrax.Heun(), 0.0, t1, y0=1.0, adjoint=adjoint, **steps).ys[-1]
        return y1

    return compare(jax.grad(end)(1.0), -math.exp(-1.0), rtol=1e-2)


CLOSED_OVER = Signature("CustomVJPException", "with respect to a closed-over value", "equinox")
TANGENT = Signature("RuntimeError", "Unexpected tangent", "equinox")
ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(docs="diffrax:api/adjoints/ diffrax:further_details/faq/"),
    touches=("diffrax.BacksolveAdjoint",),
    control=control,
    behaviours={"agrees": "clear", "differs": "affected"},
    rules=(Rule("refused", "", "Diffrax's FAQ"),),
    workaround=Workaround(
        "Pass it as `args`, or make it a part of the term.",
        passed_in,
        fails=(
            *("jax>=0.4.29 diffrax<0.6.0", "jax>=0.4.34 equinox<0.11.8"),
            *("jax>=0.9.2 equinox<0.13.0", "jax>=0.10.0 equinox<0.13.3"),
        ),
    ),
    needs=("jax", "equinox", "diffrax"),
    waits_for=("stack-smoke/train-and-solve",),
    cases=(Case(closed_over, signatures={"refused": CLOSED_OVER}), Case(end_time, signatures={"refused": TANGENT})),
)
