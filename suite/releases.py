"""releases.json: what the package index offers of the stack, as a snapshot in the tree.

The plan is made from it, never from the live index, so that it is the same on every machine.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from suite.atomic import write
from suite.files import STACK, FileModel, dump, read

PATH = STACK / "releases.json"
PACKAGES = ("jax", "jaxlib", "equinox", "diffrax")
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
