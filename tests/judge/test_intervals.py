"""Where along the releases a case shows what, and how sure the ends are."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from suite.judge.attribution import Blame, Move
from suite.judge.intervals import Interval, Point, intervals
from suite.judge.table import Verdict

GOOD: tuple[str, Verdict] = ("good", "clear")
BAD: tuple[str, Verdict] = ("bad", "affected")
ODD: tuple[str, Verdict] = ("odd", "different")


@st.composite
def lines(draw: st.DrawFn) -> tuple[list[Point], list[str]]:
    """Releases in order, some of them points of the line, at some of which something was seen."""
    known = [f"1.{number}" for number in range(draw(st.integers(1, 12)))]
    kept = [version for version in known if draw(st.booleans())]
    return [Point(version, draw(st.sampled_from([GOOD, BAD, ODD, None]))) for version in kept], known


@given(line=lines())
@settings(deadline=None)
def test_intervals_cover_what_was_seen(line: tuple[list[Point], list[str]]) -> None:
    """The runs, one after another, hold exactly the points where something was seen, each under what was seen there."""
    points, known = line
    runs = intervals(points, "jax", known)

    def within(version: str) -> list[tuple[str, Verdict]]:
        return [
            (run.behaviour, run.verdict)
            for run in runs
            if known.index(run.first) <= known.index(version) <= known.index(run.last)
        ]

    seen = {point.version: point.seen for point in points if point.seen is not None}
    assert {version: [what] for version, what in seen.items()} == {version: within(version) for version in seen}
    assert {end for run in runs for end in (run.first, run.last)} <= set(seen)


@given(line=lines())
@settings(deadline=None)
def test_intervals_are_maximal_and_in_order(line: tuple[list[Point], list[str]]) -> None:
    """A run ends only where the next one shows something else, and the runs stand in the order of the releases."""
    points, known = line
    runs = intervals(points, "jax", known)

    ends = [known.index(end) for run in runs for end in (run.first, run.last)]
    assert sorted(ends) == ends
    assert all(one.behaviour != other.behaviour for one, other in pairwise(runs))


@given(line=lines())
@settings(deadline=None)
def test_an_interval_is_exact_where_both_neighbours_are_known(line: tuple[list[Point], list[str]]) -> None:
    """A run is exact only if the release next to each end was seen to differ, or is none."""
    points, known = line
    seen = {point.version: point.seen for point in points}

    for run in intervals(points, "jax", known):
        first, last = known.index(run.first), known.index(run.last)
        neighbours = [*known[max(first - 1, 0) : first], *known[last + 1 : last + 2]]
        assert run.exact == all(seen.get(each) not in (None, (run.behaviour, run.verdict)) for each in neighbours)


@given(line=lines())
@settings(deadline=None)
def test_unknown_points_neither_break_nor_make_a_run(line: tuple[list[Point], list[str]]) -> None:
    """A point where nothing was learned is as good as one that is not there."""
    points, known = line

    known_points = [point for point in points if point.seen is not None]
    assert intervals(known_points, "jax", known) == intervals(points, "jax", known)


def test_a_case_can_have_several_intervals() -> None:
    """What is bad, then good, then bad again is three intervals."""
    points = [Point("1.0", BAD), Point("1.1", GOOD), Point("1.2", None), Point("1.3", GOOD), Point("1.5", BAD)]

    assert (
        Interval("bad", "affected", "jax", "1.0", "1.0", exact=True),
        Interval("good", "clear", "jax", "1.1", "1.3", exact=False),
        Interval("bad", "affected", "jax", "1.5", "1.5", exact=False),
    ) == intervals(points, "jax", ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5"])


def test_a_release_that_cannot_be_had_makes_no_end_exact() -> None:
    """A point that is not among the releases, as one since yanked, is in its run, and bounds none exactly."""
    points = [Point("1.0", BAD), Point("1.1", GOOD), Point("1.2", GOOD)]

    assert not any(each.exact for each in intervals(points, "jax", ["1.0", "1.2"]))


LINEAX, JAX = Move("lineax", "0.0.8", "0.1.0"), Move("jax", "1.0", "1.1")


def test_a_change_that_another_package_made_is_not_exact() -> None:
    """Where another package is to blame, neither end is exact, and the interval names what came with it."""
    points = [Point("1.0", BAD), Point("1.1", GOOD)]

    found = intervals(points, "jax", ["1.0", "1.1"], lambda *_: Blame((LINEAX,), "rule", (JAX, LINEAX)))

    assert [(False, ""), (False, "lineax 0.0.8 → 0.1.0")] == [(each.exact, each.came_with) for each in found]


def test_a_change_that_nobody_can_be_blamed_for_names_what_else_moved() -> None:
    """Where no single package is to blame, the interval has all others that moved at its start."""
    points = [Point("1.0", BAD), Point("1.1", GOOD)]

    *_, found = intervals(points, "jax", ["1.0", "1.1"], lambda *_: Blame((JAX, LINEAX), "together", (JAX, LINEAX)))

    assert (False, "lineax 0.0.8 → 0.1.0") == (found.exact, found.came_with)


def test_a_change_that_the_package_made_is_exact() -> None:
    """Where the package itself is to blame, what else moved is not named."""
    points = [Point("1.0", BAD), Point("1.1", GOOD)]

    found = intervals(points, "jax", ["1.0", "1.1"], lambda *_: Blame((JAX,), "rule", (JAX, LINEAX)))

    assert [(True, ""), (True, "")] == [(each.exact, each.came_with) for each in found]
