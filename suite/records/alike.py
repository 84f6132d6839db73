"""Find cells in which a case imports the same packages: one observation holds for all of them.

A case forks from a process that imported its needs and nothing built on them: see `suite.cell.probe`. Packages above
its needs cannot change it, so a case of jax runs for a release of Diffrax only where numpy or another package below jax
moved. A guest imports any package of the stack, so none is above it. Row zero asks about the environment itself and
runs in each cell.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from functools import cache

from suite.catalogue.catalogue import Entry
from suite.cell.issue import Case
from suite.stack import lock, plan
from suite.stack.lock import Lock
from suite.stack.plan import Cell
from suite.stack.releases import guests

# Each builds on those before it, and on what is in no layer: jax, jaxlib, numpy, whatever a release of them asks for.
LAYERS = (
    frozenset(["equinox", "jaxtyping", "typeguard", "typing-extensions", "wadler-lindig"]),
    frozenset(["lineax"]),
    frozenset(["optimistix"]),
    frozenset(["diffrax"]),
)
_Below = tuple[str, str, frozenset[tuple[str, str]]]


def places(cell: Cell, entry: Entry, case: Case, pinned: Lock) -> Iterator[tuple[Cell, Lock]]:
    """Yield the cell, then the others whose record of a case counts for it. Raises BadFile."""
    yield cell, pinned
    if not entry.issue.row_zero:
        yield from alike(cell, case.needs, pinned.pins)


def alike(cell: Cell, needs: Collection[str], pins: Mapping[str, str]) -> list[tuple[Cell, Lock]]:
    """Return the other planned cells in which a case with these `needs` imports exactly what it imports in `cell`.

    Raises BadFile for an unreadable lock.
    """
    above = _above(needs)
    found = _cells(above).get(_below(cell, above, pins), ())
    return [each for each in found if each[0].id != cell.id]


def met(cell: Cell, needs: Collection[str], pins: Mapping[str, str]) -> Hashable:
    """Return what a case with these `needs` imports in `cell`: the same for each cell that is alike."""
    above = _above(needs)
    return above, _below(cell, above, pins)


def _above(needs: Collection[str]) -> frozenset[str]:
    """Return the packages that build on the last of `needs`."""
    if guests(needs):
        return frozenset()
    last = max((number for number, layer in enumerate(LAYERS, 1) if not layer.isdisjoint(needs)), default=0)
    return frozenset().union(*LAYERS[last:])


def _below(cell: Cell, above: Collection[str], pins: Mapping[str, str]) -> _Below:
    return cell.python, cell.device, frozenset(each for each in pins.items() if each[0] not in above)


@cache
def _cells(above: frozenset[str]) -> Mapping[_Below, list[tuple[Cell, Lock]]]:
    found: dict[_Below, list[tuple[Cell, Lock]]] = {}
    for cell, pinned in _locked():
        found.setdefault(_below(cell, above, pinned.pins), []).append((cell, pinned))
    return found


@cache
def _locked() -> list[tuple[Cell, Lock]]:
    """The planned cells that can be installed, each with its lock. Raises BadFile."""
    return [(cell, lock.load(cell)) for cell in plan.cells() if cell.unavailable is None]
