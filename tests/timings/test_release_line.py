"""The release line: the same repository everywhere, made from the locks; and asv on it or on an installed stack."""

import json
import platform
import re
import sys
from dataclasses import replace
from datetime import UTC, date, datetime, time
from pathlib import Path

import pytest
from asv.util import load_json

from jax_stack_compat.base.errors import Failed, Misused
from jax_stack_compat.base.files import ROOT
from jax_stack_compat.packages import ASKED
from jax_stack_compat.stack import lock
from laboratory.timings import asv_call, own_stack, release_line, results
from laboratory.timings.asv_call import Asv
from laboratory.timings.own_stack import Existing
from laboratory.timings.release_line import Commit
from tests.processes import git, program

COMMITS = (
    Commit("jax-0.4.30", date(2024, 6, 18), "jax==0.4.30\n"),
    Commit("equinox-0.11.5", date(2024, 6, 18), "equinox==0.11.5\n"),
    Commit("jax-0.5.0", date(2025, 1, 17), "jax==0.5.0  # ünïcode\r\n"),
)
# A fixed hash, so that every git, day and machine must give the same.
HEAD = "f2158d976800b5a8012ed0080b145cb029894e0c"


def test_a_tag_is_a_cell_and_its_tree_the_lock(tmp_path: Path) -> None:
    """The head's hash is fixed; each tag is a commit on main with exactly its cell's lock and day."""
    release_line.build(COMMITS, tmp_path / "line")

    found, line = release_line.hashes(COMMITS), tmp_path / "line"
    assert [HEAD, HEAD] == git(line, "rev-parse", "HEAD", "refs/heads/main").split()
    assert "" == git(line, "fsck", "--strict", "--full")
    assert [each.id for each in COMMITS] == list(found)
    assert [*found.values()] == git(line, "rev-list", "--reverse", "main").split()
    for each in COMMITS:
        assert found[each.id] == git(line, "rev-parse", each.id).strip()
        assert "requirements.txt\n" == git(line, "ls-tree", "--name-only", "-r", each.id)
        assert each.lock == git(line, "show", f"{each.id}:requirements.txt")
        midnight = int(datetime.combine(each.day, time(), UTC).timestamp())
        assert f"{each.id} {midnight} {midnight}\n" == git(line, "show", "-s", "--format=%s %at %ct", each.id)


def test_a_new_release_only_adds() -> None:
    """A new last release does not change earlier commits; a changed lock changes all later ones."""
    before = release_line.hashes(COMMITS)

    after = release_line.hashes([*COMMITS, Commit("jax-0.6.0", date(2025, 4, 17), "jax==0.6.0\n")])

    assert "jax-0.6.0" == list(after)[-1]
    assert before == {name: after[name] for name in before}
    changed = release_line.hashes([COMMITS[0], replace(COMMITS[1], lock="changed\n"), COMMITS[2]])
    assert [True, False, False] == [changed[name] == before[name] for name in before]


def test_the_line_is_rebuilt_only_if_it_differs(tmp_path: Path) -> None:
    """An up-to-date line is not rebuilt, and leftovers of a killed run do no harm."""
    assert [True, False] == [release_line.build(COMMITS, tmp_path / "line") for _ in range(2)]
    assert release_line.build(COMMITS[:2], tmp_path / "line")
    assert "2\n" == git(tmp_path / "line", "rev-list", "--count", "main")


def test_the_line_is_the_plan_s() -> None:
    """Each available cell of the line has a commit with the tree's lock, in the order of days."""
    made = release_line.commits()

    assert [each.day for each in made] == sorted(each.day for each in made)
    assert "jax-0.4.32" not in {each.id for each in made}  # yanked
    assert {each.id: each.lock for each in made} == {cell.id: lock.load(cell).text for cell in release_line.cells()}


@pytest.fixture(scope="module")
def measured(tiny: Asv) -> Asv:
    """An asv that has measured the newer of two releases."""
    conf, python = tiny._conf("tiny"), f"{sys.version_info.major}.{sys.version_info.minor}"
    commit = f"--set-commit-hash={tiny.commits['two']}"
    samples = ("--record-samples", "-a", "rounds=1")
    tiny._call("tiny", conf, python, "run", "--python=same", commit, f"--machine={tiny.machine}", *samples)
    return tiny


def test_what_asv_measured_is_counted(measured: Asv) -> None:
    """asv uses our machine's name, and each row counts as measured, lacking or failed."""
    asv, commit = measured, measured.commits["two"]
    rows = results.rows(asv.results, asv.machine, commit)
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
    assert ["Thing.time_sum(1000)"] == list(results.rows(asv.results, asv.machine, commit, [r"^Thing\.time.*1000"]))
    # The other release has no result, and all of it is missing.
    other = asv.commits["one"]
    assert {"missing"} == {row.state for row in results.rows(asv.results, asv.machine, other).values()}
    machine = json.loads((asv.results / asv.machine / "machine.json").read_text(encoding="utf-8"))
    assert "cpu-tiny" == machine["machine"]
    assert platform.node() not in json.dumps(machine)


def test_nothing_published_is_no_success(tiny: Asv, tmp_path: Path) -> None:
    """Without timings there is no site; if asv fails to make the site, the error has asv's own message."""
    asv = replace(tiny, results=tmp_path / "results")
    with pytest.raises(Failed, match=r"there are no timings to publish: `nox -s bench` makes some"):
        asv.publish()
    asv.results.mkdir()
    (asv.results / "benchmarks.json").write_text('{"version": 99}', encoding="utf-8")
    with pytest.raises(Failed, match=r"asv published nothing; it said, at the end: .+"):
        asv.publish()


