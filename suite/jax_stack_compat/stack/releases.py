"""The file releases.json: a snapshot of the stack's releases in the package index.

The plan is made from this file, not from the live index, so that every machine has the same plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

from packaging.requirements import Requirement
from packaging.tags import platform_tags
from packaging.utils import canonicalize_name
from packaging.version import Version
from pydantic import StringConstraints

from jax_stack_compat.base.errors import restored
from jax_stack_compat.base.fields import Moment, RequirementText, SpecifierText, VersionText
from jax_stack_compat.base.files import FileModel, dump, parse, text
from jax_stack_compat.base.spelling import requirement, specifiers
from jax_stack_compat.cell.atomic import write

PATH = Path(__file__).with_name("releases.json")

# The extra of jax with the build for a CPU, which cells have, and those that `releases.json` keeps.
OF_CPU = "cpu"
EXTRAS = (OF_CPU, "cuda12", "tpu")
# The interpreters that a cell can have: jaxlib 0.4.18 has wheels for the first, and jaxlib 0.12 for the last.
Python = Literal["3.10", "3.11", "3.12", "3.13", "3.14"]
PYTHONS: tuple[Python, ...] = get_args(Python)


class Wheels(FileModel):
    """The wheels of a release for one interpreter: their platforms, and when the newest wheel was uploaded."""

    newest: Moment
    platforms: list[str]


class Release(FileModel):
    """One release of one package, as the index describes it.

    `uploaded` is the time of its first wheel. `wheels` are by interpreter: `cp312`, or `py3` where any can install
    them. `requires_dist` leaves out the requirements of extras that no cell has.
    """

    uploaded: Moment
    requires_python: SpecifierText
    requires_dist: list[RequirementText]
    yanked: str | None
    wheels: dict[Annotated[str, StringConstraints(pattern=r"^(py3|cp3[0-9]{1,2})$")], Wheels]

    def newest_wheel(self, python: str) -> datetime | None:
        """Return when the last wheel for `python` ("3.12") was uploaded; None without any.

        All platforms count, since a lock must not depend on the machine that makes it.
        """
        return max((wheels.newest for wheels in self._wheels_for(python)), default=None)

    def installs_here(self, python: str) -> bool:
        """Return True if a wheel for `python` is for this machine's platform."""
        return any(not _here().isdisjoint(each.platforms) for each in self._wheels_for(python))

    def allows(self, python: str) -> bool:
        """Return True if the release's metadata admits `python`."""
        return f"{python}.0" in specifiers(self.requires_python)

    def _wheels_for(self, python: str) -> list[Wheels]:
        return [each for tag, each in self.wheels.items() if tag in ("py3", tag_of(python))]


Packages = dict[str, dict[VersionText, Release]]


class Snapshot(FileModel):
    """The file releases.json."""

    mend: ClassVar[str] = restored(PATH, "nox -s snapshot")

    schema_version: Literal[2]
    taken_at: Moment
    packages: Packages

    def versions(self, axis: str, *, yanked: bool = False) -> tuple[str, ...]:
        """Return the releases of a package, or the known interpreters, in version order."""
        if axis == "python":
            return PYTHONS
        there = self.packages.get(axis, {})
        return tuple(sorted((version for version in there if yanked or there[version].yanked is None), key=Version))


@cache
def _here() -> frozenset[str]:
    """Return the platforms of a wheel that this machine can install."""
    return frozenset(["any", *platform_tags()])


def load() -> Snapshot:
    """Return the snapshot in the tree. Raises BadFile."""
    return _read(text(PATH, Snapshot), PATH)


# A command asks for the snapshot several times.
@cache
def _read(told: str, path: Path) -> Snapshot:
    return parse(Snapshot, told, path)


def save(taken: Snapshot) -> None:
    """Write `taken` to the tree."""
    write(PATH, dump(taken.model_dump(mode="json")))


def applies(wanted: Requirement, python: str, extra: str = "cpu") -> bool:
    """Return True if a requirement applies with this extra, on this interpreter and this machine's system."""
    there = {"extra": extra, "python_version": python, "python_full_version": f"{python}.0"}
    return wanted.marker is None or wanted.marker.evaluate(there)


def exclusion(pins: Mapping[str, str], offered: Packages, python: str, extra: str = "cpu") -> str | None:
    """Return the first requirement that excludes `pins` on `python` with this extra, or None.

    For example "equinox 0.13.2 requires jax>=0.4.38, and 0.4.35 is here". `packaging` decides: an installer's exit
    status does not tell a conflict from being offline.
    """
    for name, version in pins.items():
        release = offered.get(name, {}).get(version)
        for wanted in map(requirement, release.requires_dist if release else ()):
            pin = pins.get(canonicalize_name(wanted.name))
            if pin and applies(wanted, python, extra) and not wanted.specifier.contains(pin, prereleases=True):
                return f"{name} {version} requires {wanted.name}{wanted.specifier}, and {pin} is here"
    return None


def tag_of(python: str) -> str:
    """Return the interpreter's tag in a wheel's name: `cp312` for "3.12"."""
    return f"cp{python.replace('.', '')}"
