"""Agreement of verdicts with what the rules expect. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from suite.cell.issue import Case, Rule
from suite.judge.rules import Pins, met
from suite.judge.table import GOOD, UNDECIDED
from suite.judge.verdicts import Judged, WorkaroundWord

Agreement = Literal["as-expected", "regressed", "fixed", "changed", "new", "spurious"]


def agree(case: Case, judged: Judged, rule: Rule | None) -> Agreement:
    """Return how a verdict agrees with the behaviour that a rule expects."""
    if judged.verdict in UNDECIDED:
        return "spurious"
    if rule is None:
        return "new"
    if judged.behaviour == rule.behaviour:
        return "as-expected"
    was = case.behaviours.get(rule.behaviour, "different")
    if (was in GOOD) != (judged.verdict in GOOD):
        return "fixed" if judged.verdict in GOOD else "regressed"
    return "changed"


def workaround_expected(word: WorkaroundWord, fails: Iterable[str], pins: Pins) -> bool:
    """Return True if a workaround did as expected: it holds, except on the stacks that `fails` lists."""
    known = "fails" if any(met(on, pins) for on in fails) else "holds"
    return word in (known, "not-needed", "none")
