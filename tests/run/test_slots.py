"""How runs share the machine: its slots, its memory, and how the work is dealt out."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.cell import machine
from suite.run import probe_call
from suite.run.schedule import deal, slots
from suite.run.schedule.slots import Slots


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Slots:
    """A machine of two cores, and as much memory as anybody wants."""
    monkeypatch.setattr(slots, "FOLDER", tmp_path)
    monkeypatch.setattr(machine, "cores", lambda: 2)
    monkeypatch.setattr(slots, "free_mib", lambda: 100_000)
    return Slots()


def test_there_is_a_slot_for_each_core(two: Slots) -> None:
    """A third probe has none until one of two has ended."""
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
    """What another was admitted with is not free, whether it has it yet or not. The only one is always admitted."""
    monkeypatch.setattr(slots, "free_mib", lambda: 3000)
    with Slots().take(5000) or pytest.fail("the only probe was not admitted"):
        assert two.take(1024) is None
    with Slots().take(1500) or pytest.fail("the only probe was not admitted"):
        assert two.take(1600) is None
        with two.take(1400) or pytest.fail("there was room"):
            pass


def test_alone_is_alone(two: Slots) -> None:
    """Who runs alone waits for the others to end, and meanwhile nobody else begins."""
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
    """Where the shell lets a user have too few processes for two probes, there is one slot."""
    monkeypatch.setattr("resource.getrlimit", lambda _: (-1, -1))
    assert ("", "") == (probe_call.limited(), probe_call.limited(2))
    monkeypatch.setattr(probe_call, "limited", lambda probes=1: "too few processes" if probes > 1 else "")

    assert 1 == Slots().count


def test_free_memory_is_that_of_the_machine_and_its_control_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The least of both counts; what a group has cached of files can be dropped."""
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
    """An order has nothing twice, and fits its time but for one longer task; what it leaves is worth another."""
    order = deal.cut(costs, seconds)
    took, whole = sum(costs[each] for each in order), sum(costs.values())

    assert set(order) <= set(costs)
    assert len(order) == len(set(order))
    assert took <= seconds + deal.LEAST or len(order) == 1
    assert whole - took == pytest.approx(0) or whole > seconds + deal.LEAST
    assert max(costs.values()) in [costs[each] for each in order] or max(costs.values()) > seconds


@given(costs=COSTS, count=st.integers(1, 16))
def test_orders_are_few_and_end_together(costs: dict[int, float], count: int) -> None:
    """All is run once, and no slot is behind by more than the longest task and what is worth no probe."""
    left, busy, orders = dict(costs), [0.0] * count, 0
    while left:
        order = deal.cut(left, deal.share(sum(left.values()), count))
        at = busy.index(min(busy))
        busy[at] += sum(left.pop(each) for each in order)
        orders += 1

    even = sum(costs.values()) / count
    assert max(busy) <= even + max(costs.values()) + 2 * deal.LEAST + 1e-6
    assert orders <= len(costs)
