"""asv over a line of two empty locks, with benchmarks that need no package."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date

import pytest

from suite.timings import asv_call, release_line
from suite.timings.asv_call import Asv
from suite.timings.release_line import Commit

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


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asv]:
    """It, in a folder of its own; nothing has been measured."""
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks" / "__init__.py").write_text(BENCHMARKS, encoding="utf-8")
    release_line.build(LINE, folder / "line")
    conf = {
        **{"version": 1, "project": "tiny", "repo": "replaced", "branches": ["main"]},
        **{"environment_type": "existing", "launch_method": "forkserver"},
        **{"benchmark_dir": str(folder / "benchmarks"), "html_dir": str(folder / "site")},
    }
    (folder / "asv.conf.json").write_text(json.dumps(conf), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asv_call, "CONF", folder / "asv.conf.json")
        patch.setattr(asv_call, "WORK", folder / "work")
        patch.setattr(asv_call, "STATE", folder)
        patch.setattr(release_line, "PATH", folder / "line")
        yield Asv("cpu-tiny", release_line.hashes(LINE), folder / "results")
