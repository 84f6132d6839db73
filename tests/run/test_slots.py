"""Shared work: a machine's slots and memory, and the parts of a run."""

import re
import threading
from dataclasses import replace
from math import isclose
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jax_stack_compat.base.errors import Misused
from jax_stack_compat.cell import machine
from jax_stack_compat.environments import probe_call
from jax_stack_compat.stack import plan
from jax_stack_compat.stack.plan import Cell
from laboratory.report import published
from laboratory.run.schedule import deal, slots
from laboratory.run.schedule.slots import Slots
from laboratory.run.spread.shard import Shard, costs, parse, shard
from tests.report.test_report import observation, report, undecided


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Slots:
    """A machine with two cores and unlimited memory."""
    monkeypatch.setattr(slots, "FOLDER", tmp_path)
    monkeypatch.setattr(machine, "cores", lambda: 2)
    monkeypatch.setattr(slots, "free_mib", lambda: 100_000)
    return Slots()


def test_there_is_a_slot_for_each_core(two: Slots) -> None:
    """On two cores, a third probe gets a slot only after one of two has ended."""
    one, other = two.take(1024), two.take(1024)

    assert (2, None) == (two.count, two.take(1024))
    assert one is not None
    assert other is not None
    one.close()
    again = two.take(1024)
    assert again is not None
    again.close()
    other.close()


