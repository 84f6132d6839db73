"""What is counted along the line: kept by lock, gone on with, and named where it changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.judge.neighbours import LineCell
from suite.timings import counts
from suite.timings.counts import Counted, Counts, Turn, Unit

TRACE = "basics.Scan.time_trace"
LINE = [
    LineCell(f"jax-{version}", "jax", {"jax": version}, date(2025, month, 1))
    for month, version in ((1, "0.8.2"), (2, "0.9.0"), (3, "0.8.3"))
]
# The same in the order of days, so that each release stands before the next.
BRANCH = [replace(cell, released_on=date(2025, month, 1)) for cell, month in zip(LINE, (1, 3, 2), strict=True)]


def made(**values: float) -> Counts:
    """Counts of one benchmark on releases, `v0_9_0` for jax 0.9.0: so many calls, and instructions by the thousand."""
    found = Counts(machine="m")
    for cell, calls in values.items():
        counted = Counted(version="1", calls=calls, instructions=1000 * calls)
        found = found.plus(f"jax-{cell[1:].replace('_', '.')}", "lock", {TRACE: counted})
    return found


def test_a_change_is_named_by_its_neighbours_and_its_size() -> None:
    """It is told between neighbours in version order, and a hundredth is none."""
    found = made(v0_8_2=100, v0_9_0=112, v0_8_3=100.9)

    (turn,) = counts.turns(found, LINE, "calls", {})

    assert Turn(TRACE, "calls", "jax-0.8.2", "jax-0.9.0", 100, 112) == turn
    assert pytest.approx(0.12) == turn.change
    assert "12.0% more calls, 100 before, 112 after" == turn.told
    assert "2.5 times as many calls, 100 before, 250 after" == replace(turn, new=250).told
    assert "50.0% fewer calls, 100 before, 50 after" == replace(turn, new=50).told
    assert {TRACE} == {each.benchmark for each in counts.turns(found, LINE, "instructions", {})}


CALLS = {TRACE: Counted(version="1", calls=100)}


@pytest.mark.parametrize(
    ("found", "unit", "fence", "between"),
    [
        # A release whose calls alone were counted hides no change of instructions between those beside it.
        (made(v0_8_2=100, v0_9_0=112).plus("jax-0.8.3", "lock", CALLS), "instructions", 0.0, [("0.8.2", "0.9.0")]),
        # A count that wanders on one lock is held to what it wanders by.
        (made(v0_8_2=100, v0_9_0=105), "calls", 0.06, []),
        (made(v0_8_2=100, v0_9_0=105), "calls", 0.04, [("0.8.2", "0.9.0")]),
        # What two versions of a benchmark count is not compared.
        (made(v0_8_2=100).plus("jax-0.9.0", "lock", {TRACE: Counted(version="2", calls=200)}), "calls", 0.0, []),
    ],
)
def test_a_change_is_of_the_same_count(found: Counts, unit: Unit, fence: float, between: list[tuple[str, str]]) -> None:
    """It stands between two releases that were counted alike, and is larger than the fence."""
    turns = counts.turns(found, BRANCH, unit, {counts.name(TRACE, unit): fence})

    assert between == [(turn.before.removeprefix("jax-"), turn.after.removeprefix("jax-")) for turn in turns]


def test_counts_are_kept_as_they_are(tmp_path: Path) -> None:
    """What is written is read again, in the order of the line, and what another lock gave is not known of this one."""
    found = made(v0_9_0=112, v0_8_2=100).plus(
        "jax-0.8.3", "lock", {TRACE: Counted(version="1", failed="KeyError: 'a'")}
    )

    counts.save(found, [cell.id for cell in LINE], tmp_path)

    again = counts.load("m", tmp_path)
    assert ["jax-0.8.2", "jax-0.9.0", "jax-0.8.3"] == [each.cell for each in again.releases]
    assert found.known("jax-0.9.0", "lock") == again.known("jax-0.9.0", "lock") != {}
    assert {} == again.known("jax-0.9.0", "another lock")


def test_counting_calls_again_loses_no_instructions() -> None:
    """Instructions take minutes: they stay beside calls that were counted later, of the same version."""
    again = made(v0_9_0=100).plus("jax-0.9.0", "lock", {TRACE: Counted(version="1", calls=101)})

    assert (101, 100_000) == (again.known("jax-0.9.0", "lock")[TRACE].calls, 100_000)
    assert 100_000 == again.known("jax-0.9.0", "lock")[TRACE].instructions


@given(st.integers(0, 200))
def test_every_release_has_its_turn(count: int) -> None:
    """Each place comes once, and of a long line the first quarter leaves no gap of more than a third."""
    places = counts.spread(count)

    assert list(range(count)) == sorted(places)
    begun = sorted(places[: max(5, count // 4)])
    assert all(after - before <= count / 3 + 2 for before, after in pairwise(begun))
