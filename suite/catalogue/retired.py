"""Retired issues: the subject of each case, so that an old link or entry leads to an explanation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from suite.fields import Id
from suite.files import ROOT, FileModel, read

PATH = ROOT / "suite" / "issues" / "retired.toml"


class _Retired(FileModel):
    """The file retired.toml."""

    schema_version: Literal[1] = 1
    issues: Mapping[Id, Mapping[Id, str]]


@cache
def retired() -> Mapping[str, Mapping[str, str]]:
    """Return the retired issues: id → case → the name that the case was about. Raises BadFile."""
    return read(_Retired, PATH).issues


def sentence(issue: str) -> str:
    """Return a sentence for people about a retired issue. Raises BadFile."""
    names = list(dict.fromkeys(retired()[issue].values()))
    return f"{issue} was retired: the names of each release are now listed, such as {', '.join(names[:3])}"
