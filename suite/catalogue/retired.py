"""Issues that were retired: what each of their cases was about, so that an old link or entry gets a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from suite.fields import Id
from suite.files import ROOT, FileModel, read

PATH = ROOT / "suite" / "issues" / "retired.toml"


class _Retired(FileModel):
    """The file."""

    schema_version: Literal[1] = 1
    issues: Mapping[Id, Mapping[Id, str]]


@cache
def retired() -> Mapping[str, Mapping[str, str]]:
    """Return the retired issues: id → case → the name that it was about. Raises BadFile."""
    return read(_Retired, PATH).issues


def sentence(issue: str) -> str:
    """Return what to say of a retired issue. Raises BadFile."""
    names = list(dict.fromkeys(retired()[issue].values()))
    return f"{issue} was retired: each release is asked for its names now, {', '.join(names[:3])} and others among them"
