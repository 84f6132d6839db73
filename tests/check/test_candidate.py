"""Candidates: unreleased packages, their sources, and the changes from the stack they are put into."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from jax_stack_compat.base.errors import Failed, Misused
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.check.trial import candidate
from jax_stack_compat.check.trial.candidate import Wanted, parse
from jax_stack_compat.judge.verdict_table import Verdict
from jax_stack_compat.judge.verdicts import Judged
from jax_stack_compat.stack import lock, plan
from tests.check.worlds import knowledge


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("equinox=git+https://a.org/eqx@main", Wanted("equinox", "equinox @ git+https://a.org/eqx@main")),
        ("jax==0.13.0rc1", Wanted("jax", "jax==0.13.0rc1")),
        ("jax", Wanted("jax", "jax")),
    ],
)
def test_a_candidate_is_named_with_what_to_install(words: str, wanted: Wanted) -> None:
    """A candidate is an address or a requirement in the installers' syntax."""
    assert wanted == parse(words)


def test_a_path_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is resolved where the command was typed."""
    (tmp_path / "equinox").mkdir()
    monkeypatch.chdir(tmp_path)

    assert Wanted("equinox", f"equinox @ {(tmp_path / 'equinox').as_uri()}") == parse("equinox=equinox")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("equinox=/no/such/folder", "/no/such/folder does not exist"),
        ("numpy-quaternion==1.0", "numpy-quaternion is neither of the stack nor a library that is run"),
        ("jax=", "a candidate is"),
        ("jax==0.6.0; python_version<'3'", "leave out the marker"),
        ("equinox=git+https://example.org/equinox ; python_version<'3'", "leave out the marker"),
    ],
)
def test_what_cannot_be_meant_is_told(words: str, says: str) -> None:
    """Missing paths, packages outside the stack, invalid requirements and markers are refused."""
    with pytest.raises(Misused, match=says):
        parse(words)


BACKEND = """
import pathlib, signal

def prepare_metadata_for_build_wheel(folder, *_):
    info = pathlib.Path(folder, "other-1.dist-info")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: other\\nVersion: 1\\n")
    return info.name

def build_wheel(*_):
    signal.pause()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a project called "other", whose build never ends."""
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "other"\nversion = "1"\n'
        '[build-system]\nrequires = []\nbuild-backend = "slow"\nbackend-path = ["."]\n'
    )
    (tmp_path / "slow.py").write_text(BACKEND)
    monkeypatch.setattr(candidate, "_PLACE", tmp_path / "candidates")
    monkeypatch.setattr(lock, "load", lambda cell: SimpleNamespace(path=os.devnull))
    return tmp_path


def test_a_build_that_hangs_is_ended(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build has a time limit, which the error names."""
    monkeypatch.setattr(candidate, "_BUILD_S", 1.0)

    with pytest.raises(Failed, match=r"uv pip install: error: it was not done in 1 s, and was ended"):
        candidate._made(candidate.newest(), [Wanted("other", f"other @ {project.as_uri()}")], project / "env")


def test_another_package_is_refused(project: Path) -> None:
    """A folder with a project of another name is refused."""
    with pytest.raises(Failed, match=r"(?s)`other`.*`equinox`"):
        candidate._made(candidate.newest(), [parse(f"equinox={project}")], project / "env")


@pytest.mark.parametrize(
    ("before", "after", "how"),
    [
        ("clear", "affected", "broken"),
        ("guarded", "crashed", "broken"),
        ("affected", "clear", "fixed"),
        ("affected", "different", "changed"),
        ("clear", "guarded", "changed"),
        (None, "clear", "new"),
    ],
)
def test_a_turn_is_for_the_better_or_the_worse(before: Verdict | None, after: Verdict, how: str) -> None:
    """A change is classified by whether anything goes wrong silently; an unknown past makes it new."""
    assert how == candidate.how(before, after)


def test_only_what_turned_is_told() -> None:
    """Unchanged and undecided cases are not reported."""
    (cell,) = [each for each in plan.cells() if each.id == "jax-0.6.0"]
    judged = {
        ("wrong-numbers", "mended"): Judged("affected", "wrong", "run.wrong", "it is back"),
        ("wrong-numbers", "loud"): Judged("affected", "wrong", "run.wrong", ""),
        ("slow-thing", "back"): Judged("error", None, "run.control", ""),
        ("another", "case"): Judged("clear", "right", None, ""),
    }

    found = candidate.changes(cell, judged, knowledge())
    assert [
        (("wrong-numbers", "mended"), "right", "wrong", "broken"),
        (("another", "case"), None, "right", "new"),
    ] == [(each.name, each.before, each.after, each.how) for each in found]


def test_what_waits_for_a_broken_solve_is_not_told_twice() -> None:
    """A case waits for row zero as this run saw it, or else as its rules say of the versions."""
    zero = "stack-smoke/train-and-solve"
    waiting = next(case for entry in catalogue.entries() for case in entry.issue.cases if case.waits_for == (zero,))
    there = {"jax": "0.4.35", "jaxlib": "0.4.35", "equinox": "0.11.10", "diffrax": "0.6.1", "lineax": "0.0.7"}

    assert {zero: "clear"} == candidate._awaited(waiting, there, {})
    broken = Judged("affected", "wrong-solution", "run.wrong-solution", "y(1) is 3")
    assert {zero: "affected"} == candidate._awaited(waiting, there, {zero: broken})
