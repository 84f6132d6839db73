"""Specifiers that admit exactly what works."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from suite.judge.specifiers import lower_bound, reconciled, simplest, upper_bound
from tests.judge.stacks import FEW_EXAMPLES


@pytest.mark.parametrize(
    ("tried", "declared", "specifier"),
    [
        ({"0.4.30": True, "0.4.36": True}, ">=0.4.13", ">=0.4.13"),
        ({"0.4.30": True, "0.4.36": False}, ">=0.4.13", ">=0.4.13,<0.4.36"),
        ({"0.4.30": False, "0.4.36": True}, ">=0.4.13", ">=0.4.36"),
        ({"0.4.30": True, "0.4.35": False, "0.4.36": True}, ">=0.4.13", ">=0.4.13,!=0.4.35"),
        ({"0.4.36": True, "0.4.38": True}, ">=0.4.38", ">=0.4.36"),
        ({"0.4.36": False, "0.4.38": True}, ">=0.4.38", ">=0.4.38"),
        ({"0.7.0": True, "0.7.2": True}, "!=0.7.0,>=0.4.38", ">=0.4.38"),
        ({"0.7.0": True, "0.7.2": True}, "!=0.7.0,!=0.7.1,>=0.4.38", ">=0.4.38,!=0.7.1"),
        ({"0.4.30": True, "0.4.36": False}, "!=0.4.27,>=0.4.13", ">=0.4.13,<0.4.36,!=0.4.27"),
        ({"0.4.30": True, "0.4.36": False}, "!=0.4.27,>=0.4.28", ">=0.4.28,<0.4.36"),
        ({"0.10.0": False, "0.9.2": True}, "", "<0.10.0"),
        ({"0.9.2": False, "0.10.0": False}, ">=0.4.38", None),
        ({}, ">=0.4.38", None),
    ],
)
def test_a_specifier_that_agrees_with_the_runs(tried: dict[str, bool], declared: str, specifier: str | None) -> None:
    """Metadata stays if it agrees; else the runs give a bound or an exclusion."""
    assert specifier == reconciled(tried, declared)


@given(
    st.dictionaries(st.sampled_from([f"0.{minor}.{patch}" for minor in range(8) for patch in range(3)]), st.booleans()),
    st.sampled_from(["", ">=0.2.1", ">=0.4,!=0.5.0", "<0.6,>=0.1", ">=9"]),
)
@FEW_EXAMPLES
def test_the_specifier_admits_what_works_and_nothing_else(tried: dict[str, bool], declared: str) -> None:
    """The reconciled specifier admits exactly what works of what was tried; it is None only if nothing does."""
    specifier = reconciled(tried, declared)

    assert (specifier is None) == (not any(tried.values()))
    if specifier is not None:
        assert tried == {version: version in SpecifierSet(specifier) for version in tried}


def test_bounds_are_the_tightest() -> None:
    """The strictest of several bounds counts; without bounds the result is None."""
    several, none = SpecifierSet(">=0.4,>=0.4.38,<1,<0.9"), SpecifierSet("!=1")

    assert ("0.4.38", "0.9") == (lower_bound(several), upper_bound(several))
    assert (None, None) == (lower_bound(none), upper_bound(none))


SPECIFIERS = st.sampled_from(["", ">=0.2", ">=0.4", ">=0.10", "<0.8", "!=0.5", ">=0.4,!=0.5"]).map(SpecifierSet)


@given(st.lists(SPECIFIERS, max_size=4), st.integers(0, 12))
@FEW_EXAMPLES
def test_the_simplest_specifier_admits_what_all_of_them_do(specifiers: list[SpecifierSet], minor: int) -> None:
    """Joined specifiers admit exactly the versions that all of them admit."""
    version = f"0.{minor}"

    assert all(version in specifier for specifier in specifiers) == (version in SpecifierSet(simplest(specifiers)))
