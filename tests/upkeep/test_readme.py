"""The README, docs and CONTRIBUTING: generated parts are current, and commands work."""

import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from jax_stack_compat import __version__, command_line
from jax_stack_compat.base import address
from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import ROOT, replace_all
from jax_stack_compat.catalogue import catalogue
from laboratory.cli import readme
from laboratory.report.model import Report
from laboratory.report.site.build import site
from laboratory.upkeep import pins
from tests.conftest import Nox
from tests.processes import piped_in
from tests.report.test_small import small

README = readme.DOCUMENTS[0].read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (python3 -m venv .*)$", README, re.MULTILINE)
TRACEBACK = "TypeError: unhashable type: 'DynamicJaxprTracer'\n"
DOCUMENTS = [*readme.DOCUMENTS, ROOT / "CHANGELOG.md"]


@cache
def told(program: str) -> list[str]:
    """Return the words after a program's name in each command of the documents: in a console or in a line of text."""

    def found() -> Iterator[str]:
        for path in readme.DOCUMENTS:
            text = path.read_text(encoding="utf-8")
            yield from re.findall(rf"^\$ (?:echo .* \| )?(?:\S+/|uvx(?: --from \S+)? )?{program} (.*)$", text, re.M)
            text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
            yield from re.findall(rf"`(?:uvx )?{program} ([^`…]+)`", text)

    return sorted(set(found()))


def test_the_readme_is_read_in_a_minute() -> None:
    """The README has 600 words at most, as `wc -w` counts them."""
    assert 600 >= len(README.split())


def test_the_two_commands_are_there() -> None:
    """The README has two commands that work on a bare machine: the main job, and the tests as CI runs them."""
    assert ["compat", "tests faults"] == [command.rpartition(" -s ")[2] for command in COMMANDS]
    assert 1 == len({command.rpartition(" -s ")[0] for command in COMMANDS})
    assert COMMANDS[1] == (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]


def test_documents_show_what_the_project_says_now(published: Report) -> None:
    """Picture, answers, counts and verdicts are what `nox -s rebuild` would write now."""
    made = readme.renewed(published)

    assert [] == [path.name for path, text in made.items() if text != path.read_text(encoding="utf-8")]
    assert set(readme.BLOCKS) == set(re.findall(r"<!-- (\w+): written by", "".join(made.values())))


@pytest.mark.parametrize(
    ("urls", "command"),
    [
        ({}, "uvx --from . jax-stack-compat"),
        ({"Repository": "https://example.org/a/b"}, "uvx --from git+https://example.org/a/b jax-stack-compat"),
        ({"Repository": "https://example.org/a/b", "Package": "https://example.org/p"}, "uvx jax-stack-compat"),
    ],
)
def test_one_setting_says_where_the_project_is(
    monkeypatch: pytest.MonkeyPatch, urls: dict[str, str], command: str
) -> None:
    """The command that documents print follows from pyproject's addresses, and has no address without one."""
    monkeypatch.setattr(address, "_known", lambda: urls)
    assert command == readme.runner()


@pytest.mark.parametrize("home", ["", "https://example.org/pages/"])
def test_pages_name_their_own_address(monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    """A page has a canonical address where pyproject says where the pages are, and none elsewhere."""
    monkeypatch.setattr(address, "_known", lambda: {"Homepage": home} if home else {})
    front = site(small(), (), ())["index.html"]

    assert bool(home) == ('<link rel="canonical" href="https://example.org/pages/index.html">' in front)
    assert bool(home) == ("canonical" in front)


def test_the_script_header_has_the_pins() -> None:
    """The noxfile's header is what `nox -s pins` would write: pyproject's packages at the pins of constraints.txt."""
    noxfile = pins.NOXFILE.read_text(encoding="utf-8")
    assert pins.with_header(noxfile) == noxfile


def test_every_session_explains_itself(sessions: dict[str, str]) -> None:
    """Each session has a docstring for `nox --usage`."""
    assert sessions
    assert [name for name, description in sessions.items() if not description] == []


@pytest.mark.parametrize("words", told("nox"))
def test_sessions_take_the_words_that_documents_tell(nox: Nox, words: str) -> None:
    """nox finds each session that a document names, and the suite understands what follows `--`."""
    # Stands for a branch in another folder; any folder will do.
    asked = shlex.split(words.replace("../equinox", "."))
    ran = nox(*asked if asked[0] in ("-l", "--usage") else ("-l", *asked))
    assert 0 == ran.code, ran.complained


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with what documents name: an environment, bounds, requirements, code, and a traceback."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    for name in ("pyproject.toml", "uv.lock"):
        shutil.copy(ROOT / "tests" / "check" / "samples" / "project" / name, tmp_path)
    texts = {
        "src/a.py": "import jax.numpy as jnp\n\njnp.polyval(1, 2)\n",
        "compat-baseline.json": '{"schema_version": 1, "findings": []}',
        "traceback.txt": TRACEBACK,
    }
    replace_all(tmp_path, texts)


@pytest.mark.parametrize(
    "told", [each for each in told("jax-stack-compat") if each.split()[0] in ("check", "explain", "find")]
)
@pytest.mark.usefixtures("project")
def test_what_documents_ask_is_answered(told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each `check`, `explain` and `find` of the documents answers; 4 says that an environment has no stack."""
    with piped_in(TRACEBACK), pytest.raises(SystemExit) as ended:
        command_line.main(shlex.split(told))
    said = capsys.readouterr()
    assert ended.value.code in (Exit.AS_EXPECTED, Exit.UNEXPECTED, Exit.UNDECIDED), said.err
    assert said.out


def test_the_issue_that_contributing_shows_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module in CONTRIBUTING is read as an issue, and its tables have no fault."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^   ```python\n(.*?)^   ```", text, re.M | re.S)
    (tmp_path / "an_issue_of_contributing.py").write_text(textwrap.dedent(code), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    assert [] == catalogue.faults(catalogue.entry("an_issue_of_contributing"))


def test_links_lead_somewhere() -> None:
    """Each relative link in a document leads to an existing file and heading."""
    lost = []
    for path in DOCUMENTS:
        for target, heading in re.findall(r"\]\((?!https?://)([^)#]*)#?([^)]*)\)", path.read_text(encoding="utf-8")):
            to = path.parent / target if target else path
            if not to.exists() or (heading and heading not in headings(to)):
                lost.append(f"{path.name}: {target}#{heading}")
    assert [] == lost


def headings(path: Path) -> list[str]:
    """Return the anchors that GitHub gives the headings of a document."""
    found = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in found]


def test_the_changelog_begins_with_this_version() -> None:
    """The changelog's first heading, or the first after the unreleased changes, is this version."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert __version__ == re.findall(r"^## (?!Unreleased)(\S+)", text, re.M)[0]
