"""The file of a package's names: for each name, the releases that have it, and how it changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field

from jax_stack_compat.base.fields import VersionText
from jax_stack_compat.base.files import REPORTS, FileModel

# A clone has these files in the published report; a wheel has each package's first file beside this module.
_CARRIED = Path(__file__).with_name("data")
FOLDER = _CARRIED if _CARRIED.exists() else REPORTS / "published" / "names"
# A span: the places of the first and the last release in `releases`, and the value from the first to the last.
Text: TypeAlias = tuple[int, int, str]
# A parameter's name and default. The name has a prefix (`/`, `*`, `=`, `**`) unless it is positional or keyword.
Parameters: TypeAlias = tuple[tuple[str, ...], ...]
Signature: TypeAlias = tuple[int, int, Parameters | None]


class Name(FileModel):
    """A public name of a module. Each field has spans, in order; a release outside all spans lacks the field."""

    kind: tuple[Text, ...] = Field(description="module, class, function, constant, or raises")
    warns: tuple[tuple[int, int, tuple[str, str]], ...] = Field((), description="the warning's class and its words")
    home: tuple[Text, ...] = Field((), description="where it is defined, if elsewhere")
    doc: tuple[Text, ...] = Field((), description="a hash of the docstring")
    parameters: tuple[Signature, ...] = ()
    members: Mapping[str, tuple[Signature, ...]] = Field({}, description="public members of a class")
    gone: tuple[Text, ...] = Field((), description="the module's message on releases that no longer have the name")


class Module(FileModel):
    """A module. `fails` has the releases on which it does not import, so that its names are unknown."""

    there: tuple[tuple[int, int], ...]
    fails: tuple[Text, ...] = ()
    names: Mapping[str, Name] = {}
    private: Mapping[str, str] = Field({}, description="spans, as `0-3 7-7` → private names, with spaces between")


class Names(FileModel):
    """A file of names."""

    schema_version: Literal[1] = 1
    package: str
    releases: tuple[VersionText, ...] = Field(description="the releases that were walked, in version order")
    modules: Mapping[str, Module]
