"""The published file libraries.json: for each release of a library, what it does beside each release of a package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from jax_stack_compat.base.files import dump_lines
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.libraries import judge
from jax_stack_compat.libraries.known import BETWEEN, DECLARED, EXCLUDED, PATH, RUN, WORKS, Beside
from jax_stack_compat.packages import BESIDE_LIBRARIES, PACKAGES
from laboratory.libraries import offered, records, stacks, table
from laboratory.libraries.imported import Imported, MissingSpan, imported, lacking
from laboratory.libraries.plan import Course, courses, minors
from laboratory.libraries.records import LibraryRecord

Shown = Mapping[tuple[str, str, bool], Beside]
_FAILS = ("does-not-import", "crashes")


@dataclass(frozen=True)
class PublishedCounts:
    """The number of published records, and of those beside jax: compared with the names, and as these tell."""

    records: int
    agreed: int
    compared: int

    @property
    def told(self) -> str:
        """The counts, in words."""
        return f"{self.records} records; the names that imports need tell {self.agreed} of {self.compared} runs"


def publish() -> PublishedCounts:
    """Pack the records of the plan, and write what they show. Raises Failed, BadFile, OSError."""
    by_release: dict[tuple[str, str], list[Course]] = {}
    for course in courses():
        by_release.setdefault((course.library, course.release), []).append(course)
    found: list[LibraryRecord] = []
    shown: dict[Beside, int] = {}
    libraries: dict[str, dict[str, Any]] = {}
    agreed = compared = 0
    for (library, release), of in by_release.items():
        every = [records.find(pair, held=held) for course in of for pair in course.pairs for held in (False, True)]
        of_release = [record for record in every if record]
        found += of_release
        seen = judge.shown([record.ran for record in of_release], table.module(library))
        beside = {course.package: _course(course, seen) for course in of}
        names = imported(library, release)
        for record in of_release:
            told = _agrees(record, names, seen)
            compared += told is not None
            agreed += told is True
        row = libraries.setdefault(library, _head(library))
        row["releases"][release] = {
            "day": f"{offered.load().libraries[library][release].uploaded:%Y-%m-%d}",
            "requires": _requires(library, release),
            "imported": _imported(names, beside["jax"]),
            "beside": {
                package: {version: shown.setdefault(one, len(shown)) for version, one in rows.items()}
                for package, rows in beside.items()
            },
        }
    records.pack(found)
    data = {
        "schema_version": 1,
        "taken_at": f"{offered.load().taken_at:%Y-%m-%d}",
        "packages": {package: minors(package) for package in BESIDE_LIBRARIES},
        "shown": [_lean(one) for one in shown],
        "libraries": libraries,
    }
    write(PATH, dump_lines(data, {"shown": ""}))
    return PublishedCounts(len(found), agreed, compared)


def _imported(names: Imported, beside: Mapping[str, Beside]) -> Mapping[str, Any]:
    spans = [one.model_copy(update={"refuted": _is_refuted(one, beside)}) for one in names.missing]
    return Imported(missing=tuple(spans), unread=names.unread, names=names.names).model_dump(exclude_defaults=True)


def _is_refuted(missing: MissingSpan, beside: Mapping[str, Beside]) -> bool:
    """Return True if a run imported the library beside a jax that is said to lack a name."""
    ran = [version for version, one in beside.items() if one.how == RUN and one.behaviour not in _FAILS]
    return any(Version(missing.first) <= Version(version) <= Version(missing.last) for version in ran)


def _agrees(record: LibraryRecord, names: Imported, seen: Shown) -> bool | None:
    """Return True if the names tell of a record's import what the run showed; None if they tell nothing of it."""
    if record.conflict or names.unread or record.package != "jax":
        return None
    does_import = seen[record.package, record.version, record.held].behaviour not in _FAILS
    return does_import == (lacking(names, record.version) is None)


def _head(library: str) -> dict[str, Any]:
    return {"module": table.module(library), "task": table.load()[library].task, "releases": {}}


def _lean(beside: Beside) -> Mapping[str, Any]:
    return {name: value for name, value in asdict(beside).items() if value}


def _course(course: Course, seen: Shown) -> Mapping[str, Beside]:
    """Return what a course shows, by version; a release between two that agree does the same."""
    rows: dict[str, Beside] = {}
    waiting: list[str] = []
    before: Beside | None = None
    for pair in course.pairs:
        fresh = seen.get((pair.package, pair.version, False))
        if stacks.excluded(pair):
            rows[pair.version] = Beside(EXCLUDED, DECLARED)
        elif fresh is not None and fresh.behaviour == "unavailable":
            continue
        elif fresh is None:
            waiting.append(pair.version)
        else:
            here = _beside(fresh, seen.get((pair.package, pair.version, True)))
            if before is not None and _agree(before, here):
                shown = replace(here, how=BETWEEN, held=before.held or here.held)
                rows |= {version: shown for version in waiting if shown.behaviour != WORKS or not course.lacks(version)}
            rows[pair.version] = here
            waiting, before = [], here
    return {pair.version: rows[pair.version] for pair in course.pairs if pair.version in rows}


def _beside(fresh: Beside, held: Beside | None) -> Beside:
    """Return what a pair shows: it works if it does so with other packages held."""
    if held is not None and held.behaviour == WORKS:
        return Beside(WORKS, RUN, error=fresh.error, place=fresh.place, by=fresh.by, held=True)
    return fresh


def _agree(before: Beside, after: Beside) -> bool:
    """Return True if two results are the same for the same reason."""
    if before.behaviour != after.behaviour:
        return False
    return before.behaviour == WORKS or _reason(before) == _reason(after)


def _reason(beside: Beside) -> tuple[object, ...]:
    return beside.needs or beside.error, beside.by, beside.modules


def _requires(library: str, release: str) -> Mapping[str, str]:
    """Return what a release requires of the stack and of the packages beside which it runs."""
    wanted = map(Requirement, offered.load().libraries[library][release].requires_dist)
    named: dict[str, Sequence[str]] = {}
    for one in wanted:
        name = canonicalize_name(one.name)
        if name in {*PACKAGES, *BESIDE_LIBRARIES} and one.marker is None:
            named[name] = [*named.get(name, ()), str(one.specifier)]
    return {name: ",".join(filter(None, specifiers)) for name, specifiers in named.items()}
