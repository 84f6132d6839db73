"""Counts of programs as asv results, so that asv's website charts them along the releases.

asv runs nothing here. For asv, each target is a machine, and each count a `track_` benchmark over all workloads.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, time
from typing import Any

from laboratory.programs.cases import BY_PROGRAM
from laboratory.programs.model import Programs, ReleasePrograms
from laboratory.programs.targets import COUNTS

_ENVIRONMENT = "compiled"


def machine(found: Programs) -> str:
    """Return the machine name for a target's results: `h100-compiled-not-run`."""
    return f"{found.target}-compiled-not-run"


def benchmarks(found: Programs) -> dict[str, dict[str, Any]]:
    """Return the description of each count, by name, as in asv's benchmarks.json."""
    common = {"param_names": ["program"], "params": _params(found), "timeout": 60, "type": "track"}
    return {
        name: {"code": COUNTS[count].about, "name": name, **common, "unit": COUNTS[count].many, "version": version}
        for version in [_version(found)]
        for count, name in _names(found).items()
    }


def files(found: Programs, commits: Mapping[str, str]) -> dict[str, str]:
    """Return asv's result files, path → text: the machine, and each release with a commit on the line."""
    of = {"machine": machine(found), **dict.fromkeys(("os", "arch", "cpu", "num_cpu", "ram"), "none")}
    made = {
        f"{machine(found)}/{commits[release.cell][:8]}-{_ENVIRONMENT}.json": _result(found, release, commits, of)
        for release in found.releases
        if release.cell in commits
    }
    return {f"{machine(found)}/machine.json": json.dumps({**of, "version": 1}), **made} if made else {}


def _result(found: Programs, release: ReleasePrograms, commits: Mapping[str, str], machine: Mapping[str, str]) -> str:
    params, programs = _params(found), [release.program(workload) for workload in _workloads(found)]
    # asv writes NaN for a missing value.
    results = {
        name: [[each.counts.get(count, math.nan) if each else math.nan for each in programs], params, _version(found)]
        for count, name in _names(found).items()
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
        # Counts of another recipe are not comparable.
        "results": results if release.recipe == found.releases[-1].recipe else {},
        "durations": {},
        "version": 2,
    }
    return json.dumps(data)


def _names(found: Programs) -> dict[str, str]:
    """Return asv's name for each count that the target has."""
    counts = (count for count, known in COUNTS.items() if known.only in ("", found.target))
    return {count: f"device_programs.{found.target.upper()}.track_{count}" for count in counts}


def _workloads(found: Programs) -> list[str]:
    return [name for name in found.workloads if name not in BY_PROGRAM]


def _params(found: Programs) -> list[list[str]]:
    return [[repr(name) for name in _workloads(found)]]


def _version(found: Programs) -> str:
    return found.releases[-1].recipe[:16]
