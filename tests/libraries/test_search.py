"""The search along releases: which it runs, and that it misses no change between an end and the library's own day."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from laboratory.libraries.search import next_place


def searched(truth: Sequence[str], admitted: Sequence[int], own: int) -> list[str | None]:
    """Return what is seen of `truth` once the search has ended."""
    seen: list[str | None] = [None] * len(truth)
    while (place := next_place(seen, admitted, own)) is not None:
        assert seen[place] is None
        seen[place] = truth[place]
    return seen


@st.composite
def courses(draw: st.DrawFn) -> tuple[list[str], int]:
    """Draw a course that works on an interval around the library's own day, and fails differently on either side."""
    count = draw(st.integers(1, 15))
    own = draw(st.integers(0, count - 1))
    first, last = draw(st.integers(0, own)), draw(st.integers(own, count - 1))
    return ["older"] * first + ["works"] * (last + 1 - first) + ["newer"] * (count - 1 - last), own


@given(courses())
def test_both_boundaries_of_an_interval_are_exact(course: tuple[list[str], int]) -> None:
    """Where a library works on one interval, the neighbours of each change are run."""
    truth, own = course
    seen = searched(truth, range(len(truth)), own)
    for place in range(len(truth) - 1):
        if truth[place] != truth[place + 1]:
            assert seen[place]
            assert seen[place + 1]


@given(st.integers(1, 15), st.data())
def test_equal_ends_run_three_releases(count: int, data: st.DataObject) -> None:
    """A library that does the same on the oldest, its own and the newest release is not run between them."""
    own = data.draw(st.integers(0, count - 1))
    seen = searched(["works"] * count, range(count), own)
    assert sum(outcome is not None for outcome in seen) <= 3


@given(courses(), st.data())
def test_only_admitted_releases_run(course: tuple[list[str], int], data: st.DataObject) -> None:
    """A release that metadata excludes is never run."""
    truth, own = course
    admitted = sorted(data.draw(st.sets(st.integers(0, len(truth) - 1))))
    seen = searched(truth, admitted, own)
    assert {place for place, outcome in enumerate(seen) if outcome is not None} <= {*admitted}
