"""The front door: which sessions nox would run for which words, and what stops it before the first."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from nox import registry
from nox._cli import main

from suite import commands
from suite.files import ROOT
from suite.run import records
from suite.stack import plan

DEFAULT_CELLS = plan.tagged("default")
DEFAULT = [f"cell({cell.id})" for cell in DEFAULT_CELLS]


@dataclass(frozen=True)
class Ran:
    """What nox ended with."""

    code: int
    said: str
    complained: str


Nox = Callable[..., Ran]


@pytest.fixture
def nox(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Nox:
    """Run nox in the tree, in this process, where nothing has been recorded."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(records, "RECORDS", tmp_path / "records")
    # What the published report says of costs takes a second to look up.
    monkeypatch.setattr(commands, "measured", lambda: ())
    for name in ("NOX_SCRIPT_MODE", "SUITE_HEADLINES"):
        monkeypatch.setenv(name, "none")

    def run(*words: str) -> Ran:
        registry.reset()
        monkeypatch.setattr(sys, "argv", ["nox", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capfd.readouterr()
        return Ran(int(ended.value.code or 0), told.out, told.err)

    return run


def selected(nox: Nox, *words: str) -> list[str]:
    """The sessions that nox would run for these words, in their order but for the cells, which stand as planned."""
    ran = nox("-l", "--json", *words)
    assert 0 == ran.code, ran.complained
    return [each["session"] for each in json.loads(ran.said)]


@pytest.mark.parametrize("words", [(), ("-s", "compat"), ("--session=compat",), ("-e", "compat")])
def test_the_main_job_requires_the_default_cells(nox: Nox, words: tuple[str, ...]) -> None:
    """However `compat` is named, or not named at all, the default cells and what tells of them come with it."""
    assert sorted([*DEFAULT, "plan(default)", "compat"]) == sorted(selected(nox, *words))


@pytest.mark.parametrize(
    ("words", "sessions"),
    [
        (["-s", "lint", "compat"], [*DEFAULT, "plan(default)", "compat", "lint"]),
        (["--session=lint"], ["lint"]),
        (["-k", "lint"], ["lint"]),
        (["-s", DEFAULT[0], "report"], [DEFAULT[0], "report"]),
        (["-s", DEFAULT[0], "report", "--", "--verbose"], [DEFAULT[0], "report"]),
        # What follows `--` is pytest's here, and not read as ours.
        (["-s", "tests", "--", "-k", "nothing", "--nonsense"], ["tests"]),
    ],
)
def test_sessions_have_what_they_need_and_no_more(nox: Nox, words: list[str], sessions: list[str]) -> None:
    """Several sessions have what each needs; one that needs no cell has none."""
    assert sorted(sessions) == sorted(selected(nox, *words))


def test_a_shard_has_its_part_of_the_cells(nox: Nox) -> None:
    """`nox -s compat -- --shard 1/2` has half of the cells, 2/2 the other half, and both have the report."""
    halves = [set(selected(nox, "-s", "compat", "--", "--shard", part)) for part in ("1/2", "2/2")]

    assert {"plan(default)", "compat"} == halves[0] & halves[1]
    assert {*DEFAULT, "plan(default)", "compat"} == halves[0] | halves[1]


@pytest.mark.parametrize("words", [[], ["--", "--scheduler", "tcp://127.0.0.1:9"]])
def test_under_a_scheduler_nox_runs_no_cells_itself(nox: Nox, words: list[str]) -> None:
    """With --scheduler the compat sessions require no cell sessions; without it they do."""
    for name in ("compat", "compat-line", "compat-full", "publish"):
        assert bool(words) == ([name] == selected(nox, "-s", name, *words))


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
def test_wrong_words_stop_it_before_anything_runs(nox: Nox, words: tuple[str, ...], told: str) -> None:
    """Whatever the session and however it is named, wrong words are exit code 2 and a sentence, and nothing runs."""
    ran = nox(*words)

    assert (2, True) == (ran.code, told in ran.complained), ran.complained
    assert "Running session" not in ran.complained


@pytest.mark.parametrize(("words", "state"), [(["--envdir", "with:colon"], "/tmp"), ([], "beside")])
def test_what_nox_cannot_do_is_a_sentence(
    nox: Nox, words: list[str], state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Environments under a path with a colon, and a state folder by a path that is not whole, are refused."""
    monkeypatch.setenv("SUITE_STATE", state)

    ran = nox("-l", *words)

    assert (2, "") == (ran.code, ran.said)
    assert ("PATH cannot name a folder with a colon" if words else "SUITE_STATE=beside: ") in ran.complained


def test_a_record_that_is_none_stops_it_before_anything_runs(nox: Nox) -> None:
    """A record that cannot be read is told by its file, with what to do, before a cell is run."""
    path = records.path_of(plan.tagged("default")[0].id, "stack-smoke", "train-and-solve")
    path.parent.mkdir(parents=True)
    path.write_text("{", encoding="utf-8")

    ran = nox("-s", "compat")

    assert 2 == ran.code
    assert f"{path}: syntax: " in ran.complained
    assert "(remove the file, and its cell runs it again)" in ran.complained
    assert "Running session" not in ran.complained


def test_listing_needs_few_libraries() -> None:
    """Nothing that draws, asks an index, talks to a cluster or writes a page is imported to list the sessions."""
    heavy = {"pypi_simple", "requests", "distributed", "jinja2", "rich", "scipy", "numpy"}
    script = "import runpy, sys; sys.argv = ['nox', '-l']; runpy.run_path('noxfile.py'); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)

    assert set() == heavy & set(ran.stdout.split())
