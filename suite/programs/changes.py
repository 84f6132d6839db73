"""What changed in the programs from one release to the next, in words. Pure: counts have no noise, so any change is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from suite.programs.model import Program, Programs, Release, Workload
from suite.programs.targets import COUNTS


@dataclass(frozen=True)
class Change:
    """One count of a program that is another than before."""

    count: str
    before: int
    after: int

    @property
    def told(self) -> str:
        """In words: `2 kernel launches fewer, 4 → 2`."""
        size, known = abs(self.after - self.before), COUNTS[self.count]
        way = "more" if self.after > self.before else "fewer"
        return f"{size:,} {known.one if size == 1 else known.many} {way}, {self.before:,} → {self.after:,}"


@dataclass(frozen=True)
class Turn:
    """What a release changed in the program of one workload: its counts, or whether there is a program at all.

    `moved` are the packages beside jax that have a say in it and moved as well: name, before and after.
    """

    workload: str
    before: Release
    after: Release
    changes: tuple[Change, ...] = ()
    lost: str = ""
    gained: str = ""
    moved: tuple[tuple[str, str, str], ...] = ()

    @property
    def told(self) -> str:
        """In a sentence."""
        what = "; ".join(each.told for each in self.changes)
        if self.lost:
            what = f"cannot be compiled any more: {self.lost}"
        if self.gained:
            what = f"can be compiled now; before: {self.gained}"
        along = ", ".join(f"{name} {old} → {new}" for name, old, new in self.moved)
        moved = f" ({along} came along)" if along else ""
        return f"jax {self.after.jax}, after {self.before.jax}: {self.workload}: {what}{moved}"


def turns(found: Programs) -> list[Turn]:
    """Every change between neighbouring releases, in their order; what was compiled of another source is not compared.

    A count that one of the two does not tell is no change.
    """
    return [
        turn
        for before, after in found.pairs()
        if before.recipe == after.recipe
        for name, workload in found.workloads.items()
        for turn in _turn(name, workload, before, after)
    ]


def _turn(name: str, workload: Workload, before: Release, after: Release) -> Iterator[Turn]:
    old, new = before.program(name), after.program(name)
    if old is None or new is None or old.source != new.source:
        return
    moved = tuple(
        (package, before.packages.get(package, "none"), after.packages.get(package, "none"))
        for package in workload.needs
        if before.packages.get(package) != after.packages.get(package)
    )
    changes = tuple(_changes(old, new))
    if changes or bool(old.reason) != bool(new.reason):
        lost, gained = (new.reason, "") if new.reason else ("", old.reason)
        yield Turn(name, before, after, changes, lost, gained, moved)


def _changes(old: Program, new: Program) -> Iterator[Change]:
    for count in COUNTS:
        if count in old.counts and count in new.counts and old.counts[count] != new.counts[count]:
            yield Change(count, old.counts[count], new.counts[count])
