"""One of several parts of a run: how it is written, and what falls into it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import isclose
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite import commands
from suite.errors import Misused
from suite.run.spread.shard import Shard, Timed, costs, parse, shard
from suite.stack.plan import Cell
from tests.report.on_disk import save
from tests.report.test_report import observation, report


def cell(identifier: str, unavailable: tuple[str, str] | None = None) -> Cell:
    """A cell, of which nothing but its id and whether it can be had matters here."""
    return Cell(
        id=identifier,
        kind="line",
        moves="jax",
        holds=(("jax", "0.4.30"),),
        python="3.12",
        released_on=date(2024, 6, 18),
        requires=(),
        as_of=datetime(2024, 6, 19, tzinfo=UTC),
        unavailable=unavailable,
    )


@dataclass(frozen=True)
class Cost:
    """What one observation cost."""

    cell: str
    seconds: float
    attempts: int = 1


def timed(identifier: str, seconds: float, attempts: int = 1) -> Timed:
    """The same, as a report has it."""
    return Cost(identifier, seconds, attempts)


COSTS = st.dictionaries(
    st.text("abc-.0123456789", min_size=1, max_size=6),
    st.one_of(st.just(0.0), st.floats(0, 1000), st.sampled_from([1.0, 2.0, 30.0])),
    max_size=30,
)
PARTS = st.integers(1, 12)


def shards(cells: list[Cell], seconds: dict[str, float], parts: int) -> list[tuple[Cell, ...]]:
    """All the parts."""
    return [shard(cells, seconds, part, parts) for part in range(1, parts + 1)]


# Splitting


@given(seconds=COSTS, parts=PARTS)
def test_the_cells_are_parted_evenly(seconds: dict[str, float], parts: int) -> None:
    """Every cell falls into one part; none costs more than the mean and the dearest cell, or is empty without need."""
    split = shards([cell(identifier) for identifier in seconds], seconds, parts)

    assert sorted(seconds) == sorted(each.id for part in split for each in part)
    heaviest = max(sum(seconds[each.id] for each in part) for part in split)
    bound = sum(seconds.values()) / parts + max(seconds.values(), default=0.0)
    assert heaviest <= bound or isclose(heaviest, bound)
    assert min(parts, len(seconds)) == sum(bool(part) for part in split)


@given(seconds=COSTS, parts=PARTS, data=st.data())
def test_the_order_of_the_cells_does_not_matter(seconds: dict[str, float], parts: int, data: st.DataObject) -> None:
    """The same cells in another order are split alike; within a part they stand in the order they were given."""
    cells = [cell(identifier) for identifier in seconds]
    shuffled = data.draw(st.permutations(cells))

    split, again = (shards(each, seconds, parts) for each in (cells, shuffled))

    assert [set(part) for part in split] == [set(part) for part in again]
    assert [sorted(part, key=shuffled.index) for part in again] == [list(part) for part in again]


def test_cost_decides_and_not_count() -> None:
    """One dear cell weighs as much as the many cheap ones on the other side."""
    seconds = {"dear": 90.0, **{f"cheap-{number}": 10.0 for number in range(9)}}

    split = shards([cell(identifier) for identifier in seconds], seconds, 2)

    assert [1, 9] == [len(part) for part in split]


# Costs


@pytest.mark.parametrize(
    ("wanted", "seen"),
    [
        pytest.param({"a": 3.5, "b": 1.0}, [timed("a", 1.5), timed("b", 1.0), timed("a", 2.0)], id="observations"),
        pytest.param(
            {"new": 5.0, "untried": 5.0},
            [timed("a", 1.0), timed("b", 5.0), timed("c", 9.0), timed("untried", 0.0, attempts=0)],
            id="never-ran",
        ),
        pytest.param({"a": 1.0, "b": 1.0}, [], id="no-report"),
        pytest.param({"gone": 0.0}, [timed("gone", 9.0)], id="unavailable"),
    ],
)
def test_a_cell_costs_what_it_took(wanted: dict[str, float], seen: list[Timed]) -> None:
    """A cell costs the seconds of its observations, the others' median where it never ran, nothing where it cannot."""
    cells = [cell(name, ("plan.yanked", "it was") if name == "gone" else None) for name in wanted]

    assert wanted == costs(cells, seen)


def test_costs_are_of_the_published_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cell costs what it cost in the published report; without one, all cost the same."""
    of = report(observation(), observation(cell="jax-0.5.0", case="other"), observation(cell="jax-0.5.0"))
    monkeypatch.setattr(commands, "PUBLISHED", tmp_path)
    known = []
    for there in (False, True):
        if there:
            save(of, tmp_path)
        known.append(costs([cell("jax-0.4.30"), cell("jax-0.5.0")], commands.measured()))

    assert [{"jax-0.4.30": 1.0, "jax-0.5.0": 1.0}, {"jax-0.4.30": 0.5, "jax-0.5.0": 1.0}] == known


# Writing it


@given(part=st.integers(1, 1000), more=st.integers(0, 1000))
def test_a_part_is_read_as_it_is_written(part: int, more: int) -> None:
    """`3/10` is the third of ten, and is shown as it was written."""
    wanted = Shard(part, part + more)

    assert wanted == parse(str(wanted))


@pytest.mark.parametrize(
    "text", ["x", "", "3", "3/", "/10", "3/10/2", "-1/3", "1.5/3", "3 of 10", "1/10000", "\u0663/10"]
)
def test_what_is_no_part_is_told_how_to_write_one(text: str) -> None:
    """Anything but two numbers and a stroke is refused, with an example of what is meant."""
    with pytest.raises(Misused, match=re.escape(f"{text!r} is no part of a run: the third of ten is written 3/10")):
        parse(text)


@pytest.mark.parametrize("text", ["0/3", "4/3", "0/0", "1/0"])
def test_a_part_is_one_of_its_parts(text: str) -> None:
    """The parts are counted from one to as many as there are."""
    with pytest.raises(Misused, match=r"there is no part \d of \d"):
        parse(text)
