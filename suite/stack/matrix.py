"""matrix.toml: what to cover, as a few lines of algebra over the releases in releases.json.

`[line]` names packages, each release of which gets a cell. Each `[[arms]]` multiplies the stacks in `times` by every
release that `along` admits, less what `except` takes away: a question that people ask, as cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version
from pydantic import Field

from suite.errors import Fault, nearest
from suite.files import STACK, FileModel
from suite.stack.releases import Snapshot

PATH = STACK / "matrix.toml"
NEWEST = "newest"

Moving = Literal["jax", "equinox", "diffrax"]
MOVING: tuple[Moving, ...] = ("jax", "equinox", "diffrax")
Stack = Mapping[Moving, str]
Device = Literal["cpu", "gpu", "tpu"]


class Line(FileModel):
    """The `[line]` table: whose releases get a cell, what goes in `beside`, and which `nox -s compat` runs."""

    releases: list[str] = Field(min_length=1)
    beside: list[str]
    default: list[str] = Field(min_length=1)


class Arm(FileModel):
    """One of `[[arms]]`: every stack of `times` with every release of `along`, but not those that `except` describes.

    `excluded`: whether a cell that the packages' own metadata excludes is tried all the same, or stands as a conflict.
    `device`: what its cells are built for and run on.
    """

    asks: str
    times: list[dict[Moving, str]] = Field(min_length=1)
    along: str
    excepting: list[list[str]] = Field(default=[], alias="except")
    excluded: Literal["try", "leave"] = "leave"
    device: Device = "cpu"


class Matrix(FileModel):
    """matrix.toml."""

    schema_version: Literal[1]
    python: str = Field(pattern=r"^3\.\d+$")
    line: Line
    arms: list[Arm] = Field(default=[])


def line(matrix: Matrix, offered: Snapshot, faults: list[Fault]) -> list[tuple[Moving, str]]:
    """The package and version of each line cell, yanked ones among them; what is wrong goes into `faults`."""
    found: list[tuple[Moving, str]] = []
    for position, text in enumerate(matrix.line.releases):
        found += _admitted(text, offered, f"line.releases.{position}", faults, yanked=True)
    for name, version in sorted({each for each in found if found.count(each) > 1}):
        faults.append(Fault(PATH, "line.releases", f"{name} {version} is asked for twice"))
    return found


def default(matrix: Matrix, offered: Snapshot, on_line: Iterable[tuple[Moving, str]], faults: list[Fault]) -> set[str]:
    """The versions of jax that `nox -s compat` runs."""
    jaxes = [version for name, version in on_line if name == "jax"]
    found: list[str] = []
    for position, text in enumerate(matrix.line.default):
        key = f"line.default.{position}"
        version = _version("jax", text, offered, key, faults)
        if version is not None and version not in jaxes:
            faults.append(Fault(PATH, key, f"jax {version} is not among line.releases"))
        elif version in found:
            faults.append(Fault(PATH, "line.default", f"{version} stands there twice"))
        elif version is not None:
            found.append(version)
    return set(found)


def arms(matrix: Matrix, offered: Snapshot, faults: list[Fault]) -> list[tuple[Stack, Moving, Arm]]:
    """What each cell of the arms holds, which package moves in it, and the arm that asks for it."""
    found: list[tuple[Stack, Moving, Arm]] = []
    for number, arm in enumerate(matrix.arms):
        key = f"arms.{number}"
        along = _admitted(arm.along, offered, f"{key}.along", faults, yanked=False)
        stacks = []
        for position, stack in enumerate(arm.times):
            where = f"{key}.times.{position}"
            pinned = {name: _version(name, text, offered, f"{where}.{name}", faults) for name, text in stack.items()}
            if along and along[0][0] in pinned:
                faults.append(Fault(PATH, where, f"{along[0][0]} is held here and moved by along"))
            stacks.append({name: version for name, version in pinned.items() if version is not None})
        excepting = [
            [_requirement(text, f"{key}.except.{position}", faults) for text in texts]
            for position, texts in enumerate(arm.excepting)
        ]
        for stack in stacks:
            for moves, version in along:
                holds = {name: each for name in MOVING if (each := {**stack, moves: version}.get(name)) is not None}
                if not any(_describes(requirements, holds) for requirements in excepting):
                    found.append((holds, moves, arm))
    return found


def _describes(requirements: Iterable[Requirement | None], holds: Mapping[Moving, str]) -> bool:
    held: dict[str, str] = {str(name): version for name, version in holds.items()}
    return all(each is not None and each.name in held and held[each.name] in each.specifier for each in requirements)


def _admitted(text: str, offered: Snapshot, key: str, faults: list[Fault], *, yanked: bool) -> list[tuple[Moving, str]]:
    """The releases that the requirement `text` admits, in version order."""
    requirement = _requirement(text, key, faults)
    if requirement is None:
        return []
    name = next(name for name in MOVING if name == requirement.name)
    there = offered.packages.get(name, {})
    admitted = [
        version
        for version in sorted(there, key=Version)
        if version in requirement.specifier and (yanked or there[version].yanked is None)
    ]
    if not admitted:
        faults.append(Fault(PATH, key, f"releases.json has no {text}"))
    return [(name, version) for version in admitted]


def _requirement(text: str, key: str, faults: list[Fault]) -> Requirement | None:
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        faults.append(Fault(PATH, key, str(error).splitlines()[0]))
        return None
    if requirement.name not in MOVING:
        faults.append(Fault(PATH, key, f"{requirement.name!r} is not one of {', '.join(MOVING)}"))
        return None
    return requirement


def _version(name: Moving, text: str, offered: Snapshot, key: str, faults: list[Fault]) -> str | None:
    there = offered.packages.get(name, {})
    if text == NEWEST:
        found = [version for version, release in there.items() if release.yanked is None]
        if not found:
            faults.append(Fault(PATH, key, f"releases.json has no {name} that was not yanked"))
        return max(found, key=Version, default=None)
    try:
        Version(text)
    except InvalidVersion:
        faults.append(Fault(PATH, key, f"{text!r} is not a version"))
        return None
    if text not in there:
        faults.append(Fault(PATH, key, f"releases.json has no {name} {text}; {nearest(text, there)}"))
        return None
    return text
