"""Comparing with an oracle: what agrees, and the evidence where it does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.cell import compare

NUMBERS = st.floats() | st.integers(-(2**62), 2**62) | st.booleans()


@given(values=st.lists(NUMBERS))
def test_what_is_the_same_agrees(values: list[float]) -> None:
    """Anything agrees with itself, without tolerances, not-a-numbers and infinities included."""
    assert "agrees" == compare(np.array(values), np.array(values))[0]


@given(wanted=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), off=st.floats(1e-3, 1e3), data=st.data())
def test_one_value_that_is_off_is_enough(wanted: list[float], off: float, data: st.DataObject) -> None:
    """Arrays differ where a single value is off by more than the tolerance, and agree where it is not."""
    at = data.draw(st.integers(0, len(wanted) - 1))
    got = np.array(wanted)
    got[at] += off

    assert ("differs", "agrees") == (compare(got, wanted, atol=off / 2)[0], compare(got, wanted, atol=off * 2)[0])


@pytest.mark.parametrize(
    ("got", "wanted", "evidence"),
    [
        ([1.0, 2.0], [1.0, 2.5], "[1. 2.], should be [1. 2.5]"),
        (1.0, [1.0], "shape (), should be (1,)"),
        ([1.0], 1.0, "shape (1,), should be ()"),
        (3.0000000001, 3.0, "3.0000000001, should be 3."),
        (2**53 + 1, 2**53, "9007199254740993, should be 9007199254740992"),
        (True, False, "True, should be False"),
        (np.nan, 1.0, "nan, should be 1."),
        (np.zeros((4, 5)), np.eye(4, 5) * [1, 2, 3, 4, 5], "4 of 20 differ, most at [3, 3]: 0., should be 4."),
        ([*range(9), np.inf], range(10), "1 of 10 differ, most at [9]: inf, should be 9"),
    ],
)
def test_the_evidence_shows_what_differs(got: object, wanted: object, evidence: str) -> None:
    """Small arrays are shown whole, of large ones the values that differ most, with as many digits as it takes."""
    assert ("differs", evidence) == compare(got, wanted)
