"""Index → releases.json: the releases of each library that are run, with their days and requirements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import ClassVar, Literal

from packaging.utils import parse_wheel_filename
from packaging.version import InvalidVersion, Version
from pypi_simple import DistributionPackage, PyPISimple
from requests import HTTPError

from jax_stack_compat.base.console import OUT
from jax_stack_compat.base.errors import BadFile, Fault, restored
from jax_stack_compat.base.fields import Moment, PackageName, RequirementText, SpecifierText, VersionText, this_moment
from jax_stack_compat.base.files import FileModel, dump, read
from jax_stack_compat.cell.atomic import write
from laboratory.libraries import table
from laboratory.upkeep import index

PATH = Path(__file__).with_name("releases.json")
# Thirty months.
WINDOW = timedelta(days=913)


class LibraryRelease(FileModel):
    """A release of a library, as the index describes it."""

    uploaded: Moment
    requires_python: SpecifierText
    requires_dist: tuple[RequirementText, ...]


class OfferedLibraries(FileModel):
    """The file releases.json: the releases to run, by library, in version order."""

    mend: ClassVar[str] = restored(PATH, "nox -s libraries -- --renew")

    schema_version: Literal[1] = 1
    taken_at: Moment
    libraries: Mapping[PackageName, Mapping[VersionText, LibraryRelease]]


@cache
def load() -> OfferedLibraries:
    """Return the releases in the tree. Raises BadFile."""
    return read(OfferedLibraries, PATH)


def newest_of_series(uploads: Mapping[str, datetime], since: datetime) -> list[str]:
    """Return the newest release of each minor series with a release after `since`, and the newest of all, in order.

    Under 0.0, every release is a series of its own.
    """
    versions = sorted(uploads, key=Version)
    recent = [version for version in versions if uploads[version] >= since]
    newest = {_series(version): version for version in [*recent, *versions[-1:]]}
    return sorted(newest.values(), key=Version)


def _series(version: str) -> tuple[int, ...]:
    release = Version(version).release
    return release[:3] if release[:2] == (0, 0) else release[:2]


def renew() -> None:
    """Read the index into releases.json; requirements that are known are not fetched again. Raises Unreachable."""
    taken_at = this_moment()
    known = load().libraries if PATH.exists() else {}
    with index.asking() as client:
        found = {name: _releases(client, name, known.get(name, {}), taken_at - WINDOW) for name in sorted(table.load())}
    write(PATH, dump(OfferedLibraries(taken_at=taken_at, libraries=found).model_dump(mode="json")))
    load.cache_clear()
    count = sum(map(len, found.values()))
    OUT.print(f"{len(found)} libraries, {count} releases to run", soft_wrap=True)


def _releases(
    client: PyPISimple, name: str, known: Mapping[str, LibraryRelease], since: datetime
) -> dict[str, LibraryRelease]:
    files: dict[str, tuple[DistributionPackage, datetime]] = {}
    for file, uploaded in _files(client, name):
        if _is_usable(file.filename) and file.version and not file.is_yanked:
            files.setdefault(file.version, (file, uploaded))
    uploads = {version: uploaded for version, (_, uploaded) in files.items()}
    found = {}
    for version in newest_of_series(uploads, since):
        file, uploaded = files[version]
        found[version] = known.get(version) or LibraryRelease(
            uploaded=uploaded,
            requires_python=file.requires_python or "",
            requires_dist=tuple(index.requires_dist(client, file)),
        )
    return found


def _files(client: PyPISimple, name: str) -> Iterable[tuple[DistributionPackage, datetime]]:
    """Return the files of a library. Raises BadFile if the index has no such distribution."""
    try:
        return index.files_of(client, name)
    except HTTPError as error:
        if error.response.status_code != HTTPStatus.NOT_FOUND:
            raise
        raise BadFile([Fault(table.PATH, name, "the package index has no such distribution")]) from error


def _is_usable(filename: str) -> bool:
    try:
        _, version, _, _ = parse_wheel_filename(filename)
    except (ValueError, InvalidVersion):
        return False
    return not version.is_prerelease
