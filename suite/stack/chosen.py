"""The file default.json: what `nox -s compat` runs besides the newest release of jax.

It has releases, and for each the issues whose headline case shows something new there. `nox -s choose` computes it from
the published report.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from suite.fields import Id, VersionText
from suite.files import STACK, FileModel, dump, read

PATH = STACK / "default.json"
# The cases that a tag's cells run: each behaviour once, each issue's first case, or every case.
Rows = Literal["chosen", "headlines", "cases"]


class Chosen(FileModel):
    """The file: release of jax → ids of issues."""

    schema_version: Literal[1] = 1
    rows: Mapping[VersionText, tuple[Id, ...]]


@cache
def load() -> Chosen:
    """Return the chosen cases. Raises BadFile."""
    return read(Chosen, PATH)


def is_planned(issue: str, holds: Mapping[str, str], rows: Rows) -> bool:
    """Return True if these rows have an issue in the cell that holds these releases. Raises BadFile.

    Only a default cell that is not the newest has less than all.
    """
    of_release = load().rows.get(holds.get("jax", "")) if rows == "chosen" and len(holds) == 1 else None
    return of_release is None or issue in of_release


def text(chosen: Chosen) -> str:
    """Return default.json."""
    return dump(chosen.model_dump(mode="json"))