def test_the_site_has_a_chart_of_all_it_lists(measured: Asv) -> None:
    """The site lists only benchmarks with a value on some release, and has a chart of each."""
    site = measured.publish()

    listed = json.loads((site / "index.json").read_text(encoding="utf-8"))["benchmarks"]
    assert {"Thing.time_sum", "Thing.track_size"} == set(listed)
    assert set(listed) == {path.stem for path in (site / "graphs" / "summary").glob("*.json")}


def test_a_machine_is_named_by_its_processor() -> None:
    """Results are filed under the processor's name, without the names of host and kernel."""
    name = asv_call.machine_name()

    assert re.fullmatch(r"cpu-[a-z0-9-]+-x\d+", name)
    assert platform.node().lower() not in name.split("-")
    assert platform.system() == asv_call.hardware(name)["os"]


def test_asv_installs_what_the_commit_pins_and_nothing_else() -> None:
    """asv's matrix does not contain the stack; each installation uses hashes and wheels only, in asv's environment."""
    conf = load_json(str(ROOT / "asv.conf.json"), js_comments=True, api_version=1)

    (*_, install) = conf["install_command"]
    assert {"req": {"uv": [""]}} == conf["matrix"]
    assert [] == conf["build_command"]
    assert {"--require-hashes", "--no-deps", "{env_dir}", "--compile-bytecode"} <= set(install.split())
    assert (".suite/line", ["main"]) == (conf["repo"], conf["branches"])


VERSIONS = {name: lock.load(release_line.cell("jax-0.9.2")).pins[name] for name in ASKED}


def python(path: Path, told: str, status: int = 0) -> Path:
    """Write an interpreter to `path` that always prints this."""
    return program(path, f"cat <<'END'\n{told}\nEND\necho 'what it says of itself' >&2\nexit {status}")


def tells(**otherwise: object) -> str:
    """Return the answer of an interpreter on a machine with one GPU."""
    versions = {**VERSIONS, "asv-runner": "0.3.2"}
    return json.dumps(
        {"versions": versions, "python": "3.12.1", "platform": "gpu", "kind": "NVIDIA H200", "count": 1, **otherwise}
    )


def test_a_stack_goes_by_its_release_and_its_device(tmp_path: Path) -> None:
    """The versions determine the cell, and the device determines the machine's name."""
    found = own_stack.find(python(tmp_path / "python", tells()))

    assert ("jax-0.9.2", "gpu-nvidia-h200-x1") == (found.cell.id, found.name)
    assert VERSIONS == found.versions


@pytest.mark.parametrize(
    ("told", "status", "message"),
    [
        ("", 1, "has no working jax: what it says of itself"),
        (tells(versions={**VERSIONS, "asv-runner": "missing"}), 0, "-m pip install asv-runner"),
        (
            *(tells(versions={**VERSIONS, "equinox": "0.11.1", "asv-runner": "0.3.2"}), 0),
            rf"equinox==0\.11\.1 .* one release has jax==0\.9\.2 equinox=={VERSIONS['equinox']}",
        ),
    ],
)
def test_what_cannot_be_measured_is_a_sentence(told: str, status: int, message: str, tmp_path: Path) -> None:
    """Without jax, without asv's runner or with an unknown stack, the error says what is wrong and what to do."""
    with pytest.raises(Misused, match=message):
        own_stack.find(python(tmp_path / "python", told, status))
    with pytest.raises(Misused, match="nowhere does not run"):
        own_stack.find(tmp_path / "nowhere")


def mine(tiny: Asv, results: Path, executable: str) -> Asv:
    """asv in an interpreter that reports one GPU and the newer of the tiny releases."""
    cell, versions = release_line.cells()[0], dict.fromkeys(ASKED, "1")
    there = Existing(Path(executable), "3.12.1", cell, versions, "gpu", "NVIDIA H200", 1)
    return Asv(there.name, {cell.id: tiny.commits["two"]}, results, there)


def test_an_interpreter_that_asv_cannot_use_leaves_nothing(tiny: Asv, tmp_path: Path) -> None:
    """An interpreter that asv cannot use leaves no results and raises nothing."""
    asv = mine(tiny, tmp_path / "nothing", str(tmp_path / "nowhere"))

    asv.run(release_line.cells()[0], "nothing")

    assert not asv.results.exists()


def test_asv_measures_what_is_there(tiny: Asv, tmp_path: Path) -> None:
    """asv runs there under the device's name; kept results accumulate, without private paths and smoke runs."""
    cell = release_line.cells()[0]
    asv = mine(tiny, tmp_path / "kept", sys.executable)

    def measured() -> set[str]:
        rows = results.rows(asv.results, asv.machine, tiny.commits["two"])
        return {key for key, row in rows.items() if row.state == "measured"}

    replace(asv, results=tmp_path / "smoke").run(cell, "smoke", "--quick", "--bench", "track_size")
    asv.run(cell, "first", "--skip-existing-successful", "-a", "rounds=1", "--bench", "time_sum")
    assert {"Thing.time_sum(1)", "Thing.time_sum(1000)"} == measured()
    asv.run(cell, "second", "--skip-existing-successful", "-a", "rounds=1", "--bench", "track_size")
    assert {"Thing.time_sum(1)", "Thing.time_sum(1000)", "Thing.track_size(1)", "Thing.track_size(1000)"} == measured()

    (path,) = (asv.results / asv.machine).glob("*-existing.json")
    assert sys.executable not in path.read_text(encoding="utf-8")
    machine = json.loads((asv.results / asv.machine / "machine.json").read_text(encoding="utf-8"))
    assert "NVIDIA H200, " in machine["cpu"]
