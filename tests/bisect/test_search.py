"""The search for a boundary: what it asks, how often, and what it makes of the answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suite.bisect import search
from suite.bisect.search import Agreed, Answer, Ask, Boundary, Contradicted, Find, Untestable

Found = Boundary | Agreed | Contradicted | Untestable


@dataclass(frozen=True)
class Hunt:
    """What a search came to, and the places it asked, in order."""

    found: Found
    asked: list[int]


def hunt(truth: Sequence[bool | None], before: dict[int, Answer] | None = None, find: Find | None = None) -> Hunt:
    """Search releases of which `truth` holds; `before` is known from the start."""
    known, asked = dict(before or {}), []
    while isinstance(now := search.step(known, len(truth), find), Ask):
        asked.append(now.at)
        known[now.at] = Answer(truth[now.at])
        assert len(asked) <= len(truth), "it goes round in circles"
    return Hunt(now, asked)


def line(count: int, change: int, *, affected_first: bool = False) -> list[bool | None]:
    """Releases that change once, at the place `change`."""
    return [(at < change) == affected_first for at in range(count)]


LINES = st.integers(1, 200).flatmap(lambda count: st.tuples(st.just(count), st.integers(0, count), st.booleans()))


@st.composite
def partly_known(draw: st.DrawFn) -> tuple[list[bool | None], dict[int, Answer]]:
    """A line that changes once, and what was on record of it, each confirmed or not."""
    count, change, affected_first = draw(LINES)
    truth = line(count, change, affected_first=affected_first)
    places = draw(st.sets(st.integers(0, count - 1), max_size=count))
    return truth, {at: Answer(truth[at], draw(st.booleans())) for at in places}


@st.composite
def with_gaps(draw: st.DrawFn) -> list[bool | None]:
    """A line that changes once, with some releases that cannot be tested."""
    count, change, affected_first = draw(
        st.integers(1, 40).flatmap(lambda count: st.tuples(st.just(count), st.integers(0, count), st.booleans()))
    )
    broken = draw(st.sets(st.integers(0, count - 1), max_size=count))
    return [
        None if at in broken else each for at, each in enumerate(line(count, change, affected_first=affected_first))
    ]


def check_boundary(truth: Sequence[bool | None], found: Found) -> None:
    """It stands where what can be tested changes, and is exact where the two are neighbours."""
    decided = [at for at, each in enumerate(truth) if each is not None]
    differ = [(one, other) for one, other in pairwise(decided) if truth[one] != truth[other]]
    if not decided:
        assert found == Untestable()
    elif not differ:
        assert found == Agreed(decided[0], decided[-1])
    else:
        (before, after), find = differ[0], "first-affected" if truth[decided[-1]] else "first-clear"
        assert isinstance(found, Boundary)
        assert (before, after, find) == (found.before, found.after, found.find)
        assert found.exact == (None not in truth[before:after])


@pytest.mark.parametrize("affected_first", [False, True])
def test_every_boundary_is_found_within_the_bound(affected_first: bool) -> None:
    """For up to 70 releases and every place of the change: the right boundary, in at most ⌈log2 n⌉ + 3 runs."""
    for count in range(1, 71):
        for change in range(count + 1):
            truth = line(count, change, affected_first=affected_first)
            hunted = hunt(truth)
            check_boundary(truth, hunted.found)
            assert len(hunted.asked) <= math.ceil(math.log2(count)) + 3


@given(LINES)
def test_a_boundary_among_many_releases_is_found_within_the_bound(drawn: tuple[int, int, bool]) -> None:
    """The same for up to 200 releases; with nothing known before, not even the last of the three is needed."""
    count, change, affected_first = drawn
    truth = line(count, change, affected_first=affected_first)
    hunted = hunt(truth)
    check_boundary(truth, hunted.found)
    assert len(hunted.asked) <= math.ceil(math.log2(count)) + 2 <= search.most_runs(count)


@given(partly_known())
@settings(max_examples=300)
def test_what_is_on_record_never_makes_it_dearer(drawn: tuple[list[bool | None], dict[int, Answer]]) -> None:
    """Whatever was known before, confirmed or not: the same boundary, within the bound."""
    truth, before = drawn
    hunted = hunt(truth, before)
    check_boundary(truth, hunted.found)
    assert len(hunted.asked) <= math.ceil(math.log2(len(truth))) + 3


@given(partly_known())
def test_both_sides_are_confirmed(drawn: tuple[list[bool | None], dict[int, Answer]]) -> None:
    """No boundary stands on a record of a single attempt."""
    truth, before = drawn
    hunted = hunt(truth, before)
    if isinstance(hunted.found, Boundary):
        for side in (hunted.found.before, hunted.found.after):
            assert side in hunted.asked or before[side].confirmed


@given(with_gaps())
@settings(max_examples=300)
def test_untestable_releases_are_gone_round(truth: list[bool | None]) -> None:
    """The interval holds the change, is as narrow as can be, and is inexact only where its inside is untestable."""
    check_boundary(truth, hunt(truth).found)


@given(with_gaps())
def test_no_release_is_asked_twice(truth: list[bool | None]) -> None:
    """Each release is run once at most, and both end points come first."""
    asked = hunt(truth).asked
    assert len(set(asked)) == len(asked)
    assert {0, len(truth) - 1} == set(asked[:2])


@given(with_gaps(), st.data())
def test_a_search_goes_on_from_where_it_was_interrupted(truth: list[bool | None], data: st.DataObject) -> None:
    """With the answers of an interrupted search known, the rest is what the whole search would have asked."""
    whole = hunt(truth)
    done = whole.asked[: data.draw(st.integers(0, len(whole.asked)))]
    rest = hunt(truth, {at: Answer(truth[at]) for at in done})
    assert whole.asked == done + rest.asked
    assert whole.found == rest.found


def test_a_row_of_broken_releases_is_not_walked_through() -> None:
    """Sixteen releases at an end that cannot be tested cost a few runs, and not sixteen."""
    truth = [None] * 16 + line(9, 2, affected_first=True)
    hunted = hunt(truth)
    assert Boundary(17, 18, "first-clear") == hunted.found
    assert len(hunted.asked) <= search.most_runs(len(truth))


def test_a_broken_release_is_never_a_bad_one() -> None:
    """Between a good release and a bad one, what does not build is neither: the answer is an interval."""
    found = hunt([False, False, None, None, True, True]).found
    assert Boundary(1, 4, "first-affected") == found
    assert isinstance(found, Boundary)
    assert not found.exact


def test_end_points_that_agree_are_an_answer_of_their_own() -> None:
    """Bad, good, bad again: two runs, and no guess at what lies between."""
    hunted = hunt([True, True, False, False, True])
    assert Hunt(Agreed(0, 4), [0, 4]) == hunted


def test_what_is_known_to_change_more_than_once_is_searched_for_its_first_change() -> None:
    """Where a record shows good, bad, good, bad, the first change is found; what is known of the others is kept."""
    truth: list[bool | None] = [False, False, True, True, False, False, True, True]
    before = {3: Answer(True), 4: Answer(False)}
    assert Boundary(1, 2, "first-affected") == hunt(truth, before).found
    assert [(0, 3), (3, 4), (4, 7)] == search.changes({0: Answer(False), 7: Answer(True), **before})


@pytest.mark.parametrize("affected_first", [False, True])
def test_asked_for_the_opposite_it_says_so_after_the_end_points(affected_first: bool) -> None:
    """A first-clear where the end points show a first-affected, or the reverse, ends the search at once."""
    find: Find = "first-affected" if affected_first else "first-clear"
    shown: Find = "first-clear" if affected_first else "first-affected"
    hunted = hunt(line(9, 4, affected_first=affected_first), find=find)
    assert Hunt(Contradicted(0, 8, shown), [0, 8]) == hunted


def test_a_record_that_is_not_confirmed_can_be_wrong() -> None:
    """A side that shows the opposite when it is run again moves the boundary, and does not end the search wrongly."""
    truth = line(20, 5)
    assert Boundary(4, 5, "first-affected") == hunt(truth, {9: Answer(False, confirmed=False)}).found
