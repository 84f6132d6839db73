"""diffeqsolve calls the vector field at t = 0, wherever the solve begins, in diffrax 0.5.1 to 0.6.2

    field = lambda t, y, args: -y * jnp.asarray(1 / t)
    diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Euler(), t0=1.0, t1=3.0, ...)    # ZeroDivisionError

You'd expect no time to be asked for that is not between `t0` and `t1`. These releases try the field out before the
solve, with the Python number 0.0 for the time, to see whether shapes fit. So 1 / t of Python's own fails there, as do a
table or an assertion for the times of the solve; what is computed of JAX arrays gives an infinity that nobody sees.
From 0.6.1 on the message is "Terms are not compatible with solver!", too. diffrax#563 reports it. 0.7.0 tries it out at
`t0`, traced.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def one_over_t() -> tuple[str, str]:
    """Is y' = -y / t, solved from 1 to 3, with 1 / t by itself?"""
    import diffrax
    import jax.numpy as jnp

    term = diffrax.ODETerm(lambda t, y, args: -y * jnp.asarray(1 / t))
    end = diffrax.diffeqsolve(term, diffrax.Euler(), 1.0, 3.0, 0.01, 1.0, max_steps=400)
    return compare(end.ys[-1], 1 / 3, rtol=1e-1)


def control_by_hand() -> None:
    """Euler's method by hand, from the term, asks for times from 1 to 3, and is right."""
    import diffrax

    term, y = diffrax.ODETerm(lambda t, y, args: -y * (1 / t)), 1.0
    for step in range(200):
        y = y + 0.01 * term.vector_field(1.0 + step / 100, y, None)
    assert abs(y - 1 / 3) < 1e-2, y


def divide_arrays() -> None:
    """With the time made an array before it is divided by, it is right."""
    import diffrax
    import jax.numpy as jnp

    term = diffrax.ODETerm(lambda t, y, args: -y * (1 / jnp.asarray(t)))
    end = diffrax.diffeqsolve(term, diffrax.Euler(), 1.0, 3.0, 0.01, 1.0, max_steps=400)
    assert abs(float(end.ys[-1]) - 1 / 3) < 1e-2, end.ys


def times() -> tuple[str, str]:
    """Is the field called at no time, as a Python number, that is before t0?"""
    from typing import Any

    import diffrax

    seen = []

    def field(t: Any, y: Any, args: Any) -> Any:
        if isinstance(t, float):
            seen.append(t)
        return -y

    diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Euler(), 1.0, 3.0, 0.1, 1.0)
    return ("before" if [t for t in seen if t < 1.0] else "within"), f"as Python numbers: {sorted(set(seen))}"


_SOLVE = "diffrax.diffeqsolve(terms, solver, t0) if t0 {} 0 and uses('diffrax.ODETerm', 'diffrax.MultiTerm')".format

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="diffrax#563", fix="diffrax#566"),
    control=control_by_hand,
    workaround=Workaround(
        "Make an array of the time before you compute with it: 1 / jnp.asarray(t).",
        divide_arrays,
        fails=("jax>=0.4.36 diffrax<0.6.1",),
    ),
    needs=("jax", "equinox", "diffrax"),
    waits_for=("stack-smoke/train-and-solve",),
    cases=(
        Case(
            one_over_t,
            rules=(
                Rule("agrees", "diffrax<0.5.1"),
                Rule("zero-division", "diffrax<0.6.1"),
                Rule("incompatible", "diffrax<0.7.0"),
                Rule("agrees", "", "diffrax#566 (134a40a)"),
            ),
            touches=(_SOLVE("!="),),
            signatures={
                "zero-division": Signature("ZeroDivisionError"),
                "incompatible": Signature("ValueError", "Terms are not compatible with solver!"),
            },
        ),
        Case(
            times,
            behaviours={"within": "clear", "before": "affected"},
            rules=(
                Rule("within", "diffrax<0.5.1"),
                Rule("before", "diffrax<0.7.0"),
                Rule("within", "", "diffrax#566 (134a40a)"),
            ),
            touches=(_SOLVE(">"),),
        ),
    ),
)
