"""compat.json as text: a line for each cell, case and observation, and nothing in it twice. Pure.

A report of a hundred issues has to stay one that people can fetch, and that git can compare by the line.
"""

from __future__ import annotations

import json
from typing import Any

from suite.report.model import Report

Json = dict[str, Any]
# Of each of these a line is one entry; of an issue, one of its cases.
_LISTS = ("cells", "issues", "stacks", "observations")


def text(report: Report) -> str:
    """`report` as it is written; `Report` reads it back as it was. What has its default value is left out."""
    data = report.model_dump(mode="json", exclude_defaults=True, by_alias=True)
    data["observations"] = _observations(report)
    parts = []
    for key, value in data.items():
        if key in _LISTS and value:
            entries = ",\n".join(_issue(each) if key == "issues" else _line(each) for each in value)
            parts.append(f'"{key}": [\n{entries}\n]')
        else:
            parts.append(f'"{key}": {_line(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _observations(report: Report) -> list[Json]:
    """The observations, less what their other fields say, or the one before: see `Observation`."""
    told: dict[tuple[str, str, str | None], tuple[str, str]] = {}
    found = []
    for each in report.observations:
        said = each.model_dump(mode="json", exclude_defaults=True)
        if each.agreement == "as-expected" and each.expected == each.behaviour:
            said.pop("expected", None)
        if each.reason == f"run.{each.behaviour}":
            del said["reason"]
        key = (each.issue, each.case, each.behaviour)
        detail, unneeded = told.get(key, ("", "none"))
        for name, value, before in (("detail", each.detail, detail), ("workaround", each.workaround, unneeded)):
            # Whether it holds or fails is written each time: that is what readers look for.
            if value == before and value not in ("holds", "fails"):
                said.pop(name, None)
            else:
                said[name] = value
        told[key] = each.detail, each.workaround if each.workaround == "not-needed" else "none"
        found.append(said)
    return found


def _issue(issue: Json) -> str:
    head = _line({key: value for key, value in issue.items() if key != "cases"})
    cases = ",\n".join(_line(case) for case in issue["cases"])
    return f'{head[:-1]}, "cases": [\n{cases}\n]}}'


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
