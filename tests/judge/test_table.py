"""The table of verdicts."""

from __future__ import annotations

from typing import get_args

from suite.cell.issue import Meaning
from suite.judge.table import GLYPHS, GOOD, PROPERTIES, TABLE, UNDECIDED, Verdict


def test_every_verdict_stands_in_the_table_once() -> None:
    """The verdicts that the type knows are those of the table, in its order."""
    assert get_args(Verdict) == tuple(each.name for each in TABLE)


def test_glyphs_tell_verdicts_apart() -> None:
    """No two verdicts have one glyph, and each glyph is one character."""
    assert len(set(GLYPHS.values())) == sum(map(len, GLYPHS.values())) == len(TABLE)


def test_what_a_case_can_mean_is_decided() -> None:
    """Every meaning of a behaviour is a verdict that says something of upstream."""
    assert not UNDECIDED & set(get_args(Meaning))
    assert set(get_args(Meaning)) <= set(PROPERTIES)


def test_what_is_by_design_is_good_and_what_is_blocked_does_not_count() -> None:
    """A documented behaviour breaks nothing; a case that is blocked is counted neither for nor against upstream."""
    assert "documented" in GOOD
    assert "blocked" in UNDECIDED
    assert not PROPERTIES["blocked"].retried
