"""Changes of programs from one release to the next, in words. Pure. Counts have no noise, so every change is real."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from laboratory.programs.cases import BY_PROGRAM
from laboratory.programs.model import Program, Programs, ReleasePrograms, Workload
from laboratory.programs.targets import COUNTS, Count


@dataclass(frozen=True)
class Change:
    """A changed count of a program."""

    count: str
    before: int
    after: int

    @property
    def known(self) -> Count:
        """The description of the count."""
        return COUNTS[self.count]

    @property
    def by(self) -> str:
        """The difference: `2 fewer kernel launches`."""
        size, way = abs(self.after - self.before), "more" if self.after > self.before else "fewer"
        return f"{size:,} {way} {self.known.one if size == 1 else self.known.many}"

    @property
    def told(self) -> str:
        """The change: `2 fewer kernel launches, 4 → 2`."""
        return f"{self.by}, {self.before:,} → {self.after:,}"


@dataclass(frozen=True)
class ProgramTurn:
    """A release's change to a workload's program: its counts, or that it compiles or no longer compiles.

    `before` is the nearest earlier release with a program. `lost` is the reason why `after` has no program. `failed`
    has the releases in between that have none, and `gained` the reason why they had none. `saw` has a device case's
    behaviours, before and after. `moved` has the other packages that affect the program and moved as well: name, before
    and after.
    """

    workload: str
    before: ReleasePrograms
    after: ReleasePrograms
    changes: tuple[Change, ...] = ()
    lost: str = ""
    gained: str = ""
    failed: tuple[str, ...] = ()
    saw: tuple[str, str] | None = None
    moved: tuple[tuple[str, str, str], ...] = ()

    @property
    def plain(self) -> str:
        """The first change in a sentence, for a reader who does not know the counts."""
        release, before = f"jax {self.after.jax}", self.before.jax
        if self.lost:
            return f"{release} does not compile this program; {before} did."
        if self.saw:
            return f"{release} shows {self.saw[1]} where {before} shows {self.saw[0]}."
        if self.changes:
            return f"{release} needs {self.changes[0].by} for this program than {before}."
        return f"{release} compiles this program; {', '.join(self.failed) or before} did not."

    @property
    def told(self) -> str:
        """The whole change in a sentence."""
        parts = [" → ".join(self.saw)] if self.saw else []
        parts += [each.told for each in self.changes]
        if self.lost:
            parts = [f"cannot be compiled any more: {self.lost}"]
        if self.gained:
            failed = f"on {', '.join(self.failed)}" if self.failed else "before"
            parts.append(f"can be compiled now, but not {failed}: {self.gained}")
        along = ", ".join(f"{name} {old} → {new}" for name, old, new in self.moved)
        moved = f" ({along} came along)" if along else ""
        return f"jax {self.after.jax}, after {self.before.jax}: {self.workload}: {'; '.join(parts)}{moved}"


def turns(found: Programs) -> list[ProgramTurn]:
    """Return every change between neighbouring releases, in order; programs of different sources are not compared.

    A missing count is not a change. A device case changes if its behaviour does. After releases without a program, the
    next program is compared with the last one.
    """
    pairs = found.pairs()
    older = {after.cell: before for before, after in pairs}
    return [
        turn
        for before, after in pairs
        for name, workload in found.workloads.items()
        for turn in _turn(name, workload, before, after, older)
    ]


def _turn(
    name: str, workload: Workload, before: ReleasePrograms, after: ReleasePrograms, older: Mapping[str, ReleasePrograms]
) -> Iterator[ProgramTurn]:
    old, new = before.program(name), after.program(name)
    if not _alike(before, old, after, new) or old is None or new is None:
        return
    gained = "" if new.reason else old.reason
    failed: list[str] = []
    while gained and old and old.reason and before.cell in older:
        failed.insert(0, before.jax)
        before = older[before.cell]
        old = before.program(name)
    if not _alike(before, old, after, new) or old is None:
        return
    moved = tuple(
        (package, before.packages.get(package, "none"), after.packages.get(package, "none"))
        for package in workload.needs
        if before.packages.get(package) != after.packages.get(package)
    )
    changes = tuple(changed(old, new))
    saw = (old.seen, new.seen) if old.seen and new.seen and old.seen != new.seen else None
    lost = "" if old.reason else new.reason
    if saw:
        lost, gained = "", ""
    other = saw if name in BY_PROGRAM else changes
    if other or lost or gained:
        yield ProgramTurn(name, before, after, changes, lost, gained, tuple(failed), saw, moved)


def _alike(before: ReleasePrograms, old: Program | None, after: ReleasePrograms, new: Program | None) -> bool:
    """Return True if two releases have a program of the same source, compiled and counted alike."""
    return bool(old and new and old.source == new.source and before.recipe == after.recipe)


def changed(old: Program, new: Program) -> Iterator[Change]:
    """Yield each count that both programs have and that differs."""
    for count in COUNTS:
        if count in old.counts and count in new.counts and old.counts[count] != new.counts[count]:
            yield Change(count, old.counts[count], new.counts[count])
