"""The table of verdicts."""

from __future__ import annotations

from typing import get_args

from suite.cell.issue import Meaning
from suite.judge.table import GLYPHS, GOOD, RETRIED, TABLE, UNDECIDED, Verdict


def test_every_verdict_stands_in_the_table_once() -> None:
    """The verdicts of the type are those of the table, in order, each with a glyph of one character."""
    assert get_args(Verdict) == tuple(each.name for each in TABLE)
    assert len(set(GLYPHS.values())) == sum(map(len, GLYPHS.values())) == len(TABLE)


def test_what_a_case_can_mean_is_decided() -> None:
    """All verdicts on a behaviour are decided; by design is good, and blocked is undecided."""
    assert set(get_args(Meaning)) <= set(get_args(Verdict)) - UNDECIDED
    assert ("documented" in GOOD, "blocked" in UNDECIDED - RETRIED) == (True, True)
