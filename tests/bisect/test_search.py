"""The search for a boundary: the releases that it tests, how many, and its result."""

import math
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laboratory.bisect import search
from laboratory.bisect.search import Ask, CellAnswer, Found

Truth = Sequence[bool | None]


def hunt(truth: Truth, before: dict[int, CellAnswer] | None = None) -> tuple[Found, list[int]]:
    """Search a line with the answers `truth`, some of them known; return the result and the places tested, in order."""
    known, asked = dict(before or {}), []
    while isinstance(now := search.step(known, len(truth)), Ask):
        asked.append(now.at)
        known[now.at] = CellAnswer(truth[now.at])
        assert len(asked) <= len(truth), "it goes round in circles"
    return now, asked


def line(count: int, change: int, *, affected_first: bool = False) -> list[bool | None]:
    """Return the answers of releases that change once, at the place `change`."""
    return [(at < change) == affected_first for at in range(count)]


@st.composite
def lines(draw: st.DrawFn, *, gaps: bool = False) -> list[bool | None]:
    """Draw a line that changes once; some releases may be untestable."""
    count = draw(st.integers(1, 40))
    truth = line(count, draw(st.integers(0, count)), affected_first=draw(st.booleans()))
    broken = draw(st.sets(st.integers(0, count - 1))) if gaps else ()
    return [None if at in broken else each for at, each in enumerate(truth)]


@st.composite
def partly_known(draw: st.DrawFn) -> tuple[list[bool | None], dict[int, CellAnswer]]:
    """Draw a line that changes once, with some answers on record, confirmed or not."""
    truth = draw(lines())
    places = draw(st.sets(st.integers(0, len(truth) - 1)))
    return truth, {at: CellAnswer(truth[at], draw(st.booleans())) for at in places}


def answer(truth: Truth) -> Found:
    """Return what a search must find: the first boundary between places that can be tested."""
    decided = [at for at, each in enumerate(truth) if each is not None]
    differ = [(one, other) for one, other in pairwise(decided) if truth[one] != truth[other]]
    if not decided:
        return Found("untestable", 0, len(truth) - 1)
    return Found("boundary", *differ[0]) if differ else Found("agreed", decided[0], decided[-1])


@pytest.mark.parametrize("affected_first", [False, True])
def test_every_boundary_is_found_within_the_bound(affected_first: bool) -> None:
    """For all numbers of releases and every place of the change: the right boundary, in at most ⌈log2 n⌉ + 2 runs."""
    for count in (*range(1, 40), 63, 64, 65, 128, 129, 200):
        most = math.ceil(math.log2(count)) + 2
        assert most <= search.most_runs(count)
        for change in range(count + 1):
            truth = line(count, change, affected_first=affected_first)
            found, asked = hunt(truth)
            assert answer(truth) == found
            assert len(asked) <= most


@given(partly_known())
def test_what_is_on_record_is_confirmed_at_the_boundary_and_never_makes_it_dearer(
    drawn: tuple[list[bool | None], dict[int, CellAnswer]],
) -> None:
    """Records do not change the boundary: it is found in at most ⌈log2 n⌉ + 3 runs, and both sides are confirmed."""
    truth, before = drawn
    found, asked = hunt(truth, before)
    assert answer(truth) == found
    assert len(asked) <= math.ceil(math.log2(len(truth))) + 3 == search.most_runs(len(truth))
    if found.what == "boundary":
        assert all(side in asked or before[side].confirmed for side in (found.first, found.last))


@given(lines(gaps=True))
def test_untestable_releases_are_gone_round(truth: list[bool | None]) -> None:
    """The result is two differing releases with only untestable ones between; the ends come first, and none twice."""
    found, asked = hunt(truth)
    assert answer(truth) == found
    assert len(set(asked)) == len(asked)
    assert {0, len(truth) - 1} == set(asked[:2])


@given(lines(gaps=True), st.data())
def test_a_search_goes_on_from_where_it_was_interrupted(truth: list[bool | None], data: st.DataObject) -> None:
    """An interrupted search continues with the releases that the whole search would have tested."""
    found, asked = hunt(truth)
    done = data.draw(st.integers(0, len(asked)))
    assert (found, asked[done:]) == hunt(truth, {at: CellAnswer(truth[at]) for at in asked[:done]})


def test_end_points_that_agree_end_the_search() -> None:
    """If the ends agree, two runs suffice, and nothing is claimed about the rest."""
    assert (Found("agreed", 0, 4), [0, 4]) == hunt([True, True, False, False, True])


def test_a_part_of_the_releases_is_searched_by_itself() -> None:
    """A search of a part ignores answers outside that part and keeps the numbers of its places."""
    known = {0: CellAnswer(True), 5: CellAnswer(True), 8: CellAnswer(False), 9: CellAnswer(True)}
    assert Ask(6, "halving", 2) == search.step(known, 4, start=5)


@pytest.mark.parametrize(
    ("truth", "before", "found"),
    [
        # The search does not test sixteen adjacent untestable releases one by one.
        ([None] * 16 + line(9, 2, affected_first=True), {}, Found("boundary", 17, 18)),
        # Good, bad, good, bad: the first of the changes.
        ([at in (2, 3, 6, 7) for at in range(8)], {3: CellAnswer(True), 4: CellAnswer(False)}, Found("boundary", 1, 2)),
        # A record of one attempt that is wrong moves the boundary, and does not end the search wrongly.
        (line(20, 5), {9: CellAnswer(False, confirmed=False)}, Found("boundary", 4, 5)),
    ],
)
def test_what_is_odd_costs_few_runs(truth: Truth, before: dict[int, CellAnswer], found: Found) -> None:
    """Despite broken releases, several changes or a wrong record, the first change takes at most one more run."""
    hunted, asked = hunt(truth, before)
    assert found == hunted
    assert len(asked) <= search.most_runs(len(truth)) + 1
