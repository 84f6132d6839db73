"""What was counted, as asv keeps results: its site then charts the counts along the releases, beside what was timed.

asv has no device here and runs nothing. Each target is a machine of its own by a name that says so, and each count a
`track_` benchmark of all workloads.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, time
from typing import Any

from suite.programs.cases import BY_PROGRAM
from suite.programs.model import Programs, Release
from suite.programs.targets import COUNTS

_ENVIRONMENT = "compiled"


def machine(found: Programs) -> str:
    """What a target's results go by: `h100-compiled-not-run`."""
    return f"{found.target}-compiled-not-run"


def benchmarks(found: Programs) -> dict[str, dict[str, Any]]:
    """Name → what asv's benchmarks.json says of a benchmark, for each count."""
    return {
        _name(found, count): {
            "code": known.about,
            "name": _name(found, count),
            "param_names": ["program"],
            "params": _params(found),
            "timeout": 60,
            "type": "track",
            "unit": known.many,
            "version": _version(found),
        }
        for count, known in COUNTS.items()
        if known.only in ("", found.target)
    }


def files(found: Programs, commits: Mapping[str, str]) -> dict[str, str]:
    """Path in asv's results → text: the machine, and a file for each release that has a commit on the line."""
    of = {"machine": machine(found), **dict.fromkeys(("os", "arch", "cpu", "num_cpu", "ram"), "none")}
    made = {
        f"{machine(found)}/{commits[release.cell][:8]}-{_ENVIRONMENT}.json": _result(found, release, commits, of)
        for release in found.releases
        if release.cell in commits
    }
    return {f"{machine(found)}/machine.json": json.dumps({**of, "version": 1}), **made} if made else {}


def _result(found: Programs, release: Release, commits: Mapping[str, str], machine: Mapping[str, str]) -> str:
    version, params = _version(found), _params(found)
    same = release.recipe == found.releases[-1].recipe
    values = {
        count: [_value(release, workload, count) for workload in _workloads(found)]
        for count, known in COUNTS.items()
        if known.only in ("", found.target)
    }
    data = {
        "commit_hash": commits[release.cell],
        "env_name": _ENVIRONMENT,
        "date": int(datetime.combine(release.released_on, time(), UTC).timestamp() * 1000),
        "params": {**machine, "python": "none"},
        "python": "none",
        "requirements": {},
        "env_vars": {},
        "result_columns": ["result", "params", "version"],
        # What was counted another way is no point of the same line.
        "results": {_name(found, count): [each, params, version] for count, each in values.items()} if same else {},
        "durations": {},
        "version": 2,
    }
    return json.dumps(data)


def _value(release: Release, workload: str, count: str) -> float:
    """A count; NaN, which asv has for what a benchmark does not tell, where there is none."""
    program = release.program(workload)
    return program.counts.get(count, math.nan) if program else math.nan


def _name(found: Programs, count: str) -> str:
    return f"device_programs.{found.target.upper()}.track_{count}"


def _workloads(found: Programs) -> list[str]:
    return [name for name in found.workloads if name not in BY_PROGRAM]


def _params(found: Programs) -> list[list[str]]:
    return [[repr(name) for name in _workloads(found)]]


def _version(found: Programs) -> str:
    return found.releases[-1].recipe[:16]
