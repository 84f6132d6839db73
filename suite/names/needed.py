"""The file of what each release of the stack needs of the others, by the names that its code uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from suite.fields import VersionText
from suite.files import FileModel, read
from suite.names.model import FOLDER

NAME = "needed.json"


class CodeLine(FileModel):
    """A line of a release's code: the name it needs, its file below the package's folder, and its number."""

    name: str
    path: str
    line: int


class Needed(FileModel):
    """A release's needs of another package.

    `since` is the first release with all that it uses, if an older one lacks some, and `because` the lines. `until` is
    the last release that has what later ones lack, and `gone` the lines.
    """

    package: str
    declared: str | None = Field(description="what its metadata requires; null for nothing")
    since: VersionText | None = None
    because: tuple[CodeLine, ...] = ()
    until: VersionText | None = None
    gone: tuple[CodeLine, ...] = ()


class AllNeeded(FileModel):
    """The file: package → release → what it needs."""

    schema_version: Literal[1] = 1
    releases: Mapping[str, Mapping[str, tuple[Needed, ...]]]


def load() -> AllNeeded:
    """Return what is published. Raises BadFile."""
    return read(AllNeeded, FOLDER / NAME)
