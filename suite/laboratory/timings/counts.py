"""The file counts/<machine>.json: counts of the host's work on each release, and their changes along the line.

A count has hardly any noise; `nox -s bench-noise` measures how much. A larger difference between two neighbouring
releases is a change, and its size is exact.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from jax_stack_compat.base.files import ROOT, FileModel, read
from jax_stack_compat.cell.atomic import write
from laboratory.boundaries.neighbours import LineCell, neighbours
from laboratory.timings.results import ResultRow, State

COUNTS = ROOT / "benchmarks" / "counts"
# A smaller ratio is no change.
COUNT_GATE = 0.01
Unit = Literal["instructions", "calls"]
UNITS: tuple[Unit, ...] = ("instructions", "calls")
# The host's phases, in asv's names: `benchmarks/_counting.py` counts the instructions of all.
HOST = re.compile(r"\.time_(trace|lower|trace_and_lower|compile|first_call|new_object|dispatch)(\(|$)")
# Names of counts beside asv's times: `basics.Scan.instructions_trace` beside `basics.Scan.time_trace`.
_TIMED = re.compile(r"(?<=\.)time_")
# The phases that run in Python. In the other phases the compiler takes part, so calls do not measure them.
BY_PYTHON = re.compile(r"\.time_(trace|lower|trace_and_lower|dispatch)(\(|$)")


class Counted(FileModel):
    """One benchmark on one release: the counts of one call, or why they are missing.

    `lacking` means that the release lacks the subject, and `failed` that the benchmark raised or was killed.
    """

    version: str
    calls: float | None = None
    instructions: float | None = None
    lacking: str = ""
    failed: str = ""

    def of(self, unit: Unit) -> float | None:
        """The count in this unit."""
        return self.calls if unit == "calls" else self.instructions

    def row(self, unit: Unit) -> ResultRow:
        """Return the count in this unit as a row of asv's results."""
        value = self.of(unit)
        states: tuple[tuple[object, State], ...] = ((self.failed, "failed"), (self.lacking, "lacking"))
        state = next((state for holds, state in states if holds), "missing" if value is None else "measured")
        return ResultRow(state, self.version, count=True, least=math.nan if value is None else value)

    def beside(self, before: Counted | None) -> Counted:
        """Return these counts; if only calls were counted now, with the former instructions."""
        if before is None or before.version != self.version or self.instructions is not None or self.calls is None:
            return self
        return self.model_copy(update={"instructions": before.instructions})


class ReleaseCounts(FileModel):
    """The counts of a cell of the line, and the hash of the lock that was counted."""

    cell: str
    lock: str
    benchmarks: dict[str, Counted] = Field(default_factory=dict)


class Counts(FileModel):
    """All counts of one machine."""

    schema_version: Literal[1] = 1
    machine: str
    releases: tuple[ReleaseCounts, ...] = ()

    def known(self, cell: str, lock: str) -> Mapping[str, Counted]:
        """Return the known counts of a cell with this lock."""
        return next((each.benchmarks for each in self.releases if (each.cell, each.lock) == (cell, lock)), {})

    def plus(self, cell: str, lock: str, found: Mapping[str, Counted]) -> Counts:
        """Return the counts with `found` added to a cell."""
        known = self.known(cell, lock)
        added = {key: counted.beside(known.get(key)) for key, counted in found.items()}
        made = ReleaseCounts(cell=cell, lock=lock, benchmarks={**known, **added})
        others = tuple(release for release in self.releases if release.cell != cell)
        return self.model_copy(update={"releases": (*others, made)})


@dataclass(frozen=True)
class CountTurn:
    """A count that differs from the release before. A `change` of 0.12 is 12% more."""

    benchmark: str
    unit: Unit
    before: str
    after: str
    old: float
    new: float

    @property
    def change(self) -> float:
        """The change as a ratio."""
        return self.new / self.old - 1

    @property
    def told(self) -> str:
        """The change in words: `12.0% more calls, 100 before, 112 after`; from twice on, `2.5 times as many`."""
        many = f"{self.new / self.old:.3g} times as many"
        size = many if self.change >= 1 else f"{abs(self.change):.1%} {'more' if self.change > 0 else 'fewer'}"
        return f"{size} {self.unit}, {self.old:,.0f} before, {self.new:,.0f} after"


def name(benchmark: str, unit: Unit) -> str:
    """Return the name of a count: `basics.Scan.calls_trace` for `basics.Scan.time_trace`."""
    return _TIMED.sub(f"{unit}_", benchmark, count=1)


def of_host(key: str) -> bool:
    """Return True if this is a time or a count of one of the host's phases."""
    return HOST.search(re.sub(r"\.(instructions|calls)_", ".time_", key)) is not None


def turns(found: Counts, line: Sequence[LineCell], unit: Unit, fences: Mapping[str, float]) -> list[CountTurn]:
    """Return the changes of counts along the line beyond COUNT_GATE and their fence, the largest first.

    Each counted release is compared with the nearest earlier release in the same unit. `fences` are by the count's
    name.
    """
    known = {
        release.cell: release.benchmarks
        for release in found.releases
        if any(counted.of(unit) is not None for counted in release.benchmarks.values())
    }
    pairs = neighbours(cell for cell in line if cell.id in known)
    made = [
        turn
        for before, after in pairs
        for turn in _between(before.id, after.id, known[before.id], known[after.id], unit)
        if abs(turn.change) > max(COUNT_GATE, fences.get(name(turn.benchmark, unit), 0.0))
    ]
    return sorted(made, key=lambda turn: -abs(turn.change))


def _between(
    before: str, after: str, old: Mapping[str, Counted], new: Mapping[str, Counted], unit: Unit
) -> Iterator[CountTurn]:
    for benchmark in (name for name in old if name in new):
        was, now = old[benchmark].of(unit), new[benchmark].of(unit)
        same = old[benchmark].version == new[benchmark].version
        if was and now and same:
            yield CountTurn(benchmark, unit, before, after, was, now)


def spread(count: int) -> list[int]:
    """Return the places of a line, ordered so that every beginning covers it evenly: the ends, then the halves."""
    found = dict.fromkeys((0, count - 1) if count else ())
    step = count
    while step > 1:
        step = (step + 1) // 2
        found |= dict.fromkeys(range(0, count, step))
    return list(found)


def load(machine: str, folder: Path = COUNTS) -> Counts:
    """Return the counts of a machine; empty without a file. Raises BadFile."""
    path = folder / f"{machine}.json"
    return read(Counts, path) if path.exists() else Counts(machine=machine)


def save(found: Counts, order: Iterable[str], folder: Path = COUNTS) -> None:
    """Write the file, with the releases in this order, and a line for each benchmark."""
    places = {cell: place for place, cell in enumerate(order)}
    releases = sorted(found.releases, key=lambda release: places.get(release.cell, len(places)))
    head = f'{{"schema_version": {found.schema_version}, "machine": {json.dumps(found.machine)}, "releases": [\n'
    write(folder / f"{found.machine}.json", head + ",\n".join(map(_text, releases)) + "\n]}\n")


def _text(release: ReleaseCounts) -> str:
    rows = (
        f"{json.dumps(key)}: {json.dumps(counted.model_dump(exclude_defaults=True))}"
        for key, counted in sorted(release.benchmarks.items())
    )
    inside = ",\n".join(rows)
    return f'{{"cell": {json.dumps(release.cell)}, "lock": "{release.lock}", "benchmarks": {{\n{inside}\n}}}}'
