"""diffeqsolve with Euler in place of Euler() raises an error that does not say so

    diffrax.diffeqsolve(term, diffrax.Euler, ...)
    # TypeError: functools.partial() argument after ** must be a mapping, not property

You'd expect to be told that it is a class. On no release run is it refused as what it is: it fails at the first
attribute that a class does not have. What is said changes with the release, and with 0.6.1 and 0.6.2 it is "Terms are
not compatible with solver!", which sends a reader to the terms. EulerHeun's is an AssertionError without a text.
diffrax#705 reports it; diffrax#762, which is open, has a check.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def euler() -> tuple[str, str]:
    """Does the error say that Euler is a class?"""
    import diffrax

    term = diffrax.ODETerm(lambda t, y, args: -y)
    try:
        diffrax.diffeqsolve(term, diffrax.Euler, 0.0, 1.0, 0.1, 1.0)
    except ValueError as error:
        if "Terms are not compatible" in str(error):
            return "terms-blamed", f"ValueError: {str(error).splitlines()[0]}"
        return "explained", f"ValueError: {str(error).splitlines()[0]}"
    except TypeError as error:
        return "obscure", f"TypeError: {error}"
    return "no-error", "it was solved"


def control_solver() -> None:
    """Diffrax's Euler is a class, and what it makes is not."""
    import diffrax

    assert isinstance(diffrax.Euler, type)
    assert not isinstance(diffrax.Euler(), type)


def checked_first() -> None:
    """A line of one's own, before the solve, says it."""
    import diffrax

    for solver in (diffrax.Euler, diffrax.Euler()):
        said = "" if isinstance(solver, diffrax.AbstractSolver) else f"{solver!r} is no solver: call it"
        assert bool(said) == isinstance(solver, type)


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(report="diffrax#705", attempt="diffrax#762"),
    touches=("diffrax.diffeqsolve",),
    control=control_solver,
    behaviours={"explained": "clear", "obscure": "guarded", "terms-blamed": "affected", "no-error": "affected"},
    rules=(Rule("terms-blamed", "diffrax>=0.6.1,<0.7.0"), Rule("obscure")),
    workaround=Workaround("Call it: Euler(). A check of isinstance(solver, AbstractSolver) says so.", checked_first),
    needs=("jax", "equinox", "diffrax"),
    cases=(Case(euler),),
)
