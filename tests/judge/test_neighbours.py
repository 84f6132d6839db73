"""Neighbours on the line."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from suite.judge.neighbours import LineCell, in_order, neighbours
from suite.stack import plan
from tests.judge.stacks import FEW_EXAMPLES, pins

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
def lines(draw: st.DrawFn) -> list[LineCell]:
    """Cells of a line: releases of jax on any days, with libraries released beside any of them."""
    versions = draw(st.lists(st.tuples(st.integers(4, 6), st.integers(0, 3)), min_size=1, max_size=8, unique=True))
    day = st.integers(0, 300).map(lambda days: date(2024, 1, 1) + timedelta(days=days))
    cells = [LineCell(f"jax-0.{a}.{b}", "jax", {"jax": f"0.{a}.{b}"}, draw(day)) for a, b in versions]
    for number in range(draw(st.integers(0, 4))):
        a, b = draw(st.sampled_from(versions))
        cells.append(LineCell(f"diffrax-{number}", "diffrax", {"jax": f"0.{a}.{b}"}, draw(day)))
    return cells


@given(lines())
@FEW_EXAMPLES
def test_the_line_is_one_tree(cells: list[LineCell]) -> None:
    """All cells but the first have one neighbour, which comes before; the input order does not matter."""
    ordered = in_order(cells)
    pairs = neighbours(cells)

    assert [each.id for each in ordered[1:]] == [after.id for _, after in pairs]
    assert all(ordered.index(before) < ordered.index(after) for before, after in pairs)
    assert pairs == neighbours(sorted(cells, key=lambda each: each.id, reverse=True))
