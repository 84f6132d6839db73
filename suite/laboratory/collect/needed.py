"""The file of needs: the releases of other packages with which a release's code works, judged by the names it uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from packaging.specifiers import SpecifierSet
from pydantic import Field

from jax_stack_compat.base.fields import VersionText
from jax_stack_compat.base.files import FileModel, read
from jax_stack_compat.names import query
from jax_stack_compat.names.model import FOLDER

NAME = "needed.json"


class CodeLine(FileModel):
    """A line of a release's code: the name that it needs, its file below the package's folder, and its number."""

    name: str
    path: str
    line: int


class Needed(FileModel):
    """The releases of another package that a release needs.

    `since` is the first release with all used names, if an older release lacks some; `because` are the lines that use
    them. `until` is the last release before used names were removed; `gone` are the lines that use the removed names.
    """

    package: str
    declared: str | None = Field(description="what its metadata requires; null for nothing")
    since: VersionText | None = None
    because: tuple[CodeLine, ...] = ()
    until: VersionText | None = None
    gone: tuple[CodeLine, ...] = ()


class AllNeeded(FileModel):
    """The needs, by package and release."""

    schema_version: Literal[1] = 1
    releases: Mapping[str, Mapping[str, tuple[Needed, ...]]]


def is_undeclared(need: Needed) -> bool:
    """Return True if the declared requirement admits a release on which a used name is missing. Raises BadFile."""
    releases = query.names(need.package).releases
    since = releases.index(need.since) if need.since else 0
    until = releases.index(need.until) if need.until else len(releases)
    declared = SpecifierSet(need.declared or "")
    return any(declared.contains(version) for version in (*releases[:since], *releases[until + 1 :]))


def load() -> AllNeeded:
    """Return the published needs. Raises BadFile."""
    return read(AllNeeded, FOLDER / NAME)
