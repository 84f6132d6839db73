"""Index → releases.json: asks the package index what there is of the stack."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import requests
from packaging.metadata import parse_email
from packaging.utils import parse_wheel_filename
from packaging.version import Version
from pypi_simple import (
    PYPI_SIMPLE_ENDPOINT,
    DistributionPackage,
    NoMetadataError,
    NoSuchProjectError,
    ProjectPage,
    PyPISimple,
    RepositoryPage,
)
from remotezip import RemoteIOError, RemoteZip

from suite.errors import Failed
from suite.stack.releases import EXTRAS, PACKAGES, PYTHONS, Release, Snapshot, Wheels, tag_of

# nox logs all there is, down to each connection.
logging.getLogger("urllib3").setLevel(logging.WARNING)


class Unreachable(Failed):
    """The package index did not answer, or not as an index does."""


def snapshot(known: Snapshot | None = None) -> Snapshot:
    """Read what the index offers now; the metadata of releases in `known` is not fetched again.

    The index is the user's own: UV_DEFAULT_INDEX, UV_INDEX_URL or PIP_INDEX_URL where set, else the public one.
    Raises Unreachable.
    """
    with _asking() as client:
        packages = {name: _releases(client, name, known.packages.get(name, {}) if known else {}) for name in PACKAGES}
    return Snapshot(schema_version=2, taken_at=datetime.now(UTC).replace(microsecond=0), packages=packages)


@contextmanager
def _asking() -> Iterator[PyPISimple]:
    variables = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
    endpoint = next(filter(None, map(os.environ.get, variables)), PYPI_SIMPLE_ENDPOINT)
    try:
        with PyPISimple(endpoint=endpoint) as client:
            yield client
    except (requests.RequestException, NoSuchProjectError, RemoteIOError, KeyError) as error:
        raise Unreachable(f"the package index cannot be read: {type(error).__name__}: {error}") from error


def _releases(client: PyPISimple, package: str, known: dict[str, Release]) -> dict[str, Release]:
    uploads: dict[str, list[tuple[DistributionPackage, datetime]]] = {}
    for file, uploaded in _files(client, package):
        if file.version is not None and _tags(package, file):
            uploads.setdefault(file.version, []).append((file, uploaded))
    return {
        version: Release(
            uploaded=min(uploaded for _, uploaded in files),
            requires_python=files[0][0].requires_python or "",
            requires_dist=known[version].requires_dist if version in known else _requires_dist(client, files[0][0]),
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


def _files(client: PyPISimple, package: str) -> Iterable[tuple[DistributionPackage, datetime]]:
    response = client.s.get(client.get_project_url(package), headers={"Accept": client.accept}, timeout=60)
    response.raise_for_status()
    if "html" not in response.headers.get("content-type", ""):
        page = ProjectPage.from_response(response, package)
        return [(file, file.upload_time) for file in page.packages if file.upload_time is not None]
    # Mirrors that answer in HTML have no standard place for the upload time; those that serve it use this attribute.
    links = RepositoryPage.from_html(response.content, response.url).links
    return [
        (DistributionPackage.from_link(link, package), datetime.fromisoformat(uploaded))
        for link in links
        if (uploaded := link.get_str_attrib("data-upload-time")) is not None
    ]


def _tags(package: str, file: DistributionPackage) -> list[tuple[str, str]]:
    """The interpreters and platforms that this file is for, less those that no cell has; none where it is no wheel."""
    try:
        _, version, _, tags = parse_wheel_filename(file.filename)
    except ValueError:  # a source archive, or a version that is none
        return []
    if version < Version(PACKAGES[package].oldest) or version.is_prerelease:
        return []
    # Not a free-threaded interpreter's: its ABI is another (cp313t).
    mine = {"py3": "none", **{tag: tag for tag in map(tag_of, PYTHONS)}}
    return [(tag.interpreter, tag.platform) for tag in tags if mine.get(tag.interpreter) == tag.abi]


def _requires_dist(client: PyPISimple, file: DistributionPackage) -> list[str]:
    try:
        text = client.get_package_metadata(file, verify=False)
    except NoMetadataError:
        with RemoteZip(file.url, session=client.s) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
            text = wheel.read(name).decode()
    return sorted(filter(_asked_for, parse_email(text)[0].get("requires_dist", [])))


def _asked_for(line: str) -> bool:
    """Whether a cell can be asked for this: most of a package's extras are its developers' own."""
    extras = re.findall(r"extra == ['\"]([^'\"]+)['\"]", line)
    return not extras or not set(EXTRAS.values()).isdisjoint(extras)
