"""Predictions for a case that waits for another: blocked if that one goes wrong, unless it was run."""

from __future__ import annotations

from suite.cell.issue import Rule
from suite.judge.prediction import Prediction, Stopped, foresee
from suite.judge.rules import Pins, Run
from tests.check.worlds import case

SOLVES = case("solves", Rule("wrong", "jax<0.5", "run"), Rule("right", "", "run"))
AWAITED = {("row-zero", "solves"): SOLVES}
WAITING = ("of-solves", "waits")
OLD, NEW = {"jax": "0.4.30"}, {"jax": "0.6.0"}


def told(pins: Pins, *runs: Run) -> Prediction | Stopped:
    """Return the prediction for a case that waits for the solve."""
    waits = case("waits", Rule("right", "", "run"), waits_for=("row-zero/solves",))
    return foresee({**AWAITED, WAITING: waits}, ("row-zero",), pins, {WAITING: runs})[WAITING]


def test_a_case_is_blocked_where_what_it_waits_for_goes_wrong() -> None:
    """By rule the case is blocked or unknown there; elsewhere its own rules count."""
    found = told(OLD)
    assert isinstance(found, Stopped)
    assert ("row-zero/solves", "wrong", ()) == (found.case, found.prediction.behaviour, found.packages)

    found = told(NEW)
    assert isinstance(found, Prediction)
    assert "right" == found.behaviour


def test_what_was_run_with_these_versions_counts() -> None:
    """A run that returned shows the case's behaviour, whatever goes wrong beside it."""
    found = told(OLD, Run("jax-0.4.30", OLD, "right"))
    assert isinstance(found, Prediction)
    assert ("right", "run") == (found.behaviour, found.how)


def test_without_what_it_waits_for_nobody_knows() -> None:
    """If the report lacks the awaited case, no rule decides."""
    waits = case("waits", Rule("right", "", "run"), waits_for=("row-zero/others",))
    assert Prediction(None, "unknown") == foresee({**AWAITED, WAITING: waits}, ("row-zero",), NEW, {})[WAITING]
