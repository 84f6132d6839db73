"""Invented results of asv, and asv on a line of two empty locks."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from laboratory.timings import asv_call, release_line
from laboratory.timings.asv_call import Asv
from laboratory.timings.release_line import Commit

LINE = (Commit("one", date(2024, 1, 1), ""), Commit("two", date(2024, 1, 2), "# two\n"))
BENCHMARKS = """
class Thing:
    "Something with two sizes."
    params = [1, 1000]
    version = "1"
    repeat = (3, 5, 0.01)
    warmup_time = 0
    def time_sum(self, n):
        sum(range(n))
    def track_size(self, n):
        return n
    track_size.unit = "things"

def lacking():
    raise NotImplementedError("this release has none")
def track_lacking():
    return 1
track_lacking.setup = lacking
track_lacking.version = "1"

def time_failing():
    raise ValueError
time_failing.version = "1"
"""


# Name → type, unit and parameters.
Known = Mapping[str, tuple[str, str, Sequence[Sequence[str]]]]
_COLUMNS = ["result", "params", "version", "started_at", "duration", "samples"]


def put(path: Path, made: object) -> None:
    """Write JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(made), encoding="utf-8")


def put_results(machine: Path, known: Known, commit: str, found: Mapping[str, Sequence[Any]]) -> None:
    """Write asv's benchmarks, and the results in `found`; benchmarks that ran have a duration and samples."""
    listed = {
        name: {"type": kind, "unit": unit, "params": params, "version": "1"}
        for name, (kind, unit, params) in known.items()
    }
    put(machine.parent / "benchmarks.json", {"version": 2, **listed})
    results = {name: [result, known[name][2], "1", 0, *more] for name, (result, *more) in found.items()}
    made = {"commit_hash": commit, "result_columns": _COLUMNS, "results": results}
    put(machine / f"{commit[:8]}-virtualenv-py3.12-uv.json", made)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asv]:
    """asv on that line, in a new folder, with benchmarks that need no package, before any measurement."""
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks" / "__init__.py").write_text(BENCHMARKS, encoding="utf-8")
    release_line.build(LINE, folder / "line")
    conf = {
        **{"version": 1, "project": "tiny", "repo": "replaced", "branches": ["main"]},
        **{"environment_type": "existing", "launch_method": "forkserver"},
        **{"benchmark_dir": str(folder / "benchmarks"), "html_dir": str(folder / "site")},
    }
    put(folder / "asv.conf.json", conf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asv_call, "CONF", folder / "asv.conf.json")
        patch.setattr(asv_call, "WORK", folder / "work")
        patch.setattr(asv_call, "STATE", folder)
        patch.setattr(release_line, "PATH", folder / "line")
        yield Asv("cpu-tiny", release_line.hashes(LINE), folder / "results")
