"""matrix.toml × releases.json → the cells: which stacks to run, and why some cannot be had.

The one place where cells come from: the noxfile, the locks, the reports and CI all read `plan()`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Literal

from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags, platform_tags
from packaging.utils import parse_wheel_filename
from packaging.version import InvalidVersion, Version
from pydantic import Field

from suite import releases
from suite.files import STACK, BadFile, Fault, FileModel, Misused, read
from suite.releases import Snapshot

PATH = STACK / "matrix.toml"
TAGS = ("default", "line", "full")


class Line(FileModel):
    """The `[line]` table: jax releases that get a cell, what goes in `beside`, and which `nox -s compat` runs."""

    jax: list[str] = Field(min_length=1)
    beside: list[str]
    default: list[str] = Field(min_length=1)


class Matrix(FileModel):
    """matrix.toml."""

    schema_version: Literal[1]
    python: str = Field(pattern=r"^3\.\d+$")
    line: Line


@dataclass(frozen=True)
class Cell:
    """One fully pinned stack, before it is resolved.

    `requires` is what an installer is asked for, `as_of` the moment whose releases it may choose from, and
    `as_of_package` the packages whose wheels came later. `unavailable` is a reason code and a sentence, or None.
    """

    id: str
    kind: Literal["line", "arm"]
    python: str
    released_on: date
    requires: tuple[str, ...]
    as_of: datetime
    as_of_package: tuple[tuple[str, datetime], ...]
    tags: tuple[str, ...]
    unavailable: tuple[str, str] | None

    @property
    def lock_name(self) -> str:
        """The file name of this cell's lock."""
        return f"{self.id}.txt"


def plan(matrix: Matrix, releases: Snapshot) -> tuple[Cell, ...]:
    """The cells that `matrix` asks for, in version order of jax. Raises BadFile with every fault in the matrix."""
    known = releases.packages.get("jax", {})
    newest = max((version for version in known if known[version].yanked is None), key=Version, default="")
    faults: list[Fault] = []
    named: dict[str, list[str]] = {}
    for key in ("jax", "default"):
        listed = [newest if version == "newest" else version for version in getattr(matrix.line, key)]
        named[key] = listed
        for position, version in enumerate(listed):
            where = f"line.{key}.{position}"
            if not _is_version(version):
                faults.append(Fault(PATH, where, f"{version!r} is not a version"))
            elif version not in known:
                near = nearest(version, known)
                faults.append(Fault(PATH, where, f"releases.json has no jax {version}; {near}"))
            elif key == "default" and version not in named["jax"]:
                faults.append(Fault(PATH, where, f"{version} is not in line.jax"))
        for version in sorted({version for version in listed if listed.count(version) > 1}):
            faults.append(Fault(PATH, f"line.{key}", f"{version} stands there twice"))
    if faults:
        raise BadFile(faults)
    return tuple(
        _line_cell(version, matrix, releases, default=version in named["default"])
        for version in sorted(named["jax"], key=Version)
    )


@cache
def cells() -> tuple[Cell, ...]:
    """The cells planned from the files in the tree. Raises BadFile."""
    return plan(read(Matrix, PATH), releases.load())


def tagged(tag: str) -> tuple[Cell, ...]:
    """The cells with this tag, one of TAGS."""
    return tuple(each for each in cells() if tag in each.tags)


def cell(identifier: str) -> Cell:
    """The cell called `identifier`. Raises Misused with the nearest names."""
    found = {each.id: each for each in cells()}
    if identifier not in found:
        raise Misused(f"no cell {identifier!r}; {nearest(identifier, found)}")
    return found[identifier]


def nearest(name: str, names: Iterable[str]) -> str:
    """A phrase that offers the names closest to a mistaken one."""
    known = list(names)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or known[:3]
    return f"the nearest are {', '.join(close)}" if close else "there are none"


def _line_cell(version: str, matrix: Matrix, releases: Snapshot, *, default: bool) -> Cell:
    release = releases.packages["jax"][version]
    jaxlib, unavailable = _jaxlib_of(version, matrix.python, releases)
    released = _day_after(release.uploaded)
    late = [("jaxlib", _day_after(jaxlib))] if jaxlib and _day_after(jaxlib) > released else []
    return Cell(
        id=f"jax-{version}",
        kind="line",
        python=matrix.python,
        released_on=release.uploaded.date(),
        requires=(f"jax[cpu]=={version}", "equinox", "diffrax", *matrix.line.beside),
        as_of=released,
        as_of_package=tuple(late),
        tags=("full", "line", "default") if default else ("full", "line"),
        unavailable=unavailable,
    )


def _jaxlib_of(version: str, python: str, releases: Snapshot) -> tuple[datetime | None, tuple[str, str] | None]:
    """When every wheel of the jaxlib of this jax was there, or why it cannot be installed here."""
    release = releases.packages["jax"][version]
    if release.yanked is not None:
        return None, ("plan.yanked", f"jax {version} was yanked: {release.yanked or 'no reason given'}")
    if not _admits(release.requires_python, python):
        return None, ("plan.excludes", f"jax {version} requires Python {release.requires_python}")
    there = {"extra": "cpu", "python_version": python, "python_full_version": f"{python}.0"}
    wanted = [
        requirement
        for requirement in map(Requirement, (text for text in release.requires_dist if text.startswith("jaxlib")))
        if requirement.name == "jaxlib" and (not requirement.marker or requirement.marker.evaluate(there))
    ]
    candidates = [
        candidate
        for candidate, jaxlib in releases.packages["jaxlib"].items()
        if jaxlib.yanked is None and all(candidate in requirement.specifier for requirement in wanted)
    ]
    if not candidates:
        return None, ("plan.no-release", f"the index has no jaxlib that jax {version} accepts")
    jaxlib = max(candidates, key=Version)
    wheels = releases.packages["jaxlib"][jaxlib].wheels
    if all(_tags_here(python).isdisjoint(parse_wheel_filename(name)[3]) for name in wheels):
        return None, ("plan.no-wheel", f"jaxlib {jaxlib} has no wheel for CPython {python} on this platform")
    # The last of all platforms' wheels: the lock must not depend on the machine it is made on.
    return max(wheels.values()), None


@cache
def _tags_here(python: str) -> frozenset[Tag]:
    version = tuple(map(int, python.split(".")))
    platforms = list(platform_tags())
    return frozenset([*cpython_tags(version, platforms=platforms), *compatible_tags(version, platforms=platforms)])


def _admits(requires_python: str, python: str) -> bool:
    return not requires_python or Requirement(f"python{requires_python}").specifier.contains(f"{python}.0")


def _day_after(moment: datetime) -> datetime:
    """The midnight that ends the day of `moment`: what was uploaded on that day is in, and nothing later."""
    return datetime.combine(moment.astimezone(UTC).date() + timedelta(days=1), time(), UTC)


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True
