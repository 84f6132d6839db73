"""What changed in the programs from one release to the next, in words. Pure: counts have no noise, so any change is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from suite.programs.cases import BY_PROGRAM
from suite.programs.model import Program, Programs, Release, Workload
from suite.programs.targets import COUNTS, Count


@dataclass(frozen=True)
class Change:
    """One count of a program that is another than before."""

    count: str
    before: int
    after: int

    @property
    def known(self) -> Count:
        """What is counted."""
        return COUNTS[self.count]

    @property
    def by(self) -> str:
        """By how much: `2 kernel launches fewer`."""
        size, way = abs(self.after - self.before), "more" if self.after > self.before else "fewer"
        return f"{size:,} {self.known.one if size == 1 else self.known.many} {way}"

    @property
    def told(self) -> str:
        """In words: `2 kernel launches fewer, 4 → 2`."""
        return f"{self.by}, {self.before:,} → {self.after:,}"


@dataclass(frozen=True)
class Turn:
    """What a release changed in the program of one workload: its counts, or whether there is a program at all.

    `saw` is what a device case shows, before and after. `moved` are the packages beside jax that have a say in it and
    moved as well: name, before and after.
    """

    workload: str
    before: Release
    after: Release
    changes: tuple[Change, ...] = ()
    lost: str = ""
    gained: str = ""
    saw: tuple[str, str] | None = None
    moved: tuple[tuple[str, str, str], ...] = ()

    @property
    def plain(self) -> str:
        """What it comes to, for somebody who has not read what the counts are: the first of them, in a sentence."""
        release = f"jax {self.after.jax}"
        if self.lost:
            return f"{release} does not compile this program, and {self.before.jax} did."
        if self.gained:
            return f"{release} compiles this program, and {self.before.jax} did not."
        if self.saw:
            return f"{release} shows {self.saw[1]} where {self.before.jax} shows {self.saw[0]}."
        first = self.changes[0]
        return f"{release} needs {first.by} for this program than {self.before.jax}."

    @property
    def told(self) -> str:
        """In a sentence, all of it."""
        what = "; ".join(each.told for each in self.changes)
        if self.saw:
            what = "; ".join(filter(None, (" → ".join(self.saw), what)))
        if self.lost:
            what = f"cannot be compiled any more: {self.lost}"
        if self.gained:
            what = f"can be compiled now; before: {self.gained}"
        along = ", ".join(f"{name} {old} → {new}" for name, old, new in self.moved)
        moved = f" ({along} came along)" if along else ""
        return f"jax {self.after.jax}, after {self.before.jax}: {self.workload}: {what}{moved}"


def turns(found: Programs) -> list[Turn]:
    """Every change between neighbouring releases, in their order; what was compiled of another source is not compared.

    A count that one of the two does not tell is no change. A device case has changed where it shows something else.
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
    saw = (old.seen, new.seen) if old.seen and new.seen and old.seen != new.seen else None
    other = saw if name in BY_PROGRAM else changes
    if other or bool(old.reason) != bool(new.reason):
        lost, gained = ("", "") if saw else (new.reason, "") if new.reason else ("", old.reason)
        yield Turn(name, before, after, changes, lost, gained, saw, moved)


def _changes(old: Program, new: Program) -> Iterator[Change]:
    for count in COUNTS:
        if count in old.counts and count in new.counts and old.counts[count] != new.counts[count]:
            yield Change(count, old.counts[count], new.counts[count])
