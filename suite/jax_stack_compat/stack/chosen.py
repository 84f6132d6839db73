"""The file default.json: the releases that `nox -s compat` runs besides the newest release of jax.

For each release it lists the issues whose headline shows something new there. `nox -s rebuild` computes it from the
published report.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from jax_stack_compat.base.fields import Id, VersionText
from jax_stack_compat.base.files import FileModel, read

PATH = Path(__file__).with_name("default.json")
# The cases to run: one for each behaviour of a headline, each issue's headline, or every case.
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
    """Return True if `rows` include an issue in the cell that holds these releases. Raises BadFile.

    Only `chosen` leaves issues out, and only in cells of the releases in default.json.
    """
    of_release = load().rows.get(holds.get("jax", "")) if rows == "chosen" and len(holds) == 1 else None
    return of_release is None or issue in of_release
