"""matrix.toml: what to cover, as a few lines of algebra over the releases in releases.json.

`[line]` names packages, each release of which gets a cell. Each `[[arms]]` multiplies the stacks in `times` by every
release that `along` admits, less what `except` takes away: a question that people ask, as cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version
from pydantic import Field

from suite.errors import Fault, nearest
from suite.files import STACK, FileModel
from suite.stack.releases import AXES, PACKAGES, Device, Snapshot

PATH = STACK / "matrix.toml"
NEWEST = "newest"
EACH_MINOR = "newest of each minor"

# What is run in a cell: row zero alone, the cases that need a library as well, or every case.
Runs = Literal["row-zero", "libraries", "all"]


class Line(FileModel):
    """The `[line]` table: whose releases get a cell, what goes in `beside`, and which `nox -s compat` runs."""

    releases: list[str] = Field(min_length=1)
    beside: list[str]
    default: list[str] = Field(min_length=1)


class Arm(FileModel):
    """One of `[[arms]]`: every stack of `times` with every release of `along`, but not those that `except` describes.

    `excluded`: whether a cell that the packages' own metadata excludes is tried all the same, or stands as a conflict.
    `as_of`: what a cell does not hold is as of the day of its last release, or as of the day of the snapshot.
    `run`: what is run in its cells. `device`: what they are built for and run on.
    """

    asks: str
    times: list[dict[str, str]] = Field(min_length=1)
    along: str
    excepting: list[list[str]] = Field(default=[], alias="except")
    excluded: Literal["try", "leave"] = "leave"
    as_of: Literal["release", "snapshot"] = "release"
    # What jax does without the libraries, its own release's cell shows.
    run: Runs = "libraries"
    device: Device = "cpu"


class Matrix(FileModel):
    """matrix.toml."""

    schema_version: Literal[1]
    python: str = Field(pattern=r"^3\.\d+$")
    line: Line
    arms: list[Arm] = Field(default=[])


def line(matrix: Matrix, offered: Snapshot, faults: list[Fault]) -> list[tuple[str, str]]:
    """The package and version of each line cell, yanked ones among them; what is wrong goes into `faults`."""
    found: list[tuple[str, str]] = []
    for position, text in enumerate(matrix.line.releases):
        key = f"line.releases.{position}"
        admitted = _admitted(text, offered, key, faults, yanked=True)
        if any(name not in PACKAGES for name, _ in admitted):
            faults.append(Fault(PATH, key, "the line is of one interpreter, and an arm moves along others"))
        found += admitted
    for name, version in sorted({each for each in found if found.count(each) > 1}):
        faults.append(Fault(PATH, "line.releases", f"{name} {version} is asked for twice"))
    return found


def default(matrix: Matrix, offered: Snapshot, on_line: Iterable[tuple[str, str]], faults: list[Fault]) -> set[str]:
    """The versions of jax that `nox -s compat` runs."""
    jaxes = [version for name, version in on_line if name == "jax"]
    found: list[str] = []
    for position, text in enumerate(matrix.line.default):
        key = f"line.default.{position}"
        for version in _versions("jax", text, offered, key, faults):
            if version not in jaxes:
                faults.append(Fault(PATH, key, f"jax {version} is not among line.releases"))
            elif version in found:
                faults.append(Fault(PATH, "line.default", f"{version} stands there twice"))
            else:
                found.append(version)
    return set(found)


def arms(matrix: Matrix, offered: Snapshot, faults: list[Fault]) -> list[tuple[Mapping[str, str], str, Arm]]:
    """What each cell of the arms holds, which of it moves, and the arm that asks for it."""
    found: list[tuple[Mapping[str, str], str, Arm]] = []
    for number, arm in enumerate(matrix.arms):
        key = f"arms.{number}"
        along = _admitted(arm.along, offered, f"{key}.along", faults, yanked=False)
        stacks: list[dict[str, str]] = []
        for position, stack in enumerate(arm.times):
            where = f"{key}.times.{position}"
            if along and along[0][0] in stack:
                faults.append(Fault(PATH, where, f"{along[0][0]} is held here and moved by along"))
            if along and PACKAGES.keys().isdisjoint([along[0][0], *stack]):
                faults.append(Fault(PATH, where, "no package is held here, and none moves"))
            each = [_versions(name, text, offered, f"{where}.{name}", faults) for name, text in stack.items()]
            stacks += [dict(zip(stack, versions, strict=True)) for versions in product(*each)]
        excepting = [
            [_requirement(text, f"{key}.except.{position}", faults) for text in texts]
            for position, texts in enumerate(arm.excepting)
        ]
        for stack in stacks:
            for moves, version in along:
                holds = {**stack, moves: version}
                if not any(_describes(requirements, holds) for requirements in excepting):
                    found.append((holds, moves, arm))
    return found


def _describes(requirements: Iterable[Requirement | None], held: Mapping[str, str]) -> bool:
    return all(each is not None and each.name in held and held[each.name] in each.specifier for each in requirements)


def _admitted(text: str, offered: Snapshot, key: str, faults: list[Fault], *, yanked: bool) -> list[tuple[str, str]]:
    """The releases that the requirement `text` admits, in version order."""
    requirement = _requirement(text, key, faults)
    if requirement is None:
        return []
    there = offered.versions(requirement.name, yanked=yanked)
    admitted = [(requirement.name, version) for version in there if version in requirement.specifier]
    if not admitted:
        faults.append(Fault(PATH, key, f"releases.json has no {text}"))
    return admitted


def _requirement(text: str, key: str, faults: list[Fault]) -> Requirement | None:
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        faults.append(Fault(PATH, key, str(error).splitlines()[0]))
        return None
    return requirement if _is_axis(requirement.name, key, faults) else None


def _is_axis(name: str, key: str, faults: list[Fault]) -> bool:
    if name not in AXES:
        faults.append(Fault(PATH, key, f"{name!r} is not one of {', '.join(AXES)}"))
    return name in AXES


def _versions(name: str, text: str, offered: Snapshot, key: str, faults: list[Fault]) -> list[str]:
    """The releases of `name` that `text` means: a version, `newest`, or `newest of each minor`."""
    if not _is_axis(name, key, faults):
        return []
    if text in (NEWEST, EACH_MINOR):
        found = offered.versions(name)
        if not found:
            faults.append(Fault(PATH, key, f"releases.json has no {name} that was not yanked"))
        by_minor = {Version(each).release[:2]: each for each in found}
        return [*by_minor.values()] if text == EACH_MINOR else [*found[-1:]]
    there = offered.versions(name, yanked=True)
    try:
        Version(text)
    except InvalidVersion:
        faults.append(Fault(PATH, key, f"{text!r} is not a version"))
        return []
    if text not in there:
        faults.append(Fault(PATH, key, f"releases.json has no {name} {text}; {nearest(text, there)}"))
        return []
    return [text]
