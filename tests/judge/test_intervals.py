"""Neighbours on the line, intervals of behaviours along releases, and how exact their ends are."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.judge.attribution import Blame, Move
from suite.judge.intervals import Interval, Point, affected, intervals
from suite.judge.neighbours import LineCell, in_order, neighbours
from suite.judge.table import Verdict
from suite.stack import plan
from tests.judge.stacks import FEW_EXAMPLES, pins

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
    """Intervals have what was seen, in order and as long as possible; exact where both sides were seen to differ."""
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


LINE = [
    LineCell(cell.id, cell.moves, pins(cell.id), cell.released_on)
    for cell in plan.cells()
    if cell.kind == "line" and cell.unavailable is None
]
BEFORE = {after.id: before.id for before, after in neighbours(LINE)}


def test_a_late_release_of_an_older_branch_stands_in_its_branch() -> None:
    """jax 0.8.3 came out after 0.9.0: the neighbours of both are cells of 0.8.2."""
    assert {"0.8.2"} == {pins(BEFORE[each])["jax"] for each in ("jax-0.8.3", "jax-0.9.0")}


def test_a_library_is_compared_within_one_jax() -> None:
    """diffrax 0.7.1 came out on jax 0.9.0: its neighbour is the cell before it there, not jax 0.8.3."""
    assert "jax-0.9.0" == BEFORE["equinox-0.13.3"]
    assert "0.9.0" == pins(BEFORE["diffrax-0.7.1"])["jax"]


@st.composite
def trees(draw: st.DrawFn) -> list[LineCell]:
    """Cells of a line: releases of jax on any days, with libraries released beside any of them."""
    versions = draw(st.lists(st.tuples(st.integers(4, 6), st.integers(0, 3)), min_size=1, max_size=8, unique=True))
    day = st.integers(0, 300).map(lambda days: date(2024, 1, 1) + timedelta(days=days))
    cells = [LineCell(f"jax-0.{a}.{b}", "jax", {"jax": f"0.{a}.{b}"}, draw(day)) for a, b in versions]
    for number in range(draw(st.integers(0, 4))):
        a, b = draw(st.sampled_from(versions))
        cells.append(LineCell(f"diffrax-{number}", "diffrax", {"jax": f"0.{a}.{b}"}, draw(day)))
    return cells


@given(trees())
@FEW_EXAMPLES
def test_the_line_is_one_tree(cells: list[LineCell]) -> None:
    """All cells but the first have one neighbour, which comes before; the input order does not matter."""
    ordered = in_order(cells)
    pairs = neighbours(cells)

    assert [each.id for each in ordered[1:]] == [after.id for _, after in pairs]
    assert all(ordered.index(before) < ordered.index(after) for before, after in pairs)
    assert pairs == neighbours(sorted(cells, key=lambda each: each.id, reverse=True))
