"""Real pins, and rules such as row zero's: what tests of conclusions are made of."""

from __future__ import annotations

from collections.abc import Sequence

from suite.cell.issue import Case, Rule
from suite.judge.metadata import reached
from suite.judge.rules import Pins, Run, first_match
from suite.stack import lock, plan, releases

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
    """What the lock of a cell of the plan pins."""
    return lock.load(plan.cell(cell)).pins


def as_ruled(cell: str, rules: Sequence[Rule] = IMPLICIT) -> Run:
    """What a cell shows, had the rules never been wrong."""
    found = first_match(rules, pins(cell))
    assert found is not None
    return Run(cell, pins(cell), found.behaviour)


def among(*runs: Run) -> frozenset[str]:
    """The packages that can matter to a solve in these cells."""
    return frozenset().union(*(reached(["diffrax"], each.pins, OFFERED, PYTHON) for each in runs))
