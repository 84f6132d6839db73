"""One of several parts of a run: how it is written, and what falls into it."""

from __future__ import annotations

import re
from dataclasses import replace
from math import isclose
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite import commands
from suite.errors import Misused
from suite.run.spread.shard import Shard, costs, parse, shard
from suite.stack import plan
from suite.stack.plan import Cell
from tests.report.on_disk import save
from tests.report.test_report import observation, report, undecided


def cell(identifier: str, unavailable: tuple[str, str] | None = None) -> Cell:
    """A cell, of which nothing but its id and whether it can be had matters here."""
    return replace(plan.cells()[0], id=identifier, unavailable=unavailable)


COSTS = st.dictionaries(
    st.text("abc-.0123456789", min_size=1, max_size=6),
    st.one_of(st.just(0.0), st.floats(0, 1000), st.sampled_from([1.0, 2.0, 30.0])),
    max_size=30,
)
PARTS = st.integers(1, 12)


def shards(cells: list[Cell], seconds: dict[str, float], parts: int) -> list[tuple[Cell, ...]]:
    """All the parts."""
    return [shard(cells, seconds, part, parts) for part in range(1, parts + 1)]


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


@pytest.mark.parametrize(
    ("wanted", "seen"),
    [
        ({"a": 3.5, "b": 1.0}, {"a": 3.5, "b": 1.0}),
        ({"new": 5.0}, {"a": 1.0, "b": 5.0, "c": 9.0}),
        ({"a": 1.0, "b": 1.0}, {}),
        ({"gone": 0.0}, {"gone": 9.0}),
    ],
    ids=["it ran", "never ran", "no report", "unavailable"],
)
def test_a_cell_costs_what_it_took(wanted: dict[str, float], seen: dict[str, float]) -> None:
    """A cell costs the seconds that it took, the others' median where it never ran, nothing where it cannot."""
    cells = [cell(name, ("plan.yanked", "it was") if name == "gone" else None) for name in wanted]

    assert wanted == costs(cells, seen)


def test_costs_are_of_the_published_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cell costs what its observations took in the published report; of one that was not tried it says nothing."""
    untried = undecided("not-run", cell="jax-0.6.0", attempts=0, seconds=0.0)
    of = report(observation(), observation(cell="jax-0.5.0", case="b"), observation(cell="jax-0.5.0"), untried)
    monkeypatch.setattr(commands, "PUBLISHED", tmp_path)
    known = []
    for there in (False, True):
        if there:
            save(of, tmp_path)
        known.append(commands.measured())

    assert [{}, {"jax-0.4.30": 0.5, "jax-0.5.0": 1.0}] == known


@given(part=st.integers(1, 1000), more=st.integers(0, 1000))
def test_a_part_is_read_as_it_is_written(part: int, more: int) -> None:
    """`3/10` is the third of ten, and is shown as it was written."""
    wanted = Shard(part, part + more)

    assert wanted == parse(str(wanted))


NO_PARTS = ("x", "", "3", "3/", "/10", "3/10/2", "-1/3", "1.5/3", "3 of 10", "1/10000", "\u0663/10")


@pytest.mark.parametrize("text", [*NO_PARTS, "0/3", "4/3", "0/0", "1/0"])
def test_what_is_no_part_is_told(text: str) -> None:
    """Anything but two numbers and a stroke is refused with an example; parts are counted from one to their number."""
    told = f"{text!r} is no part of a run: the third of ten is written 3/10"
    with pytest.raises(Misused, match=re.escape(told) if text in NO_PARTS else r"there is no part \d of \d"):
        parse(text)
