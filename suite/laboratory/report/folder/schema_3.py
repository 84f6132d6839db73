"""Reports of schema 3, turned into schema 4."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any, Final

SCHEMA: Final = 3
# Agreements and kinds of change whose word is another today.
WORDS: Final = {"spurious": "undecided"}
# Roles of upstream's threads, pages and commits that have another name today.
ROLES: Final = {"changelog": "docs", "commit": "change"}


def updated(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a compat.json of schema 3 as schema 4 has it; the model refuses malformed data."""
    found = {**deepcopy(dict(data)), "schema_version": 4}
    found.pop("corrections", None)
    with suppress(AttributeError, KeyError, TypeError):
        _drop_senders(found["cells"])
        _rename_roles(found["issues"])
        _rename(found["since"] or {})
    return found


def _drop_senders(cells: list[dict[str, Any]]) -> None:
    """Remove each empty `sent_on`. Another one stays, and is refused: a report is of runs of this suite alone."""
    for cell in cells:
        if cell.get("sent_on") is None:
            cell.pop("sent_on", None)


def _rename_roles(issues: list[dict[str, Any]]) -> None:
    for each in (row for issue in issues for row in issue["upstream"]):
        each["role"] = ROLES.get(each["role"], each["role"])


def _rename(since: dict[str, Any]) -> None:
    """Use today's words for the kinds of change."""
    since["counts"] = {WORDS.get(kind, kind): count for kind, count in since["counts"].items()}
    for change in since["changes"]:
        change["kind"] = WORDS.get(change["kind"], change["kind"])
