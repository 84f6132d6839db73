"""What commands answer and what a report says do not depend on Python's hash seed, which is another in each process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from suite.files import ROOT
from tests.report.on_disk import there

SEEDS = ("0", "1", "2")


def test_every_answer_is_the_same_under_every_hash_seed(tmp_path: Path) -> None:
    """Three processes with three seeds write the same bytes: of each command in each format, and of a small report."""
    answering = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.answers", str(tmp_path / seed)],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "SUITE_STATE": str(tmp_path / "state"), "COLUMNS": "120"},
        )
        for seed in SEEDS
    ]
    assert [0] * len(SEEDS) == [process.wait() for process in answering]

    first, *others = [there(tmp_path / seed) for seed in SEEDS]
    assert {"report/feed.xml", "report/index.html", "report/compat.json", "timings.json"} < first.keys()
    assert [] == sorted({name for other in others for name in other if other[name] != first.get(name)})
    assert all(first.keys() == other.keys() for other in others)
