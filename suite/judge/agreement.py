"""A verdict against what is known of the case in that stack. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from suite.cell.issue import Case, Rule
from suite.judge.rules import Pins, met
from suite.judge.table import GOOD, UNDECIDED
from suite.judge.verdicts import Judged, WorkaroundWord

Agreement = Literal["as-expected", "regressed", "fixed", "changed", "new", "spurious"]


def agree(case: Case, judged: Judged, rule: Rule | None) -> Agreement:
    """How a verdict goes with the behaviour that a rule expects."""
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
    """Whether what became of a workaround is what is known of it: that it holds, but on the stacks of `fails`."""
    known = "fails" if any(met(on, pins) for on in fails) else "holds"
    return word in (known, "not-needed", "none")
