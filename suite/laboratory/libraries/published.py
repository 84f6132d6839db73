"""The published file libraries.json: for each release of a library, what it does beside each release of a package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from jax_stack_compat.base.files import dump_lines
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.libraries import judge
from jax_stack_compat.libraries.known import BETWEEN, EXCLUDED, PATH, RUN, Beside
from jax_stack_compat.packages import PACKAGES
from laboratory.libraries import offered, records, stacks, table
from laboratory.libraries.plan import PACKAGES as BESIDE
from laboratory.libraries.plan import Course, courses
from laboratory.libraries.records import Record


def publish() -> int:
    """Pack the records of the plan, and write what they show; return their number. Raises BadFile, OSError."""
    by_release: dict[tuple[str, str], list[Course]] = {}
    for course in courses():
        by_release.setdefault((course.library, course.release), []).append(course)
    found: list[Record] = []
    shown: dict[Beside, int] = {}
    libraries: dict[str, dict[str, Any]] = {}
    for (library, release), of in by_release.items():
        of_release = [record for course in of for pair in course.pairs if (record := records.find(pair))]
        found += of_release
        seen = judge.shown([record.ran for record in of_release], table.module(library))
        beside = {course.package: _course(course, seen) for course in of}
        row = libraries.setdefault(library, _head(library))
        row["releases"][release] = {
            "day": f"{offered.load().libraries[library][release].uploaded:%Y-%m-%d}",
            "requires": _requires(library, release),
            "beside": {
                package: {version: shown.setdefault(one, len(shown)) for version, one in rows.items()}
                for package, rows in beside.items()
            },
        }
    records.pack(found)
    data = {
        "schema_version": 1,
        "taken_at": f"{offered.load().taken_at:%Y-%m-%d}",
        "shown": [_lean(one) for one in shown],
        "libraries": libraries,
    }
    write(PATH, dump_lines(data, {"shown": ""}))
    return len(found)


def _head(library: str) -> dict[str, Any]:
    return {"module": table.module(library), "task": table.load()[library].task, "releases": {}}


def _lean(beside: Beside) -> Mapping[str, Any]:
    return {name: value for name, value in asdict(beside).items() if value}


def _course(course: Course, seen: Mapping[tuple[str, str], judge.Shown]) -> Mapping[str, Beside]:
    """Return what a course shows, by version; a release between two that agree does the same."""
    rows: dict[str, Beside] = {}
    waiting: list[str] = []
    before: judge.Shown | None = None
    for pair in course.pairs:
        if why := stacks.excluded(pair):
            rows[pair.version] = Beside(EXCLUDED, "declared", error=why)
            continue
        here = seen.get((pair.package, pair.version))
        if here is None:
            waiting.append(pair.version)
            continue
        if before is not None and before.behaviour == here.behaviour:
            rows |= {version: Beside(**{**asdict(here), "how": BETWEEN}) for version in waiting}
        rows[pair.version] = Beside(**{**asdict(here), "how": RUN})
        waiting, before = [], here
    return {pair.version: rows[pair.version] for pair in course.pairs if pair.version in rows}


def _requires(library: str, release: str) -> Mapping[str, str]:
    """Return what a release requires of the stack and of the packages beside which it runs."""
    wanted = map(Requirement, offered.load().libraries[library][release].requires_dist)
    named: dict[str, Sequence[str]] = {}
    for one in wanted:
        name = canonicalize_name(one.name)
        if name in {*PACKAGES, *BESIDE} and one.marker is None:
            named[name] = [*named.get(name, ()), str(one.specifier)]
    return {name: ",".join(filter(None, specifiers)) for name, specifiers in named.items()}
