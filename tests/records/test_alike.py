"""One run counts in every cell in which the case meets the same packages, and in no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.catalogue import catalogue
from suite.judge.record import Part
from suite.records import records
from suite.records.alike import LAYERS, alike
from suite.report.assemble import assemble
from suite.run import cell_run
from suite.stack import lock, plan
from suite.stack.releases import guests
from tests.report.test_report import put_record, put_status

LINE = [cell for cell in plan.tagged("line") if cell.unavailable is None]
BARE, WITH_DIFFRAX = ["jax"], ["jax", "equinox", "diffrax"]
(BYPASS,) = catalogue.select(["wraps-lower-bypass"])
(SMOKE,) = catalogue.select(["stack-smoke"])


@pytest.mark.parametrize("needs", [BARE, ["jax", "equinox"], ["jax", "lineax"], WITH_DIFFRAX])
def test_alike_is_what_differs_above_alone(needs: list[str]) -> None:
    """Of two cells that are alike to a case, only packages differ that build on the last one that it needs."""
    last = max((at for at, layer in enumerate(LAYERS) if not layer.isdisjoint(needs)), default=-1)
    above = frozenset().union(*LAYERS[last + 1 :])
    pairs = [
        (cell, other, {name for name, _ in lock.load(cell).pins.items() ^ held.pins.items()})
        for cell in LINE
        for other, held in alike(cell, needs, lock.load(cell).pins)
    ]

    assert pairs or needs == WITH_DIFFRAX
    assert all(differing <= above for _, _, differing in pairs)
    assert all((cell.python, cell.device) == (other.python, other.device) for cell, other, _ in pairs)


def test_to_a_guest_nothing_is_above() -> None:
    """What a guest does counts in no cell with other packages: it may import any of the stack, as e3nn-jax Equinox."""
    holding = [cell for cell in plan.cells() if cell.unavailable is None and guests(dict(cell.holds))]

    for cell in holding:
        pins = lock.load(cell).pins
        assert all(held.pins == pins for _, held in alike(cell, ["jax", *guests(dict(cell.holds))], pins))
    assert any(alike(cell, BARE, lock.load(cell).pins) for cell in holding)


def test_one_run_counts_in_the_cells_that_are_alike(elsewhere: Path) -> None:
    """A case of jax alone that one cell has on record is known in a cell of a library's release, which says where."""
    cell, other = next(
        (cell, found[0][0])
        for cell in LINE
        if cell.moves != "jax" and (found := alike(cell, BARE, lock.load(cell).pins)) and found[0][0].moves == "jax"
    )
    case = BYPASS.issue.cases[0]
    put_status(other)
    put_record(other, BYPASS, case, Part(outcome="returned", behaviour="bypassed"))
    for smoke in SMOKE.issue.cases:
        put_record(other, SMOKE, smoke, Part(outcome="returned", behaviour="works"))

    seen, *rest = assemble([cell], [BYPASS, SMOKE]).observations

    assert (cell.id, other.id, "bypassed") == (seen.cell, seen.ran_in, seen.behaviour)
    assert {("not-run", None)} == {(each.verdict, each.ran_in) for each in rest}
    assert len(cell_run.left(cell, [BYPASS])) == len(BYPASS.issue.cases) - 1
    assert len(cell_run.left(cell, [SMOKE])) == len(SMOKE.issue.cases)


def test_its_own_record_comes_first(elsewhere: Path) -> None:
    """Where a cell was run itself, that is what counts, whatever others alike have shown."""
    cell = next(cell for cell in LINE if alike(cell, BARE, lock.load(cell).pins))
    (other, _), *_ = alike(cell, BARE, lock.load(cell).pins)
    case = BYPASS.issue.cases[0]
    for each, behaviour in ((other, "bypassed"), (cell, "lowered")):
        put_status(each)
        put_record(each, BYPASS, case, Part(outcome="returned", behaviour=behaviour))

    record = records.in_force(cell, BYPASS, case, lock.load(cell))

    assert record is not None
    assert cell.id == record.cell
