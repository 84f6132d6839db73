"""What is known of libraries beside releases of the stack: run, between two runs that agree, or by names. Pure.

The file libraries.json is read without pydantic, to start fast. A clone has it in the published report; a wheel has it
beside this module.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from jax_stack_compat.base.errors import usable
from jax_stack_compat.names import query
from jax_stack_compat.names.presence import lacks

_CARRIED = Path(__file__).with_name("libraries.json")
_PUBLISHED = Path(__file__).parents[3] / "reports" / "published" / "libraries.json"
PATH = _CARRIED if _CARRIED.exists() else _PUBLISHED
_MADE_BY = "nox -s libraries"
WORKS, EXCLUDED = "works", "excluded"
# How a result is known.
RUN, BETWEEN, BY_NAMES, DECLARED = "run", "between two runs that agree", "by names", "declared"


@dataclass(frozen=True)
class Beside:
    """What a release of a library does beside a release of a package, and `how` that is known.

    `behaviour` is "works", "imports" (its task works nowhere), "does-not-import", "without-modules", "task-fails",
    "crashes", "excluded" or "unavailable" (not published). `error` is the
    first failure, `needs` the name that it lacks, `place` the line of code, `by` the other package that has this line,
    and `modules` are the modules that do not import. With `held`, it works if other packages stay as in an older stack,
    and `error` is the failure without that.
    """

    behaviour: str
    how: str
    error: str = ""
    needs: str = ""
    place: str = ""
    by: str = ""
    modules: tuple[str, ...] = ()
    held: bool = False


@dataclass(frozen=True)
class MissingName:
    """Releases of jax, from `first` to `last`, that lack a name which an import needs, and the line that uses it."""

    first: str
    last: str
    name: str
    place: str


@dataclass(frozen=True)
class KnownRelease:
    """A release of a library: its day, its requirements on the stack, and what it does, by package and version.

    `missing` are the names that its import needs and that releases of jax lack, read from its wheel.
    """

    day: str
    requires: Mapping[str, str]
    beside: Mapping[str, Mapping[str, Beside]]
    missing: tuple[MissingName, ...] = ()


@dataclass(frozen=True)
class KnownLibrary:
    """A library: its import name, its task, and its releases that were run, oldest first."""

    module: str
    task: str
    releases: Mapping[str, KnownRelease]


@cache
def load() -> Mapping[str, KnownLibrary]:
    """Return the libraries, by distribution. Raises BadFile."""
    data = _data()
    with usable(PATH, _MADE_BY):
        shown = [_shown(row) for row in data["shown"]]
        return {name: _library(row, shown) for name, row in data["libraries"].items()}


def day() -> str:
    """Return the day as of which the libraries' releases were read, as `2026-11-28`. Raises BadFile."""
    return str(_data()["taken_at"])


@cache
def _data() -> Mapping[str, Any]:
    with usable(PATH, _MADE_BY):
        return dict(json.loads(PATH.read_text(encoding="utf-8")))


def _shown(row: Mapping[str, Any]) -> Beside:
    return Beside(**{**row, "modules": tuple(row.get("modules", ()))})


def _library(row: Mapping[str, Any], shown: list[Beside]) -> KnownLibrary:
    releases = {}
    for version, of in row["releases"].items():
        beside = {package: _course(places, shown) for package, places in of["beside"].items()}
        spans = of["imported"].get("missing", ())
        missing = tuple(MissingName(**one) for one in spans if not one.get("refuted"))
        releases[version] = KnownRelease(of["day"], of["requires"], beside, missing)
    return KnownLibrary(row["module"], row["task"], releases)


def _course(places: Mapping[str, int], shown: list[Beside]) -> Mapping[str, Beside]:
    return {version: shown[place] for version, place in places.items()}


def spelled(library: str, version: str) -> str:
    """Return a version as the library's release spells it; empty if it was not run. Raises BadFile."""
    known = load().get(library)
    if known is None or not version:
        return ""
    try:
        return next((release for release in known.releases if Version(release) == Version(version)), "")
    except InvalidVersion:
        return ""


def versions(package: str) -> list[str]:
    """Return the releases of a package beside which libraries ran, oldest first. Raises BadFile."""
    return list(_data()["packages"][package])


def has(library: str, version: str) -> bool:
    """Return True if a release of a library was run beside a release of jax. Raises BadFile."""
    release = spelled(library, version)
    return bool(release) and bool(load()[library].releases[release].beside.get("jax"))


def found(release: KnownRelease, package: str, version: str) -> Beside | None:
    """Return what a release of a library does beside a release of a package; None if nothing tells."""
    course = release.beside.get(package, {})
    if version in course:
        return course[version]
    if not SpecifierSet(release.requires.get(package, "")).contains(version, prereleases=True):
        return Beside(EXCLUDED, DECLARED)
    below = [other for other in course if Version(other) < Version(version)]
    above = [other for other in course if Version(other) > Version(version)]
    near = [course[others[place]] for others, place in ((below, -1), (above, 0)) if others]
    near = [beside for beside in near if beside.behaviour != EXCLUDED]
    lacking = [*_by_wheel(release, package, version), *_missing(near, version)]
    if lacking:
        return lacking[0]
    if len(near) < 2:
        return None
    kinds = {beside.behaviour for beside in near}
    if kinds == {WORKS}:
        return Beside(WORKS, BETWEEN)
    # The name whose lack stops the neighbour is there.
    if WORKS in kinds and all(beside.needs for beside in near if beside.behaviour != WORKS):
        return Beside(WORKS, BY_NAMES)
    return None


def _by_wheel(release: KnownRelease, package: str, version: str) -> Iterator[Beside]:
    """Yield the name that the import needs and that a release of jax lacks."""
    here = Version(version)
    for one in release.missing if package == "jax" else ():
        if Version(one.first) <= here <= Version(one.last):
            yield Beside("does-not-import", BY_NAMES, needs=one.name, place=one.place)


def _missing(near: list[Beside], version: str) -> Iterator[Beside]:
    """Yield the neighbours that lack a name which this version lacks, too."""
    for beside in near:
        if beside.needs and query.is_known(beside.needs.partition(".")[0]) and lacks(beside.needs, version):
            yield replace(beside, how=BY_NAMES)


def last_with(name: str, version: str) -> str:
    """Return the last release before `version` that had a name, as `jax 0.6.2`; empty if none had it."""
    package = name.partition(".")[0]
    if not query.is_known(package):
        return ""
    life = query.life(name) or query.module_life(name)
    older = [last for _, last in life if Version(last) < Version(version)]
    return f"{package} {older[-1]}" if older else ""
