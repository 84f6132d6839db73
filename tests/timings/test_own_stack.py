"""A stack that is there already: which release it is taken for, and what is kept of its timings."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from suite.errors import Misused
from suite.stack import lock
from suite.timings import own_stack, release_line, results
from suite.timings.asv_call import Asv
from suite.timings.own_stack import PACKAGES, Existing
from tests.processes import program

VERSIONS = {name: lock.load(release_line.cell("jax-0.9.2")).pins[name] for name in PACKAGES}


def python(path: Path, told: str, status: int = 0) -> Path:
    """Put an interpreter at `path` that answers this to whatever it is asked."""
    return program(path, f"cat <<'END'\n{told}\nEND\necho 'what it says of itself' >&2\nexit {status}")


def tells(**otherwise: object) -> str:
    """What an interpreter on a machine with one GPU answers."""
    versions = {**VERSIONS, "asv-runner": "0.3.2"}
    return json.dumps(
        {"versions": versions, "python": "3.12.1", "platform": "gpu", "kind": "NVIDIA H200", "count": 1, **otherwise}
    )


def test_a_stack_goes_by_its_release_and_its_device(tmp_path: Path) -> None:
    """The versions tell which cell it is like, and the device what its results are filed under."""
    found = own_stack.find(python(tmp_path / "python", tells()))

    assert ("jax-0.9.2", "gpu-nvidia-h200-x1") == (found.cell.id, found.name)
    assert VERSIONS == found.versions


@pytest.mark.parametrize(
    ("told", "status", "message"),
    [
        ("", 1, "has no jax that works: what it says of itself"),
        (tells(versions={**VERSIONS, "asv-runner": "missing"}), 0, "-m pip install asv-runner"),
        (
            *(tells(versions={**VERSIONS, "equinox": "0.11.1", "asv-runner": "0.3.2"}), 0),
            rf"equinox==0\.11\.1 .* one has jax==0\.9\.2 equinox=={VERSIONS['equinox']}",
        ),
    ],
)
def test_what_cannot_be_measured_is_a_sentence(told: str, status: int, message: str, tmp_path: Path) -> None:
    """No jax, nothing for asv to measure with, a stack of no release: what is wrong, and what would do."""
    with pytest.raises(Misused, match=message):
        own_stack.find(python(tmp_path / "python", told, status))
    with pytest.raises(Misused, match="nowhere does not run"):
        own_stack.find(tmp_path / "nowhere")


def mine(tiny: Asv, results: Path, executable: str) -> Asv:
    """asv in an interpreter on a machine with one GPU, of which the newer of the tiny releases is said."""
    cell, versions = release_line.cells()[0], dict.fromkeys(PACKAGES, "1")
    there = Existing(Path(executable), "3.12.1", cell, versions, "gpu", "NVIDIA H200", 1)
    return Asv(there.name, {cell.id: tiny.commits["two"]}, results, there)


def test_an_interpreter_that_asv_cannot_use_leaves_nothing(tiny: Asv, tmp_path: Path) -> None:
    """Where asv gives up before it looks for benchmarks there are no results, and no traceback either."""
    asv = mine(tiny, tmp_path / "nothing", str(tmp_path / "nowhere"))

    asv.run(release_line.cells()[0], "nothing")

    assert not asv.results.exists()


def test_asv_measures_what_is_there(tiny: Asv, tmp_path: Path) -> None:
    """asv runs there, as the device; what is kept adds up, tells not where it is, and has nothing of a smoke run."""
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
