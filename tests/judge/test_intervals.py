"""Intervals of behaviours along releases, and how exact their ends are."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.judge.attribution import Blame, Move
from suite.judge.intervals import Interval, Point, affected, intervals
from suite.judge.table import Verdict
from tests.judge.stacks import FEW_EXAMPLES

GOOD: tuple[str, Verdict] = ("good", "clear")
BAD: tuple[str, Verdict] = ("bad", "affected")
ODD: tuple[str, Verdict] = ("odd", "different")


@st.composite
def lines(draw: st.DrawFn) -> tuple[list[Point], list[str]]:
    """Releases in order, some of them points of the line, some of these with a behaviour."""
    known = [f"1.{number}" for number in range(draw(st.integers(1, 12)))]
    kept = [version for version in known if draw(st.booleans())]
    return [Point(version, draw(st.sampled_from([GOOD, BAD, ODD, None]))) for version in kept], known


@given(line=lines())
@FEW_EXAMPLES
def test_intervals_cover_what_was_seen(line: tuple[list[Point], list[str]]) -> None:
    """Intervals contain exactly what was seen, in order and as long as possible; undecided points do not matter.

    An interval is exact only if the release beyond either end was seen to differ, or does not exist.
    """
    points, known = line
    seen = {point.version: point.seen for point in points if point.seen is not None}
    runs = intervals(points, "jax", known)
    places = [(known.index(run.first), known.index(run.last)) for run in runs]

    covered = [
        (version, (run.behaviour, run.verdict))
        for run, (first, last) in zip(runs, places, strict=True)
        for version in known[first : last + 1]
        if version in seen
    ]
    assert list(seen.items()) == covered
    assert {end for run in runs for end in (run.first, run.last)} <= set(seen)
    assert all(one.behaviour != other.behaviour for one, other in pairwise(runs))
    for run, (first, last) in zip(runs, places, strict=True):
        outside = [*known[max(first - 1, 0) : first], *known[last + 1 : last + 2]]
        assert run.exact == all(seen.get(each) not in (None, (run.behaviour, run.verdict)) for each in outside)
    assert runs == intervals([point for point in points if point.seen is not None], "jax", known)


def test_a_release_that_cannot_be_had_makes_no_end_exact() -> None:
    """A point outside the releases, such as a yanked one, is in its interval, and makes no end exact."""
    points = [Point("1.0", BAD), Point("1.1", GOOD), Point("1.2", GOOD)]

    assert not any(each.exact for each in intervals(points, "jax", ["1.0", "1.2"]))


LINEAX, JAX = Move("lineax", "0.0.8", "0.1.0"), Move("jax", "1.0", "1.1")


@pytest.mark.parametrize(
    ("found", "exact", "came_with"),
    [
        (Blame((LINEAX,), "rule", (JAX, LINEAX)), False, "lineax 0.0.8 → 0.1.0"),
        (Blame((JAX, LINEAX), "together", (JAX, LINEAX)), False, "lineax 0.0.8 → 0.1.0"),
        (Blame((JAX,), "rule", (JAX, LINEAX)), True, ""),
    ],
)
def test_a_change_is_exact_where_the_package_itself_made_it(found: Blame, exact: bool, came_with: str) -> None:
    """If another package is or may be the cause, neither end is exact, and the interval names that package."""
    told = intervals([Point("1.0", BAD), Point("1.1", GOOD)], "jax", ["1.0", "1.1"], lambda *_: found)

    assert [(exact, ""), (exact, came_with)] == [(each.exact, each.came_with) for each in told]


def told(*shown: tuple[Verdict, str, str, str]) -> list[Interval]:
    """Return intervals by verdict, package, first and last release."""
    return [Interval(of, of, package, first, last, exact=True) for of, package, first, last in shown]


@pytest.mark.parametrize(
    ("found", "where"),
    [
        ([("clear", "jax", "0.4.18", "0.5.0"), ("affected", "jax", "0.5.1", "0.12.0")], "since jax 0.5.1"),
        ([("affected", "jax", "0.4.18", "0.5.0"), ("clear", "jax", "0.5.1", "0.12.0")], "until jax 0.5.0"),
        (
            [("absent", "jax", "0.1", "0.2"), ("affected", "jax", "0.3", "0.4"), ("clear", "jax", "0.5", "0.6")],
            "jax 0.3 to 0.4",
        ),
        ([("affected", "jax", "0.1", "0.2"), ("crashed", "jax", "0.3", "0.4")], "all releases run"),
        # Equinox changes it.
        (
            [
                ("affected", "jax", "0.1", "0.2"),
                *[("clear", "equinox", "1", "2"), ("affected", "equinox", "3", "3"), ("clear", "equinox", "4", "5")],
            ],
            "equinox 3",
        ),
        ([("documented", "jax", "0.1", "0.2")], ""),
        ([], ""),
    ],
)
def test_where_a_case_goes_wrong_is_told(found: list[tuple[Verdict, str, str, str]], where: str) -> None:
    """The affected releases are those of the package that changes the case, within the runs."""
    assert where == affected(told(*found))
