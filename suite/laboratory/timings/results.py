"""The files of timings: asv's results as rows, and our comparisons.

asv's exit codes do not say which benchmarks were measured; its files do. A result is a number, NaN if the release lacks
the subject, or null if the benchmark failed. Null without a duration was never run: asv writes it for a release that
cannot be installed.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

from jax_stack_compat.base.errors import BadFile, Fault
from jax_stack_compat.base.files import ROOT, FileModel

RESULTS = ROOT / "benchmarks" / "results"
NOISE = ROOT / "benchmarks" / "noise"
COMPARED = ROOT / "benchmarks" / "compared"

State = Literal["measured", "lacking", "failed", "missing"]
STATES: tuple[State, ...] = ("measured", "lacking", "failed", "missing")
Outcome = Literal["regressed", "improved", "stable", "insufficient", "not-measured", "failed"]
OUTCOMES: tuple[Outcome, ...] = ("regressed", "improved", "stable", "insufficient", "not-measured", "failed")


class Fence(FileModel):
    """One benchmark's noise on a machine; `detectable` is None if none of the slow-downs tried can be seen."""

    fence: float
    false_positives: float
    detectable: float | None
    version: str


class NoiseFile(FileModel):
    """The file noise/<machine>.json: the differences between runs of one lock."""

    schema_version: int
    machine: str
    cell: str
    processes: int
    false_positives: float
    detectable: float | None
    benchmarks: dict[str, Fence]


class JudgedChange(FileModel):
    """A comparison's verdict on one benchmark: its time on each side, and the change as a ratio."""

    outcome: Outcome
    reason: str
    base: float | None
    other: float | None
    change: float | None
    limit: float | None
    version: str


class Comparison(FileModel):
    """The file compared/<machine>/<base>..<other>.json: verdicts on two releases, with their `commits` on the line."""

    schema_version: int
    machine: str
    base: str
    other: str
    commits: tuple[str, str]
    processes: int
    benchmarks: dict[str, JudgedChange]


@dataclass(frozen=True)
class ResultRow:
    """One benchmark, with its parameters, on one release; `least` is its least sample, if any."""

    state: State
    version: str
    count: bool
    value: float = math.nan
    least: float = math.nan


def copy_newer(source: Path, folder: Path) -> list[Path]:
    """Copy the JSON files of `source` that are missing or older in `folder`; return the changed copies."""
    changed = []
    for path in sorted(source.glob("**/*.json")):
        copy = folder / path.relative_to(source)
        if copy.exists() and copy.stat().st_mtime_ns >= path.stat().st_mtime_ns:
            continue
        if not copy.exists() or copy.read_bytes() != path.read_bytes():
            changed.append(copy)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    return changed


def rows(results: Path, machine: str, commit: str, patterns: Sequence[str] = ()) -> dict[str, ResultRow]:
    """Return the rows of asv's known benchmarks that one of `patterns` matches, by name with parameters.

    `results` is asv's results folder. The result is empty if asv stopped before it looked for benchmarks. Raises
    BadFile.
    """
    known = {name: benchmark for name, benchmark in load(results / "benchmarks.json").items() if name != "version"}
    found = {
        key: ResultRow("missing", benchmark["version"], benchmark["type"] == "track" and benchmark["unit"] != "seconds")
        for name, benchmark in known.items()
        for key in keys_of(name, benchmark["params"])
        if not patterns or any(re.search(pattern, key) for pattern in patterns)
    }
    for path in sorted((results / machine).glob(f"{commit[:8]}-*.json")):
        made = load(path)
        if made["commit_hash"] != commit:
            continue
        for name, cells in made["results"].items():
            # The last columns are optional.
            columns = dict(zip(made["result_columns"], cells, strict=False))
            # A result of another version measured something else.
            if name in known and columns["version"] == known[name]["version"]:
                found |= {key: replace(found[key], **what) for key, what in _measured(name, columns) if key in found}
    return found


def names(results: Path) -> list[str]:
    """Return the benchmarks, with parameters, that asv knew at its last kept result. Raises BadFile."""
    known = load(results / "benchmarks.json")
    return [key for name, benchmark in known.items() if name != "version" for key in keys_of(name, benchmark["params"])]


def tally(found: Iterable[ResultRow]) -> dict[State, int]:
    """Count the rows in each state."""
    states = Counter(row.state for row in found)
    return {state: states[state] for state in STATES}


_SAID: dict[State, str] = {"lacking": "n/a", "missing": "not measured"}


def counted(tally: Mapping[State, int]) -> str:
    """Return a tally for people."""
    return ", ".join(f"{count} {_SAID.get(state, state)}" for state, count in tally.items())


def load(path: Path) -> dict[str, Any]:
    """Return a JSON file of asv; empty if it does not exist. Raises BadFile."""
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadFile([Fault(path, "file", str(error))]) from error
    if not isinstance(loaded, dict):
        raise BadFile([Fault(path, "file", "is not a file of asv")])
    return loaded


def slug(hardware: str) -> str:
    """Return a hardware name as a part of a machine's name in results."""
    return re.sub(r"[^a-z0-9]+", "-", hardware.lower()).strip("-")


def _measured(name: str, columns: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each benchmark that ran, with its state, its value, and its least sample if any."""
    keys = keys_of(name, columns["params"])
    values = columns.get("result") or [None] * len(keys)
    samples = columns.get("samples") or [None] * len(keys)
    for key, value, sampled in zip(keys, values, samples, strict=True):
        if value is None:
            if columns.get("duration") is not None:
                yield key, {"state": "failed"}
        elif math.isnan(value):
            yield key, {"state": "lacking"}
        else:
            yield key, {"state": "measured", "value": value, "least": min(sampled) if sampled else value}


def keys_of(name: str, params: Sequence[Sequence[str]]) -> list[str]:
    """Return a benchmark's names with parameters, as asv's `--bench` matches them."""
    return [f"{name}({', '.join(each)})" for each in product(*params)] if params else [name]
