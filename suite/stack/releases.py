"""releases.json: what the package index offers of the stack, as a snapshot in the tree.

The plan is made from it, never from the live index, so that it is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Literal

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from suite.cell.atomic import write
from suite.files import STACK as FOLDER
from suite.files import FileModel, dump, read

PATH = FOLDER / "releases.json"
STACK = ("jax", "jaxlib", "equinox", "diffrax")
# Whose metadata counts when it is asked whether a stack is one that its packages allow.
PACKAGES = (*STACK, "lineax", "optimistix")
# What they pull in, and can break by: an expectation may name these too.
PULLED_IN = ("lineax", "optimistix", "jaxtyping", "numpy", "scipy")


class Release(FileModel):
    """One release of one package, as the index describes it.

    `wheels` has those that CPython 3.12 can install somewhere, with their upload times; `uploaded` is the first.
    """

    uploaded: datetime
    requires_python: str
    requires_dist: list[str]
    yanked: str | None
    wheels: dict[str, datetime]


Packages = dict[str, dict[str, Release]]


class Snapshot(FileModel):
    """releases.json."""

    schema_version: Literal[1]
    taken_at: datetime
    packages: Packages


def load() -> Snapshot:
    """The snapshot in the tree. Raises BadFile."""
    return read(Snapshot, PATH)


def save(taken: Snapshot) -> None:
    """Put `taken` in the tree."""
    write(PATH, dump(taken.model_dump(mode="json")))


@cache
def requirement(text: str) -> Requirement:
    """A line of metadata, parsed once: the plan asks each of them for hundreds of cells."""
    return Requirement(text)


def exclusion(pins: Mapping[str, str], offered: Packages, python: str) -> str | None:
    """What in the packages' own metadata keeps `pins` apart on `python`, or None where nothing does.

    "equinox 0.13.2 requires jax>=0.4.38, and 0.4.35 is here": by `packaging`, and not by an installer, whose exit
    status is the same for being offline.
    """
    cell = {"extra": "cpu", "python_version": python, "python_full_version": f"{python}.0"}
    for name, version in pins.items():
        release = offered.get(name, {}).get(version)
        for wanted in map(requirement, release.requires_dist if release else ()):
            if canonicalize_name(wanted.name) not in pins or (wanted.marker and not wanted.marker.evaluate(cell)):
                continue
            pin = pins[canonicalize_name(wanted.name)]
            if not wanted.specifier.contains(pin, prereleases=True):
                return f"{name} {version} requires {wanted.name}{wanted.specifier}, and {pin} is here"
    return None
