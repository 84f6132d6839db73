"""Counts as asv reads them."""

from __future__ import annotations

import math
from pathlib import Path

from asv.results import iter_results

from suite.programs import asv_results
from tests.programs.conftest import counted, programs, release

COMMITS = {"jax-0.9.0": "a" * 40, "jax-0.9.1": "b" * 40}
LAUNCHES = "device_programs.H100.track_launches"


def test_asv_reads_each_count_as_a_benchmark_of_a_machine_that_ran_nothing(tmp_path: Path) -> None:
    """A value for each workload on each release of the line, NaN where there is none; the machine's name says it."""
    found = programs(
        release("0.8.2", [counted(counts={"launches": 9})]),
        release("0.9.0", [counted(counts={"launches": 4}), counted("solve", copies="not told")]),
        release("0.9.1", [counted(counts={"launches": 2})]),
    )
    for name, text in asv_results.files(found, COMMITS).items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    read = {each.commit_hash: each for each in iter_results(str(tmp_path))}
    known = asv_results.benchmarks(found)[LAUNCHES]

    assert set(COMMITS.values()) == set(read)
    for commit, value in zip(COMMITS.values(), (4, 2), strict=True):
        softmax, solve = read[commit].get_result_value(LAUNCHES, known["params"])
        assert value == softmax
        assert math.isnan(solve)
        assert "h100-compiled-not-run" == read[commit].params["machine"]
        assert known["version"] == read[commit].benchmark_version[LAUNCHES]


def test_what_was_counted_another_way_is_no_point_of_the_line() -> None:
    """Of a release that was counted by another recipe than the newest there is a file, and nothing in it."""
    one, two = (
        release(jax, [counted(counts={"launches": 4})], recipe=recipe)
        for jax, recipe in (("0.9.0", "one"), ("0.9.1", "two"))
    )
    files = asv_results.files(programs(one, two), COMMITS)

    assert [False, True] == [LAUNCHES in files[f"h100-compiled-not-run/{each * 8}-compiled.json"] for each in "ab"]


def test_without_a_release_of_the_line_there_is_no_machine() -> None:
    """A line of other releases has nothing of these."""
    assert {} == asv_results.files(programs(release("0.9.0", [counted()])), {})
