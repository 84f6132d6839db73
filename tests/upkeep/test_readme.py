"""The README, CONTRIBUTING and the noxfile: what they promise is so."""

from __future__ import annotations

import re

import pytest

from suite.files import ROOT
from suite.report.model import Report
from suite.upkeep import pins, readme

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (python -m pip install .*)$", README, re.MULTILINE)


def test_the_two_commands_are_there() -> None:
    """The README has two commands that set themselves up, one for the main job and one for the tests."""
    assert ["compat", "tests faults"] == [command.rpartition(" -s ")[2] for command in COMMANDS]


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
