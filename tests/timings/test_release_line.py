"""The release line: the same repository everywhere, from the locks alone, and asv runs on it."""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime, time
from pathlib import Path

import pytest
from asv.util import load_json

from suite.errors import Failed, Misused
from suite.stack import lock
from suite.timings import asv_call, release_line, results
from suite.timings.asv_call import Asv
from suite.timings.release_line import Commit

LINE = (
    Commit("jax-0.4.30", date(2024, 6, 18), "jax==0.4.30\n"),
    Commit("equinox-0.11.5", date(2024, 6, 18), "equinox==0.11.5\n"),
    Commit("jax-0.5.0", date(2025, 1, 17), "jax==0.5.0  # ünïcode\r\n"),
)
# Written down, so that another git, another day and another machine are held to it.
HEAD = "f2158d976800b5a8012ed0080b145cb029894e0c"

HOSTILE = """
[user]
    name = Somebody Else
    email = else@example.org
[commit]
    gpgsign = true
[tag]
    gpgsign = true
[core]
    autocrlf = true
    hooksPath = /nowhere
[init]
    defaultBranch = trunk
    defaultObjectFormat = sha256
"""


def git(folder: Path, *words: str) -> str:
    """What git says of a repository."""
    return subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=True).stdout.decode()


def test_the_line_is_the_same_everywhere(tmp_path: Path) -> None:
    """The head is one hash, known beforehand, wherever and whenever the line is built."""
    for name in ("one", "two"):
        release_line.build(LINE, tmp_path / name)

        assert HEAD == git(tmp_path / name, "rev-parse", "HEAD").strip()


def test_nobodys_configuration_has_a_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who signs commits, converts line ends, uses another branch or is in a hook gets the same line."""
    config = tmp_path / ".gitconfig"
    config.write_text(HOSTILE, encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody Else")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("TZ", "Pacific/Auckland")

    release_line.build(LINE, tmp_path / "line")

    monkeypatch.undo()
    assert HEAD == git(tmp_path / "line", "rev-parse", "HEAD").strip()


def test_a_tag_is_a_cell_and_its_tree_the_lock(tmp_path: Path) -> None:
    """Each tag names one commit on main, whose tree holds exactly that cell's lock, to the byte, on its day."""
    release_line.build(LINE, tmp_path)

    found = release_line.hashes(LINE)

    assert [each.id for each in LINE] == list(found)
    assert [*found.values()] == git(tmp_path, "rev-list", "--reverse", "main").split()
    for each in LINE:
        assert found[each.id] == git(tmp_path, "rev-parse", each.id).strip()
        assert "requirements.txt\n" == git(tmp_path, "ls-tree", "--name-only", "-r", each.id)
        assert each.lock == git(tmp_path, "show", f"{each.id}:requirements.txt")
        midnight = int(datetime.combine(each.day, time(), UTC).timestamp())
        assert f"{each.id} {midnight} {midnight}\n" == git(tmp_path, "show", "-s", "--format=%s %at %ct", each.id)
        assert "commit\n" == git(tmp_path, "cat-file", "-t", each.id)
    assert "main" == git(tmp_path, "symbolic-ref", "--short", "HEAD").strip()


def test_a_new_release_only_adds() -> None:
    """A release after all others leaves their commits as they are; a lock that changed changes what follows it."""
    before = release_line.hashes(LINE)

    after = release_line.hashes([*LINE, Commit("jax-0.6.0", date(2025, 4, 17), "jax==0.6.0\n")])

    assert "jax-0.6.0" == list(after)[-1]
    assert before == {name: after[name] for name in before}
    changed = release_line.hashes([LINE[0], replace(LINE[1], lock="changed\n"), LINE[2]])
    assert [True, False, False] == [changed[name] == before[name] for name in before]


def test_the_line_is_rebuilt_only_if_it_differs(tmp_path: Path) -> None:
    """A line that is there is left alone, and what a killed run left behind is in nobody's way."""
    assert [True, False] == [release_line.build(LINE, tmp_path / "line") for _ in range(2)]
    assert release_line.build(LINE[:2], tmp_path / "line")
    assert "2\n" == git(tmp_path / "line", "rev-list", "--count", "main")


def test_a_line_that_git_refuses_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What git says is handed on, and no half of a line is left."""
    with pytest.raises(Failed, match=r"git fast-import: .*"):
        release_line.build([replace(LINE[0], id="no..tag")], tmp_path / "line")
    assert not (tmp_path / "line").exists()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failed, match="git is not on PATH"):
        release_line.build(LINE, tmp_path / "line")


def test_the_line_is_the_plan_s() -> None:
    """A commit for each line cell that can be had, in the order of their days, with the lock from the tree."""
    made = release_line.commits()

    assert [each.day for each in made] == sorted(each.day for each in made)
    assert "jax-0.4.32" not in {each.id for each in made}  # yanked
    assert {each.id: each.lock for each in made} == {cell.id: lock.load(cell).text for cell in release_line.cells()}


def test_a_mistaken_release_is_told_the_nearest() -> None:
    """What is not on the line is a mistake of the command line, with the names that may have been meant."""
    with pytest.raises(Misused, match=r"the release line has no 'jax-0\.6\.99'; the nearest are jax-0\.6"):
        release_line.cell("jax-0.6.99")


PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
BENCHMARKS = """
import pathlib

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


