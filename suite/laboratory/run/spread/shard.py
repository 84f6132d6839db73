"""Shards: `--shard 3/10` is one of ten parts of a run's cells, so that ten machines can share the run.

The parts have equal costs by the last measurement. All machines have the same tree, so they compute the same parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapreplace
from statistics import median

from jax_stack_compat.base.errors import Misused
from jax_stack_compat.stack.plan import Cell


@dataclass(frozen=True)
class Shard:
    """The `part`-th of `parts`, counted from 1."""

    part: int
    parts: int

    def __str__(self) -> str:
        """Return the shard as on the command line: `3/10`."""
        return f"{self.part}/{self.parts}"


def parse(text: str) -> Shard:
    """Parse `3/10`. Raises Misused."""
    match = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text)
    if match is None:
        raise Misused(f"{text!r} is not a part of a run: write 3/10 for the third of ten")
    part, parts = int(match[1]), int(match[2])
    if not 1 <= part <= parts:
        raise Misused(f"there is no part {part} of {parts}: they are numbered from 1/{parts} to {parts}/{parts}")
    return Shard(part, parts)


def costs(cells: Iterable[Cell], measured: Mapping[str, float]) -> dict[str, float]:
    """Return the measured seconds of each cell by its id; for a cell that never ran, the median of the others."""
    usual = median(measured.values()) if measured else 1.0
    return {cell.id: 0.0 if cell.unavailable else measured.get(cell.id, usual) for cell in cells}


def shard(cells: Sequence[Cell], costs: Mapping[str, float], part: int, parts: int) -> tuple[Cell, ...]:
    """Return the `part`-th of `parts` shares of `cells`, in order; no share exceeds the mean by more than one cell.

    Each cell, starting with the costliest, goes to the share with the lowest cost so far.
    """
    # The number of cells decides between shares of equal cost, so that cells without a cost are spread, too.
    lightest = [(0.0, 0, number) for number in range(1, parts + 1)]
    mine = set()
    for cell in sorted(cells, key=lambda cell: (-costs[cell.id], cell.id)):
        load, count, number = lightest[0]
        heapreplace(lightest, (load + costs[cell.id], count + 1, number))
        if number == part:
            mine.add(cell.id)
    return tuple(cell for cell in cells if cell.id in mine)
