"""Real pins, and rules such as row zero's, for tests of conclusions."""

from hypothesis import settings
from hypothesis import strategies as st

from jax_stack_compat.cell.issue import Case, Rule
from jax_stack_compat.judge.rules import Pins, Run, first_match
from jax_stack_compat.stack import lock, plan, releases

# Enough to reach all branches, at a few milliseconds each; durations are not checked.
FEW_EXAMPLES = settings(deadline=None, max_examples=60)
OFFERED = releases.load().packages
PYTHON = "3.12"
LU = Rule("lu-transpose-is-traced", "jax>=0.8.2 lineax<0.1.0", "lineax#187")
REJECTED = Rule("implicit-steps-all-rejected", "optimistix>=0.1.0 diffrax<0.7.2", "run with both optimistix")
IMPLICIT = (
    Rule("import-error", "jax>=0.10.0 equinox<0.13.1", "batching.NotMapped is gone"),
    Rule("flatten-not-weakly-referenced", "jax>=0.7.1 equinox<0.13.1", "equinox#1081"),
    LU,
    REJECTED,
    Rule("works", "", "run"),
)
TRAIN = (
    IMPLICIT[0],
    Rule("crashed", "jaxlib>=0.7.0,<0.7.1", "jax#30517"),
    Rule("get-aval-removed", "jax>=0.10.0 equinox<0.13.3", "run"),
    Rule("works", "", "run"),
)
# Small stacks with rules and runs, for property tests.
NAMES = ("jax", "jaxlib", "equinox", "lineax")
VERSIONS = ("0.1", "0.2", "0.3")
STACKS = st.fixed_dictionaries({name: st.sampled_from(VERSIONS) for name in NAMES})
SHOWN = st.sampled_from(["bad", "good", "odd"])
RUNS = st.lists(st.builds(Run, st.uuids().map(str), STACKS, SHOWN), max_size=6)
_REQUIREMENTS = [name + asked for name in NAMES for asked in ("<0.2", ">=0.2", "<0.3", ">=0.3", "!=0.2")]
_ON = st.lists(st.sampled_from(_REQUIREMENTS), max_size=3).map(" ".join)
RULES = st.lists(st.builds(Rule, SHOWN, _ON, st.just("seen")), max_size=5)


def bad() -> tuple[str, str]:
    """Is it bad?"""
    return "bad", "it is"


def control() -> None:
    """It holds."""


CASE = Case(
    reproducer=bad,
    control=control,
    behaviours={
        **{"bad": "affected", "good": "clear", "warns": "guarded", "odd": "different", "gone": "absent"},
        "by-design": "documented",
    },
    rules=(),
)


def pins(cell: str) -> Pins:
    """Return the pins in the lock of a planned cell."""
    return lock.load(plan.cell(cell)).pins


def as_ruled(cell: str) -> Run:
    """Return what an implicit solve shows in a cell if the rules are right."""
    found = first_match(IMPLICIT, pins(cell))
    assert found is not None
    return Run(cell, pins(cell), found.behaviour)
