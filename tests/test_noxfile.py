"""The front door: which sessions nox would run for which words, and what stops it before the first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from suite.files import ROOT
from suite.stack import plan

DEFAULT = [f"cell({cell.id})" for cell in plan.tagged("default")]


def nox(*words: str, state: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run nox in the tree; nothing is known in `state`."""
    there = {"SUITE_STATE": str(state)} if state else {}
    return subprocess.run(
        [sys.executable, "-m", "nox", *words],
        cwd=ROOT,
        env={**os.environ, "NOX_SCRIPT_MODE": "none", **there},
        capture_output=True,
        text=True,
        check=False,
    )


def selected(*words: str) -> list[str]:
    """The sessions that nox would run for these words, in their order but for the cells, which stand as planned."""
    ran = nox("-l", "--json", *words)
    assert 0 == ran.returncode, ran.stderr
    return [each["session"] for each in json.loads(ran.stdout)]


@pytest.mark.parametrize("words", [(), ("-s", "compat"), ("--session=compat",), ("-e", "compat")])
def test_the_main_job_requires_the_default_cells(words: tuple[str, ...]) -> None:
    """However `compat` is named, or not named at all, the default cells and what tells of them come with it."""
    assert sorted([*DEFAULT, "plan(default)", "compat"]) == sorted(selected(*words))


def test_a_session_after_another_is_asked_for_too() -> None:
    """`nox -s lint compat` has what both need, and `nox --session=lint` no cell."""
    assert sorted([*DEFAULT, "plan(default)", "compat", "lint"]) == sorted(selected("-s", "lint", "compat"))
    assert ["lint"] == selected("--session=lint")
    assert ["lint"] == selected("-k", "lint")


def test_one_cell_is_one_session() -> None:
    """`nox -s "cell(…)" report` has these two."""
    assert sorted([DEFAULT[0], "report"]) == sorted(selected("-s", DEFAULT[0], "report"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-s", "tests", "compat", "--", "--issue", "x"), "no issue 'x'"),
        (("--session=compat", "--", "--nonsense"), "unrecognized arguments: --nonsense"),
        (("--", "--shard", "4/3"), "there is no part 4 of 3"),
        (("-s", "cell(jax-0.4.3)", "report"), "no cell 'jax-0.4.3'; the nearest are jax-0.4.30"),
        (("-s", "run", "--", "jax-0.4.36+diffrax-9"), "releases.json has no diffrax 9"),
        (("-k", "publish", "--", "--issue", "stack-smoke"), "what is published is the whole"),
        (("-s", "bench-compare", "--", "jax-0.9.2"), "the following arguments are required: B"),
    ],
)
def test_wrong_words_stop_it_before_anything_runs(words: tuple[str, ...], told: str) -> None:
    """Whatever the session and however it is named, wrong words are exit code 2 and a sentence, and nothing runs."""
    ran = nox(*words)

    assert (2, True) == (ran.returncode, told in ran.stderr), ran.stderr
    assert "Running session" not in ran.stderr


def test_a_record_that_is_none_stops_it_before_anything_runs(tmp_path: Path) -> None:
    """A record that cannot be read is told by its file, with what to do, before a cell is run."""
    cell = plan.tagged("default")[0].id
    path = tmp_path / "records" / cell / "stack-smoke" / "train-and-solve.json"
    path.parent.mkdir(parents=True)
    path.write_text("{", encoding="utf-8")

    ran = nox("-s", "compat", state=tmp_path)

    assert 2 == ran.returncode
    assert f"{path}: syntax: " in ran.stderr
    assert "remove the file to run it again" in ran.stderr
    assert "Running session" not in ran.stderr


def test_the_words_of_other_sessions_are_theirs() -> None:
    """What follows `--` is pytest's where `tests` is asked for: it is not read as ours."""
    assert ["tests"] == selected("-s", "tests", "--", "-k", "nothing", "--nonsense")


def test_listing_needs_few_libraries() -> None:
    """Nothing that draws, asks an index, talks to a cluster or writes a page is imported to list the sessions."""
    heavy = {"matplotlib", "pypi_simple", "requests", "distributed", "jinja2", "rich", "scipy", "numpy"}
    script = "import runpy, sys; sys.argv = ['nox', '-l']; runpy.run_path('noxfile.py'); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)

    assert set() == heavy & set(ran.stdout.split())