def test_a_probe_needs_the_memory_that_is_left(two: Slots, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory that an admitted probe requested is not free, even if unused. A probe alone is always admitted."""
    monkeypatch.setattr(slots, "free_mib", lambda: 3000)
    with Slots().take(5000) or pytest.fail("the only probe was not admitted"):
        assert two.take(1024) is None
    with Slots().take(1500) or pytest.fail("the only probe was not admitted"):
        assert two.take(1600) is None
        with two.take(1400) or pytest.fail("there was room"):
            pass


def test_alone_is_alone(two: Slots) -> None:
    """A run that must be alone waits for the others to end, and no other begins meanwhile."""
    held = two.take(1024)
    assert held is not None
    began = threading.Event()

    def run_alone() -> None:
        with two.all():
            began.set()

    waiting = threading.Thread(target=run_alone)
    waiting.start()
    assert not began.wait(0.5)
    assert two.take(1024) is None
    held.close()
    waiting.join(10)
    assert began.is_set()
    with two.take(1024) or pytest.fail("all slots are free again"):
        pass


def test_a_limit_on_processes_leaves_fewer_slots(two: Slots, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit on processes that is too low for two probes leaves one slot."""
    monkeypatch.setattr("resource.getrlimit", lambda _: (-1, -1))
    assert ("", "") == (probe_call.limited(), probe_call.limited(2))
    monkeypatch.setattr(probe_call, "limited", lambda probes=1: "too few processes" if probes > 1 else "")

    assert 1 == Slots().count


def test_free_memory_is_that_of_the_machine_and_its_control_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The smaller of the machine's and the group's free memory counts; cached files count as free."""
    group = tmp_path / "group"
    group.mkdir()
    for name, text in {"memory.max": str(3 * 1024**3), "memory.current": str(2 * 1024**3)}.items():
        (group / name).write_text(text)
    (group / "memory.stat").write_text(f"anon 5\ninactive_file {1024**3}\nactive_file 0\n")
    (tmp_path / "memory.max").write_text("max")

    assert [2 * 1024**3] == slots._left(group, "memory.max", "memory.current")
    assert [] == slots._left(tmp_path, "memory.max", "memory.current")
    for of_machine, of_group, free in ((5 * 1024**3, 2 * 1024**3, 2048), (1024**3, None, 1024), (None, None, None)):
        monkeypatch.setattr(slots, "_of_machine", lambda it=of_machine: it)
        monkeypatch.setattr(slots, "_of_group", lambda it=of_group: it)
        assert free == slots.free_mib()


COSTS = st.dictionaries(st.integers(), st.floats(0.01, 100), min_size=1, max_size=40)


@given(costs=COSTS, seconds=st.floats(deal.LEAST, 500))
def test_an_order_is_a_part_that_fits(costs: dict[int, float], seconds: float) -> None:
    """An order has no task twice, and fits its time unless it is one longer task; the rest is worth another order."""
    order = deal.cut(costs, seconds)
    took, whole = sum(costs[each] for each in order), sum(costs.values())

    assert set(order) <= set(costs)
    assert len(order) == len(set(order))
    assert took <= seconds + deal.LEAST or len(order) == 1
    assert whole - took == pytest.approx(0) or whole > seconds + deal.LEAST
    assert max(costs.values()) in [costs[each] for each in order] or max(costs.values()) > seconds


@given(costs=COSTS, count=st.integers(1, 16))
def test_orders_are_few_and_end_together(costs: dict[int, float], count: int) -> None:
    """Each task runs once, and no slot exceeds an even share by more than the longest task and a probe's least work."""
    left, busy, orders = dict(costs), [0.0] * count, 0
    while left:
        order = deal.cut(left, deal.share(sum(left.values()), count))
        at = busy.index(min(busy))
        busy[at] += sum(left.pop(each) for each in order)
        orders += 1

    even = sum(costs.values()) / count
    assert max(busy) <= even + max(costs.values()) + 2 * deal.LEAST + 1e-6
    assert orders <= len(costs)


def cell(identifier: str, unavailable: tuple[str, str] | None = None) -> Cell:
    """Return a cell with this id, available or not."""
    return replace(plan.cells()[0], id=identifier, unavailable=unavailable)


SECONDS = st.dictionaries(
    st.text("abc-.0123456789", min_size=1, max_size=6),
    st.one_of(st.just(0.0), st.floats(0, 1000), st.sampled_from([1.0, 2.0, 30.0])),
    max_size=30,
)
PARTS = st.integers(1, 12)


def shards(cells: list[Cell], seconds: dict[str, float], parts: int) -> list[tuple[Cell, ...]]:
    """All the parts."""
    return [shard(cells, seconds, part, parts) for part in range(1, parts + 1)]


@given(seconds=SECONDS, parts=PARTS)
def test_the_cells_are_parted_evenly(seconds: dict[str, float], parts: int) -> None:
    """Every cell is in one part; no part exceeds the mean by more than one cell, or is empty without need."""
    split = shards([cell(identifier) for identifier in seconds], seconds, parts)

    assert sorted(seconds) == sorted(each.id for part in split for each in part)
    heaviest = max(sum(seconds[each.id] for each in part) for part in split)
    bound = sum(seconds.values()) / parts + max(seconds.values(), default=0.0)
    assert heaviest <= bound or isclose(heaviest, bound)
    assert min(parts, len(seconds)) == sum(bool(part) for part in split)


@given(seconds=SECONDS, parts=PARTS, data=st.data())
def test_the_order_of_the_cells_does_not_matter(seconds: dict[str, float], parts: int, data: st.DataObject) -> None:
    """The order of cells does not change the split; within a part, cells keep the given order."""
    cells = [cell(identifier) for identifier in seconds]
    shuffled = data.draw(st.permutations(cells))

    split, again = (shards(each, seconds, parts) for each in (cells, shuffled))

    assert [set(part) for part in split] == [set(part) for part in again]
    assert [sorted(part, key=shuffled.index) for part in again] == [list(part) for part in again]


def test_cost_decides_and_not_count() -> None:
    """One expensive cell is in one part, and many cheap ones are in the other."""
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
    """A cell costs its measured seconds, the median if it never ran, and nothing if it is unavailable."""
    cells = [cell(name, ("plan.yanked", "it was") if name == "gone" else None) for name in wanted]

    assert wanted == costs(cells, seen)


def test_costs_are_of_the_published_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell's cost is the time of its observations in the published report; untried cells have none."""
    untried = undecided("not-run", cell="jax-0.6.0", attempts=0, seconds=0.0)
    of = report(observation(), observation(cell="jax-0.5.0", case="b"), observation(cell="jax-0.5.0"), untried)
    monkeypatch.setattr("laboratory.report.published.published", lambda: of)

    assert {"jax-0.4.30": 0.5, "jax-0.5.0": 1.0} == published.seconds_of_cells()


@given(part=st.integers(1, 1000), more=st.integers(0, 1000))
def test_a_part_is_read_as_it_is_written(part: int, more: int) -> None:
    """`3/10` is the third of ten, and is shown as it was written."""
    wanted = Shard(part, part + more)

    assert wanted == parse(str(wanted))


NO_PARTS = ("x", "", "3", "3/", "/10", "3/10/2", "-1/3", "1.5/3", "3 of 10", "1/10000", "\u0663/10")


@pytest.mark.parametrize("text", [*NO_PARTS, "0/3", "4/3", "0/0", "1/0"])
def test_what_is_no_part_is_told(text: str) -> None:
    """Any text but `N/M` is refused with an example; parts are counted from 1."""
    told = f"{text!r} is not a part of a run: write 3/10 for the third of ten"
    with pytest.raises(Misused, match=re.escape(told) if text in NO_PARTS else r"there is no part \d of \d"):
        parse(text)
