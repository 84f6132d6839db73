"""What a vector field raises comes out of diffeqsolve as "Terms are not compatible with solver!", up to diffrax 0.7.1

    def field(t, y, args):
        raise ValueError("no such species")

    diffrax.diffeqsolve(diffrax.ODETerm(field), ...)    # ValueError: Terms are not compatible with solver!

You'd expect the error that was raised: code that catches its own, or a reader who looks at the last line, is led to the
solver. From 0.5.1 on diffrax tries the field out before it solves, to see whether its shapes fit. It takes a ValueError
there for a misfit, up to 0.7.1, and from 0.6.1 to 0.7.0 every exception. diffrax#681 reports it; 0.7.1 and 0.7.2 mend a
half each. From 0.6.1 on the `__cause__` has what was raised; before, nothing has.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def value_error() -> tuple[str, str]:
    """Does a ValueError of the field come out as it is?"""
    from typing import Any

    import diffrax

    def field(t: Any, y: Any, args: Any) -> Any:
        raise ValueError("no such species")

    diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Euler(), 0.0, 1.0, 0.1, 1.0)
    return "no-error", "nothing was raised"


def control_field() -> None:
    """Called by hand, the field raises what it raises, and one that fits is called."""
    from typing import Any

    import diffrax

    def field(t: Any, y: Any, args: Any) -> Any:
        if args is None:
            raise ValueError("no such species")
        return -args * y

    term = diffrax.ODETerm(field)
    assert term.vector_field(0.0, 1.0, 2.0) == -2.0
    try:
        term.vector_field(0.0, 1.0, None)
    except ValueError as error:
        told = str(error)
    assert told == "no such species"


def by_hand_first() -> None:
    """Called once before the solve, by jax.eval_shape with t0 and y0, the field raises its own error."""
    from typing import Any

    import diffrax
    import jax

    def field(t: Any, y: Any, args: Any) -> Any:
        raise kind("no such species")

    for kind in (ValueError, TypeError):
        told = ""
        try:
            jax.eval_shape(lambda t, y: diffrax.ODETerm(field).vector_field(t, y, None), 0.0, 1.0)
        except kind as error:
            told = str(error)
        assert told == "no such species", told


def type_error() -> tuple[str, str]:
    """Does a TypeError?"""
    from typing import Any

    import diffrax

    def field(t: Any, y: Any, args: Any) -> Any:
        raise TypeError("no such species")

    diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Euler(), 0.0, 1.0, 0.1, 1.0)
    return "no-error", "nothing was raised"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="diffrax#681", fix="diffrax#731 diffrax@e7bfa23"),
    touches=("diffrax.diffeqsolve",),
    control=control_field,
    behaviours={"own-error": "clear", "no-error": "affected"},
    workaround=Workaround("Before the solve, jax.eval_shape of the field with t0 and y0.", by_hand_first),
    signatures={
        "masked": (
            Signature("ValueError", "Terms are not compatible with solver!"),
            Signature("ValueError", "`terms` must be a PyTree of `AbstractTerms`"),
        ),
        "own-error": (Signature("ValueError", "no such species"), Signature("TypeError", "no such species")),
    },
    needs=("jax", "equinox", "diffrax"),
    waits_for=("stack-smoke/train-and-solve",),
    cases=(
        Case(
            value_error,
            rules=(
                Rule("own-error", "diffrax<0.5.1"),
                Rule("masked", "diffrax<0.7.2"),
                Rule("own-error", "", "diffrax#731 (c34f659)"),
            ),
        ),
        Case(
            type_error,
            rules=(
                Rule("own-error", "diffrax<0.6.1"),
                Rule("masked", "diffrax<0.7.1"),
                Rule("own-error", "", "e7bfa23"),
            ),
        ),
    ),
)
