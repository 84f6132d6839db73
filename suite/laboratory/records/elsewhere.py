"""What workarounds did on other inputs than their examples': reports/published/elsewhere.json.

An outcome counts under the code of the workaround's function, reference or program, its inputs, and the cell's lock. So
the records of reproducers keep their keys if a workaround is run elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from pydantic import Field

from jax_stack_compat.base.files import REPORTS, FileModel, dump_lines, read
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case, Elsewhere
from jax_stack_compat.stack import lock, plan
from laboratory.records import keys

PATH = REPORTS / "published" / "elsewhere.json"
# By input: "" if the workaround helps, or else what it did.
Outcomes = Mapping[str, str]


class OfCase(FileModel):
    """The outcomes of a case's workaround, in the cells where it ran: only inputs on which it does not help."""

    case: str = Field(description="issue/case")
    key: str = Field(description="a hash of the code and the inputs")
    inputs: tuple[str, ...]
    cells: dict[str, dict[str, str]]


class Elsewheres(FileModel):
    """The file. `locks` has the hash of each cell's lock, under which the outcomes count."""

    schema_version: Literal[1] = 1
    locks: dict[str, str] = Field(default_factory=dict)
    cases: list[OfCase] = Field(default_factory=list)


def load() -> Elsewheres:
    """Return all kept outcomes. Raises BadFile."""
    return _read(PATH.stat().st_mtime_ns) if PATH.exists() else Elsewheres()


@cache
def _read(_changed_at: int) -> Elsewheres:
    return read(Elsewheres, PATH)


def text(kept: Elsewheres) -> str:
    """Return the text of the file, with a line for each case."""
    return dump_lines(kept.model_dump(mode="json"), {"cases": ""}, (",", ":"))


def ran(entry: Entry, case: Case) -> OfCase | None:
    """Return the outcomes of a case's workaround that count, or None if it did not run elsewhere. Raises BadFile."""
    kept = load()
    name = f"{entry.issue.id}/{case.id}"
    found = next((of for of in kept.cases if of.case == name), None)
    if found is None or not has_elsewhere(case) or found.key != key(entry, case):
        return None
    valid = locks()
    cells = {cell: failed for cell, failed in found.cells.items() if kept.locks.get(cell) == valid.get(cell)}
    return found.model_copy(update={"cells": cells}) if cells else None


def has_elsewhere(case: Case) -> bool:
    """Return True if the case has a workaround that can run elsewhere."""
    return case.workaround is not None and case.workaround.elsewhere is not None


def inputs(case: Case) -> tuple[str, ...]:
    """Return the names of a workaround's other inputs; a second program is one."""
    within = case.workaround.elsewhere if case.workaround else None
    return within.inputs if isinstance(within, Elsewhere) else ("program",)


def key(entry: Entry, case: Case) -> str:
    """Return a hash of whatever can change the outcomes in a cell."""
    within = case.workaround.elsewhere if case.workaround else None
    if isinstance(within, Elsewhere):
        functions = [within.function, within.reference]
        asked: list[Any] = [within.inputs, within.rtol, within.atol]
    else:
        functions = [within] if within else []
        asked = []
    return keys.code_sha256(entry, [each.__name__ for each in functions], json.dumps([asked, case.x64]))


@cache
def locks() -> Mapping[str, str]:
    """Return the hash of each cell's lock. Raises BadFile."""
    return {cell.id: lock.load(cell).sha256 for cell in plan.cells() if cell.unavailable is None}
