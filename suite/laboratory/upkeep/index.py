"""Index → releases.json: read the stack's releases from the package index."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from zipfile import BadZipFile

import requests
from packaging.metadata import parse_email
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version
from pypi_simple import (
    PYPI_SIMPLE_ENDPOINT,
    DistributionPackage,
    Link,
    NoMetadataError,
    NoSuchProjectError,
    ProjectPage,
    PyPISimple,
    RepositoryPage,
    UnsupportedRepoVersionError,
)
from remotezip import RemoteIOError, RemoteZip
from rich.console import Console

from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.fields import this_moment
from jax_stack_compat.packages import HELD
from jax_stack_compat.stack import releases
from jax_stack_compat.stack.releases import EXTRAS, PYTHONS, Release, Snapshot, Wheels, tag_of

# nox logs at debug level, where urllib3 reports each connection.
logging.getLogger("urllib3").setLevel(logging.WARNING)


# Errors of a request. Errors in an answer's content are KeyError and ValueError.
_NO_INDEX = (requests.RequestException, NoSuchProjectError, UnsupportedRepoVersionError, RemoteIOError, BadZipFile)
# The lost releases to list for each package.
_MOST = 20


class Unreachable(Failed):
    """The package index did not answer, or something else answered."""


def snapshot(known: Snapshot | None = None, *, forget: bool = False) -> Snapshot:
    """Read the index; the metadata of releases in `known` is not fetched again.

    The index is the user's own: UV_DEFAULT_INDEX, UV_INDEX_URL or PIP_INDEX_URL if set, else the public one. Raises
    Unreachable, and, without `forget`, Failed if the index lost something that `known` has.
    """
    with asking() as client:
        packages = {name: _releases(client, name, known.packages.get(name, {}) if known else {}) for name in HELD}
    taken = Snapshot(schema_version=2, taken_at=this_moment(), packages=packages)
    if known and not forget and (gone := lost(known, taken)):
        told = "; ".join(gone)
        raise Failed(f"the index lost releases that releases.json has: {told}. Nothing is written: --forget drops them")
    return taken


def lost(known: Snapshot, taken: Snapshot) -> list[str]:
    """Return the releases and wheels of `known` that `taken` lacks, as a sentence for each package."""
    told = []
    for package, now in taken.packages.items():
        before = known.packages.get(package, {})
        gone = [version for version in before if version not in now]
        gone += [
            f"{version} for {tag} on {', '.join(less)}"
            for version in before
            if version in now
            for tag, wheels in before[version].wheels.items()
            for kept in [now[version].wheels[tag].platforms if tag in now[version].wheels else ()]
            if (less := sorted(set(wheels.platforms).difference(kept)))
        ]
        if gone:
            more = f" and {len(gone) - _MOST} more" if len(gone) > _MOST else ""
            told.append(f"{package} {', '.join(gone[:_MOST])}{more}")
    return told


@contextmanager
def asking() -> Iterator[PyPISimple]:
    """Yield a client of the index; turn an index that fails into Unreachable."""
    variables = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
    endpoint = next(filter(None, map(os.environ.get, variables)), PYPI_SIMPLE_ENDPOINT)
    try:
        with PyPISimple(endpoint=endpoint) as client:
            yield client
    except (*_NO_INDEX, KeyError, ValueError) as error:
        raise Unreachable(f"the package index cannot be read: {type(error).__name__}: {error}") from error


def _releases(client: PyPISimple, package: str, known: dict[str, Release]) -> dict[str, Release]:
    uploads: dict[str, list[tuple[DistributionPackage, datetime]]] = {}
    for file, uploaded in files_of(client, package):
        if file.version is not None and _tags(package, file):
            uploads.setdefault(file.version, []).append((file, uploaded))
    return {
        version: Release(
            uploaded=min(uploaded for _, uploaded in files),
            requires_python=files[0][0].requires_python or "",
            requires_dist=known[version].requires_dist if version in known else requires_dist(client, files[0][0]),
            yanked=next((file.yanked_reason or "" for file, _ in files if file.is_yanked), None),
            wheels=_wheels(package, files),
        )
        for version, files in sorted(uploads.items(), key=lambda each: Version(each[0]))
    }


def _wheels(package: str, files: Iterable[tuple[DistributionPackage, datetime]]) -> dict[str, Wheels]:
    found: dict[str, list[tuple[datetime, str]]] = {}
    for file, uploaded in files:
        for interpreter, platform in _tags(package, file):
            found.setdefault(interpreter, []).append((uploaded, platform))
    return {
        interpreter: Wheels(newest=max(of)[0], platforms=sorted({platform for _, platform in of}))
        for interpreter, of in sorted(found.items())
    }


def files_of(client: PyPISimple, package: str) -> Iterable[tuple[DistributionPackage, datetime]]:
    """Return the files of a package, each with its upload time."""
    response = client.s.get(client.get_project_url(package), headers={"Accept": client.accept}, timeout=60)
    response.raise_for_status()
    if _is_html(response):
        links = RepositoryPage.from_html(response.content, response.url).links
        found = [(DistributionPackage.from_link(link, package), _uploaded(link)) for link in links]
    else:
        found = [(file, file.upload_time) for file in ProjectPage.from_response(response, package).packages]
    mine = [(file, uploaded) for file, uploaded in found if canonicalize_name(file.project or "") == package]
    # A login page may have no links, either; an empty index says so in JSON.
    if not mine and (found or _is_html(response)):
        raise Unreachable(f"the package index's answer for {package} is not a list of its files: is it a login page?")
    dated = [(file, uploaded) for file, uploaded in mine if uploaded is not None]
    if mine and not dated:
        raise Unreachable(f"the package index gives no upload times of {package}, and cells need them")
    return dated


def _is_html(response: requests.Response) -> bool:
    return "html" in response.headers.get("content-type", "html")


def _uploaded(link: Link) -> datetime | None:
    # HTML has no standard place for upload times; mirrors with upload times use this attribute.
    text = link.get_str_attrib("data-upload-time")
    found = datetime.fromisoformat(text) if text else None
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found


def _tags(package: str, file: DistributionPackage) -> list[tuple[str, str]]:
    """Return the interpreters and platforms of a wheel that cells can have; empty for any other file."""
    try:
        _, version, _, tags = parse_wheel_filename(file.filename)
    except ValueError:  # a source archive, or an invalid version
        return []
    if version < Version(HELD[package].oldest) or version.is_prerelease:
        return []
    # Skip wheels for free-threaded interpreters, which have another ABI (cp313t).
    mine = {"py3": "none", **{tag: tag for tag in map(tag_of, PYTHONS)}}
    return [(tag.interpreter, tag.platform) for tag in tags if mine.get(tag.interpreter) == tag.abi]


def requires_dist(client: PyPISimple, file: DistributionPackage) -> list[str]:
    """Return what a wheel requires, without the extras that no cell has."""
    try:
        text = client.get_package_metadata(file, verify=False)
    except NoMetadataError:
        with RemoteZip(file.url, session=client.s) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
            text = wheel.read(name).decode()
    said = parse_email(text)[0]
    names = {canonicalize_name(spelling or "") for spelling in (said.get("name"), file.project)}
    if len(names) > 1 or said.get("version") != file.version:
        raise Unreachable(f"the package index's answer for {file.filename} is not its metadata: is it a login page?")
    return sorted(filter(_asked_for, said.get("requires_dist", [])))


def _asked_for(line: str) -> bool:
    """Return True if a cell may request this requirement's extra. Most extras are for a package's developers."""
    extras = re.findall(r"extra == ['\"]([^'\"]+)['\"]", line)
    return not extras or not set(EXTRAS).isdisjoint(extras)


def renew(*, forget: bool, console: Console) -> None:
    """Read the index into releases.json, and print the new releases. Raises BadFile, Unreachable, Failed.

    Releases that the index no longer has are dropped only with `forget`.
    """
    known = releases.load() if releases.PATH.exists() else None
    taken = snapshot(known, forget=forget)
    releases.save(taken)
    for gone in lost(known, taken) if known else ():
        console.print(f"forgotten: {gone}", soft_wrap=True)
    for package, versions in taken.packages.items():
        new = [version for version in versions if known is None or version not in known.packages.get(package, {})]
        console.print(f"{package}: {len(versions)} releases, new: {', '.join(new) or 'none'}")
