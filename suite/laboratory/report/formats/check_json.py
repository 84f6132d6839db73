"""The writer of check.json: the rules and runs that `check` reads, small and quick to load. Pure.

The wheel carries the file. `jax_stack_compat.check.knowledge` reads and documents it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from jax_stack_compat.base.files import dump_lines
from jax_stack_compat.judge.verdict_table import UNDECIDED
from jax_stack_compat.packages import PACKAGES
from laboratory.orders.compared import DeviceCell
from laboratory.report.model import CaseRow, IssueRow, Observation, Report
from laboratory.report.summary import by_case, packages

SCHEMA = 1


def check_json(report: Report, on_devices: Sequence[DeviceCell] = ()) -> str:
    """Return `report` and what ran on devices as `check` reads it, with a line for each case."""
    names = {*PACKAGES, *packages(report)}
    seen = by_case(report.observations)
    kinds: dict[tuple[str, str], int] = {}

    def runs(of: Mapping[str, Observation]) -> list[int]:
        """Return run lengths over the cells: the number of a kind, then of cells; kind -1 is undecided."""
        each_cell = [_kind(of.get(cell.id), kinds) for cell in report.cells]
        return [number for kind, cells in groupby(each_cell) for number in (kind, len(list(cells)))]

    issues = [
        {
            **_issue(issue),
            "cases": [{**_case(case), "runs": runs(seen[issue.id, case.id])} for case in issue.cases],
        }
        for issue in report.issues
    ]
    cells = [[cell.id, {name: of for name, of in cell.packages.items() if name in names}] for cell in report.cells]
    head = {"schema_version": SCHEMA, "generated_at": report.generated_at.isoformat(), "cells": cells}
    devices = {"devices": list(map(_device, on_devices))} if on_devices else {}
    return dump_lines({**head, "kinds": list(kinds), "issues": issues, **devices}, {"issues": ""}, (",", ":"))


def _device(cell: DeviceCell) -> dict[str, Any]:
    """Return what ran on a device: the behaviour of each decided case, and the functions whose numbers differ."""
    seen: dict[str, dict[str, str]] = {}
    for row in cell.decided:
        seen.setdefault(row.issue, {})[row.case] = row.device.behaviour or row.device.verdict
    numbers: dict[str, tuple[int, str]] = {}
    for number in cell.run.differences:
        if number.is_listed:
            count, example = numbers.get(number.function, (0, number.told))
            numbers[number.function] = count + 1, example
    of = cell.stack
    return {"jax": of.packages["jax"], "platform": of.platform, "kind": of.kind, "seen": seen, "numbers": numbers}


def _kind(observation: Observation | None, kinds: dict[tuple[str, str], int]) -> int:
    if observation is None or observation.verdict in UNDECIDED:
        return -1
    return kinds.setdefault((observation.behaviour or observation.verdict, observation.workaround), len(kinds))


def _issue(issue: IssueRow) -> dict[str, Any]:
    told = {name: getattr(issue, name) for name in ("id", "title", "kind", "row_zero", "touches")}
    return {**told, "title": issue.heading, "upstream": [each.ref for each in issue.upstream]}


def _case(case: CaseRow) -> dict[str, Any]:
    told = {name: getattr(case, name) for name in ("id", "needs", "behaviours", "conditions")}
    instead = case.workaround
    return {
        **told,
        "rules": [[rule.behaviour, rule.on, rule.evidence] for rule in case.rules],
        "workaround": [instead.text, *instead.fails] if instead else [],
        **({"verified": True} if instead and instead.is_verified else {}),
        **{name: told for name in ("touches", "waits_for") if (told := getattr(case, name))},
    }
