"""compat.json as text: a line for each cell, case and observation, and nothing in it twice. Pure.

A report of a hundred issues has to stay one that people can fetch, and that git can compare by the line.
"""

from __future__ import annotations

import json
from typing import Any

from suite.report.model import Gaps, Observation, Report

Json = dict[str, Any]
# Of each of these a line is one entry; of an issue, one of its cases.
_LISTS = ("cells", "issues", "stacks", "observations")


def text(report: Report) -> str:
    """`report` as it is written; `Report` reads it back as it was. What has its default value is left out."""
    data = report.model_dump(mode="json", exclude_defaults=True, exclude={"observations"}, by_alias=True)
    gaps = Gaps(report.issues)
    data["observations"] = [_observation(each, gaps) for each in report.observations]
    parts = []
    for key in [name for name in Report.model_fields if name in data]:
        if key in _LISTS and data[key]:
            entries = ",\n".join(_issue(each) if key == "issues" else _line(each) for each in data[key])
            parts.append(f'"{key}": [\n{entries}\n]')
        else:
            parts.append(f'"{key}": {_line(data[key])}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _observation(each: Observation, gaps: Gaps) -> Json:
    said = vars(each)
    guessed = dict(gaps.guesses(said))
    return {name: value for name, value in said.items() if name not in guessed or value != guessed[name]}


def _issue(issue: Json) -> str:
    head = _line({key: value for key, value in issue.items() if key != "cases"})
    cases = ",\n".join(_line(case) for case in issue["cases"])
    return f'{head[:-1]}, "cases": [\n{cases}\n]}}'


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
