"""The plan: the releases of each library, and the releases of packages beside which they run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from jax_stack_compat.libraries.judge import needed
from jax_stack_compat.packages import BESIDE_LIBRARIES
from jax_stack_compat.stack import releases
from laboratory.libraries import offered, records, stacks
from laboratory.libraries.imported import imported, lacking
from laboratory.libraries.records import LibraryRecord
from laboratory.libraries.search import next_place
from laboratory.libraries.stacks import LibraryPair


@dataclass(frozen=True)
class Course:
    """A release of a library along the releases of a package."""

    library: str
    release: str
    package: str

    @cached_property
    def pairs(self) -> list[LibraryPair]:
        """The pairs, in version order."""
        versions = [*self._before(minors(self.package)), *minors(self.package)]
        return [LibraryPair(self.library, self.release, self.package, version) for version in versions]

    def next_pair(self, *, every: bool) -> LibraryPair | None:
        """Return the next pair to run; None if no run would tell more, or with `every`, if all ran. Raises BadFile."""
        admitted = [place for place, pair in enumerate(self.pairs) if not stacks.excluded(pair)]
        seen = [outcome(records.find(pair)) for pair in self.pairs]
        place = next_place(seen, admitted, self._own())
        if place is None:
            left = [place for place in admitted if seen[place] is None]
            place = next((place for place in left if every or self.lacks(self.pairs[place].version)), None)
        return None if place is None else self.pairs[place]

    def lacks(self, version: str) -> bool:
        """Return True if the names at the import tell that the library fails there, so that a run must decide."""
        return self.package == "jax" and lacking(imported(self.library, self.release), version) is not None

    def next_held(self) -> tuple[LibraryPair, Mapping[str, str]] | None:
        """Return the next pair to run with other packages held, and the versions to keep; None if there is none.

        A library that fails may do so for another package, which also moved. So the other packages stay as in the
        nearest stack that works, unless a missing name of jax tells the cause. Raises BadFile.
        """
        known = [(pair, record) for pair in self.pairs if (record := records.find(pair)) and record.is_telling]
        working = [place for place, (_, record) in enumerate(known) if not _fails(record)]
        for place, (pair, record) in enumerate(known):
            is_told = self.package == "jax" and _fails(record) and is_of_jax(record)
            if not _fails(record) or is_told or not working or records.find(pair, held=True):
                continue
            near = known[min(working, key=lambda other: abs(other - place))][1]
            moved = {self.package, "jaxlib"} if self.package == "jax" else {self.package}
            return pair, {name: version for name, version in near.pins.items() if name not in moved}
        return None

    def _before(self, versions: Sequence[str]) -> Iterator[str]:
        """Yield the newest jax of the library's own day, if it is older than all that run.

        Without it, a task that jax broke before its oldest release here could not be told from one that never worked.
        """
        uploads = releases.load().packages[self.package]
        day = offered.load().libraries[self.library][self.release].uploaded
        if self.package == "jax" and day < uploads[versions[0]].uploaded:
            older = [version for version in releases.load().versions("jax") if uploads[version].uploaded <= day]
            yield from older[-1:]

    def _own(self) -> int:
        """Return the place of the newest release of the library's own day."""
        day = offered.load().libraries[self.library][self.release].uploaded
        uploads = releases.load().packages[self.package]
        older = [place for place, pair in enumerate(self.pairs) if uploads[pair.version].uploaded <= day]
        return max(older, default=0)


def _fails(record: LibraryRecord) -> bool:
    failures = [failure for failure in record.failures if not failure.lacks]
    return bool(failures or record.task or record.ended)


def is_of_jax(record: LibraryRecord) -> bool:
    """Return True if a missing name of jax or jaxlib is the first thing that fails."""
    failures = [failure for failure in record.failures if not failure.lacks]
    first = failures[0] if failures else record.task
    return first is not None and needed(first.error).partition(".")[0] in ("jax", "jaxlib")


def minors(package: str) -> list[str]:
    """Return the releases of a package beside which libraries run: the newest of each minor series. Raises BadFile."""
    return stacks.newest_minors(package, offered.load().taken_at - offered.WINDOW)


def outcome(record: LibraryRecord | None) -> tuple[object, ...] | None:
    """Return what a record shows, to compare it with another; None without a record."""
    if record is None:
        return None
    broken = frozenset(failure.name for failure in record.failures if not failure.lacks)
    first = next((failure.error for failure in record.failures if not failure.lacks), "")
    return record.is_telling, broken, record.task is not None, record.ended, needed(first)


def courses(libraries: Iterable[str] = ()) -> Iterator[Course]:
    """Yield the courses of these libraries, or of all. Raises BadFile."""
    wanted = frozenset(libraries)
    for library, of in offered.load().libraries.items():
        if wanted and library not in wanted:
            continue
        for release, found in of.items():
            required = _required(found.requires_dist)
            for package in BESIDE_LIBRARIES:
                if package != library and (package == "jax" or package in required):
                    yield Course(library, release, package)


def _required(lines: Sequence[str]) -> frozenset[str]:
    wanted = map(Requirement, lines)
    return frozenset(canonicalize_name(one.name) for one in wanted if releases.applies(one, "3.12", ""))
