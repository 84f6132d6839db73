"""The README, CONTRIBUTING and the noxfile: what they promise is so."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import uv

from suite.files import ROOT
from suite.report.model import Report
from suite.upkeep import pins, readme

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (python -m pip install .*)$", README, re.MULTILINE)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the tree as git would clone it, with nothing else."""
    listed = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (tmp_path / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / "clone" / name)
    return tmp_path / "clone"


def test_the_two_commands_are_there() -> None:
    """The README has two commands that set themselves up, one for the main job and one for the tests."""
    assert ["compat", "tests faults"] == [command.rpartition(" -s ")[2] for command in COMMANDS]


def test_a_command_sets_itself_up_in_a_fresh_clone(clone: Path, tmp_path: Path) -> None:
    """With nothing but a bare Python the first command gets as far as saying what it is going to fetch."""
    # With pip alone, as `python -m venv` makes it, and twenty times as fast.
    subprocess.run(
        [uv.find_uv_bin(), "venv", "--quiet", "--seed", "--python", sys.executable, "bare"], cwd=tmp_path, check=True
    )
    command = COMMANDS[0].replace("-s compat", "-s 'plan(default)'")
    assert command != COMMANDS[0]
    path = f"{tmp_path / 'bare' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NOX_", "VIRTUAL_ENV", "SUITE_"))}
    ran = subprocess.run(
        ["bash", "-c", command], cwd=clone, env={**kept, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"\d+ environments to make: up to [\d,]+ MB to fetch", ran.stdout)


def test_the_excerpt_is_of_the_published_report(published: Report) -> None:
    """The README shows what `nox -s publish` would write into it now."""
    assert readme.with_excerpt(README, published) == README
    assert "observations planned on" in README


def test_the_script_header_has_the_pins() -> None:
    """The noxfile's header is what `nox -s pins` would write: pyproject's packages at the pins of constraints.txt."""
    noxfile = pins.NOXFILE.read_text(encoding="utf-8")
    assert pins.with_header(noxfile) == noxfile


def test_every_session_explains_itself(sessions: dict[str, str]) -> None:
    """Each session has a docstring for `nox --usage`."""
    assert sessions
    assert [name for name, description in sessions.items() if not description] == []


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_the_sessions_that_are_named_exist(document: str, sessions: dict[str, str]) -> None:
    """Whatever a document tells its reader to run is a session."""
    text = (ROOT / document).read_text(encoding="utf-8")
    named = re.findall(r'nox (?:-j2 )?-s ("[^"]+"|[\w-]+(?: tests)?)', text)
    assert named
    wanted = {word for each in named for word in ([each.strip('"')] if '"' in each else each.split())}
    assert sorted(wanted - set(sessions)) == []


def test_links_lead_to_files() -> None:
    """Every relative link of a document leads to something in the tree."""
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", (ROOT / name).read_text(encoding="utf-8"))
        assert [] == [target for target in targets if not (ROOT / target).exists()]