TINY = (Commit("one", date(2024, 1, 1), ""), Commit("two", date(2024, 1, 2), "# two\n"))


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asv:
    """asv over a line of two empty locks, with benchmarks that need no package."""
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").write_text(BENCHMARKS, encoding="utf-8")
    release_line.build(TINY, tmp_path / "line")
    conf = {
        "version": 1,
        "project": "tiny",
        "repo": "replaced",
        "branches": ["main"],
        "benchmark_dir": str(tmp_path / "benchmarks"),
        "html_dir": str(tmp_path / "site"),
        "environment_type": "existing",
        "launch_method": "forkserver",
    }
    (tmp_path / "asv.conf.json").write_text(json.dumps(conf), encoding="utf-8")
    monkeypatch.setattr(asv_call, "CONF", tmp_path / "asv.conf.json")
    monkeypatch.setattr(asv_call, "WORK", tmp_path / "work")
    monkeypatch.setattr(asv_call, "STATE", tmp_path)
    monkeypatch.setattr(release_line, "PATH", tmp_path / "line")
    return Asv("cpu-tiny", release_line.hashes(TINY), tmp_path / "results")


def test_what_asv_measured_is_counted(tiny: Asv, tmp_path: Path) -> None:
    """asv runs as our machine, and each of its rows is known to be measured, lacking or failed."""
    commit = tiny.commits["two"]
    words = ("--python=same", f"--set-commit-hash={commit}", "--machine=cpu-tiny", "--record-samples", "-a", "rounds=1")

    tiny._call("tiny", tiny._conf("tiny", "tiny"), PYTHON, "run", *words)

    rows = results.rows(tiny.results, "cpu-tiny", commit)
    assert {
        "Thing.time_sum(1)": ("measured", False),
        "Thing.time_sum(1000)": ("measured", False),
        "Thing.track_size(1)": ("measured", True),
        "Thing.track_size(1000)": ("measured", True),
        "time_failing": ("failed", False),
        "track_lacking": ("lacking", True),
    } == {key: (row.state, row.count) for key, row in sorted(rows.items())}
    assert 1000 == rows["Thing.track_size(1000)"].least
    assert 0 < rows["Thing.time_sum(1000)"].least <= rows["Thing.time_sum(1000)"].value
    assert {"measured": 4, "lacking": 1, "failed": 1, "missing": 0} == results.tally(rows.values())
    assert ["Thing.time_sum(1000)"] == list(results.rows(tiny.results, "cpu-tiny", commit, [r"^Thing\.time.*1000"]))
    # The other release has no result, and all of it is missing.
    other = tiny.commits["one"]
    assert {"missing"} == {row.state for row in results.rows(tiny.results, "cpu-tiny", other).values()}
    machine = json.loads((tiny.results / "cpu-tiny" / "machine.json").read_text(encoding="utf-8"))
    assert "cpu-tiny" == machine["machine"]
    assert platform.node() not in json.dumps(machine)


def test_nothing_published_is_no_success(tiny: Asv, tmp_path: Path) -> None:
    """Without timings there is no site, and one that asv did not make is a failure with asv's own words."""
    with pytest.raises(Failed, match=r"there are no timings to publish: `nox -s bench` makes some"):
        tiny.publish()
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "benchmarks.json").write_text('{"version": 99}', encoding="utf-8")
    with pytest.raises(Failed, match=r"asv published nothing; it said, at the end: .+"):
        tiny.publish()


def test_the_site_has_a_chart_of_all_it_lists(tiny: Asv) -> None:
    """What has no value on any release is not on the site, where a browser would look for its chart in vain."""
    words = ("--python=same", f"--set-commit-hash={tiny.commits['two']}", "--machine=cpu-tiny")
    tiny._call("tiny", tiny._conf("tiny", "tiny"), PYTHON, "run", *words)

    site = tiny.publish()

    listed = json.loads((site / "index.json").read_text(encoding="utf-8"))["benchmarks"]
    assert {"Thing.time_sum", "Thing.track_size"} == set(listed)
    assert set(listed) == {path.stem for path in (site / "graphs" / "summary").glob("*.json")}


def test_a_machine_is_named_by_its_processor() -> None:
    """Results are filed under the processor: neither the host's name nor its kernel's build is told."""
    name = asv_call.machine_name()

    assert re.fullmatch(r"cpu-[a-z0-9-]+-x\d+", name)
    assert platform.node().lower() not in name.split("-")
    assert platform.system() == asv_call.hardware(name)["os"]


def test_asv_installs_what_the_commit_pins_and_nothing_else() -> None:
    """The stack is never in asv's own matrix, and each install is by hash, without building, into asv's environment."""
    conf = load_json(str(asv_call.CONF), js_comments=True, api_version=1)

    (*_, install) = conf["install_command"]
    assert {"req": {"uv": [""]}} == conf["matrix"]
    assert [] == conf["build_command"]
    assert {"--require-hashes", "--no-deps", "{env_dir}", "--compile-bytecode"} <= set(install.split())
    assert (".suite/line", ["main"]) == (conf["repo"], conf["branches"])
