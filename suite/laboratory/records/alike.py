"""Cells in which a case imports the same packages, so that one observation counts for all of them.

A case forks from a process that imported its needs and nothing built on them: see the probe. Packages above its needs
cannot change it. So in a cell of a Diffrax release, a case of jax runs only if a package below jax moved, such as
numpy. A guest may import any package of the stack, so no package is above it. Row zero asks about the environment
itself, and runs in each cell.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from functools import cache
from itertools import chain

from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.packages import PACKAGES, guests
from jax_stack_compat.stack import lock, plan
from jax_stack_compat.stack.lock import Lock
from jax_stack_compat.stack.plan import Cell


def _layer(height: int) -> frozenset[str]:
    """Return the packages of a layer, with what they bring."""
    of = [(name, *package.brings) for name, package in PACKAGES.items() if package.layer == height]
    return frozenset(chain.from_iterable(of))


# Each layer builds on the layers before it, and on packages in no layer: jax, jaxlib, numpy and their dependencies.
LAYERS = tuple(map(_layer, range(1, 1 + max(package.layer for package in PACKAGES.values()))))
_Below = tuple[str, frozenset[tuple[str, str]]]


def places(cell: Cell, entry: Entry, case: Case, pinned: Lock) -> Iterator[tuple[Cell, Lock]]:
    """Yield the cell, then the other cells whose record of the case also counts for this cell. Raises BadFile."""
    yield cell, pinned
    if not entry.issue.row_zero:
        yield from alike(cell, case.needs, pinned.pins)


def alike(cell: Cell, needs: Collection[str], pins: Mapping[str, str]) -> list[tuple[Cell, Lock]]:
    """Return the other planned cells in which a case with these `needs` imports the same packages as in `cell`.

    Raises BadFile for an unreadable lock.
    """
    above = _above(tuple(needs))
    found = _cells(above).get(_below(cell, above, pins), ())
    return [each for each in found if each[0].id != cell.id]


def met(cell: Cell, needs: Collection[str], pins: Mapping[str, str]) -> Hashable:
    """Return a value for the packages that a case with these `needs` imports in `cell`: equal for alike cells."""
    above = _above(tuple(needs))
    return above, _below(cell, above, pins)


@cache
def _above(needs: tuple[str, ...]) -> frozenset[str]:
    """Return the packages that build on the last layer of `needs`."""
    if guests(needs):
        return frozenset()
    last = max((number for number, layer in enumerate(LAYERS, 1) if not layer.isdisjoint(needs)), default=0)
    return frozenset().union(*LAYERS[last:])


def _below(cell: Cell, above: Collection[str], pins: Mapping[str, str]) -> _Below:
    return cell.python, frozenset(each for each in pins.items() if each[0] not in above)


@cache
def _cells(above: frozenset[str]) -> Mapping[_Below, list[tuple[Cell, Lock]]]:
    found: dict[_Below, list[tuple[Cell, Lock]]] = {}
    for cell, pinned in _locked():
        found.setdefault(_below(cell, above, pinned.pins), []).append((cell, pinned))
    return found


@cache
def _locked() -> list[tuple[Cell, Lock]]:
    """Return the planned cells that can be installed, each with its lock. Raises BadFile."""
    return [(cell, lock.load(cell)) for cell in plan.cells() if cell.unavailable is None]
