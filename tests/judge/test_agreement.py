"""Agreement of verdicts with expectations."""

from __future__ import annotations

import pytest

from suite.cell.issue import Rule
from suite.judge.agreement import Agreement, agree, workaround_expected
from suite.judge.table import UNDECIDED, Verdict
from suite.judge.verdicts import Judged, WorkaroundWord
from tests.judge.stacks import CASE


@pytest.mark.parametrize(
    ("expected", "verdict", "behaviour", "agreement"),
    [
        *((each, CASE.behaviours[each], each, "as-expected") for each in ("bad", "good", "gone", "by-design")),
        *(("good", verdict, None, "regressed") for verdict in ("different", "crashed", "hung")),
        *((expected, "affected", "bad", "regressed") for expected in ("good", "warns", "gone", "by-design")),
        *(("bad", CASE.behaviours[each], each, "fixed") for each in ("good", "warns", "by-design")),
        ("odd", "clear", "good", "fixed"),
        *(("bad", verdict, None, "changed") for verdict in ("different", "crashed")),
        *((expected, "clear", "good", "changed") for expected in ("warns", "by-design")),
        *(("good", CASE.behaviours[each], each, "changed") for each in ("warns", "by-design")),
        *((None, verdict, behaviour, "new") for verdict, behaviour in (("clear", "good"), ("crashed", None))),
        *((expected, verdict, None, "spurious") for expected in ("bad", "good", None) for verdict in sorted(UNDECIDED)),
    ],
)
def test_an_agreement(expected: str | None, verdict: Verdict, behaviour: str | None, agreement: Agreement) -> None:
    """A verdict agrees with an expectation in one of six ways."""
    rule = Rule(expected, "", "seen") if expected else None

    assert agreement == agree(CASE, Judged(verdict, behaviour, None, ""), rule)


@pytest.mark.parametrize(
    ("word", "jax", "known"),
    [("holds", "0.5.0", True), ("fails", "0.5.0", False), ("holds", "0.4.30", False), ("fails", "0.4.30", True)]
    + [(word, jax, True) for word in ("none", "not-needed") for jax in ("0.5.0", "0.4.30")],
)
def test_a_workaround_is_known_to_hold_but_where_it_is_known_to_fail(
    word: WorkaroundWord, jax: str, known: bool
) -> None:
    """A failing workaround is as expected only on the stacks where that is documented."""
    assert known == workaround_expected(word, ("jax<0.4.31",), {"jax": jax})
