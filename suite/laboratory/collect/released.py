"""The needs of the stack's own releases, and the names that libraries use, read from their code."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from packaging.version import Version

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import dump, dump_lines
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.check.needs import Need, Reason, ToFix, needs
from jax_stack_compat.check.source.tree import usage
from jax_stack_compat.judge.metadata import requires
from jax_stack_compat.libraries import known
from jax_stack_compat.names import libraries, query
from jax_stack_compat.names.model import FOLDER
from jax_stack_compat.packages import IMPORTS
from jax_stack_compat.stack import releases, uv_call
from laboratory.collect.needed import NAME, AllNeeded, CodeLine, Needed

_MAX_LINES = 3


def publish(*, console: Terminal) -> None:
    """Read the code of the walked releases and of the libraries, and write the files.

    Raises Failed, BadFile, OSError.
    """
    offered = releases.load().packages
    found = {}
    # jax and jaxlib are left out: they require each other by version.
    for package in IMPORTS:
        found[package] = {
            version: tuple(_needed(_read(package, version, offered))) for version in query.names(package).releases
        }
        console.print(f"{package}: read the code of {len(found[package])} releases", soft_wrap=True)
    write(FOLDER / NAME, dump(AllNeeded(releases=found).model_dump(mode="json", exclude_defaults=True)))
    write(FOLDER / libraries.NAME, dump_lines(_used(), {"used": ""}))
    console.print(f"{libraries.NAME}: the names that {len(known.load())} libraries use", soft_wrap=True)


def _used() -> dict[str, Any]:
    """Count the libraries that use each name in their newest release."""
    versions, used = {}, Counter[str]()
    for library in known.load():
        with _installed(library) as folder:
            (info,) = folder.glob("*.dist-info")
            versions[library] = info.name.removesuffix(".dist-info").partition("-")[2]
            used.update(usage(folder).names)
    return {"schema_version": 1, "libraries": versions, "used": sorted(used.items())}


@contextmanager
def _installed(requirement: str) -> Iterator[Path]:
    """Yield a folder with a release installed, without its dependencies."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--python-version", "3.12")
        done = uv_call.run(*words, "--target", folder, requirement)
        if done.returncode:
            raise Failed(f"{requirement} cannot be read: {done.stderr.strip()}")
        yield Path(folder)


def _read(package: str, version: str, offered: releases.Packages) -> Iterator[Need]:
    with _installed(f"{package}=={version}") as folder:
        uses = usage(folder / package).uses
    told = {name: [("", of)] for name, of in requires(package, {package: version}, offered, "3.12").items()}
    return (need for need in needs(uses, told) if need.package != package)


def _needed(of: Iterable[Need]) -> Iterator[Needed]:
    for need in of:
        gone = [one for one in need.to_fix if one.until]
        if need.reasons or gone:
            until = min((one.until for one in gone), key=Version, default=None)
            releases = query.names(need.package).releases
            since = max((one.since for one in need.reasons), key=releases.index, default=None)
            yield Needed(
                package=need.package,
                declared=need.declared,
                since=since,
                because=_lines(one for one in need.reasons if one.since == since),
                until=until,
                gone=_lines(one for one in gone if one.until == until),
            )


def _lines(of: Iterable[Reason | ToFix]) -> tuple[CodeLine, ...]:
    """Return the first line of code for each name, at most `_MAX_LINES` lines."""
    first: dict[str, CodeLine] = {}
    for place in of:
        first.setdefault(place.name, CodeLine(name=place.name, path=place.path, line=place.line))
    return tuple(first.values())[:_MAX_LINES]
