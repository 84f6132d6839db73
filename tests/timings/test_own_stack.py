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
from tests.timings.test_release_line import tiny  # noqa: F401

VERSIONS = {name: lock.load(release_line.cell("jax-0.9.2")).pins[name] for name in PACKAGES}


def python(path: Path, told: str, status: int = 0) -> Path:
    """Put an interpreter at `path` that answers this to whatever it is asked."""
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{told}\nEND\necho 'what it says of itself' >&2\nexit {status}\n")
    path.chmod(0o755)
    return path


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


def test_a_stack_of_no_release_is_refused_with_one_that_is_near(tmp_path: Path) -> None:
    """Of a jax of the line with another Equinox nothing is measured: it says which Equinox would do."""
    odd = {**VERSIONS, "equinox": "0.11.1", "asv-runner": "0.3.2"}

    with pytest.raises(Misused, match=rf"equinox==0\.11\.1 .* one has jax==0\.9\.2 equinox=={VERSIONS['equinox']}"):
        own_stack.find(python(tmp_path / "python", tells(versions=odd)))


@pytest.mark.parametrize(
    ("told", "status", "message"),
    [
        ("", 1, "has no jax that works: what it says of itself"),
        (tells(versions={**VERSIONS, "asv-runner": "missing"}), 0, "-m pip install asv-runner"),
    ],
)
def test_what_cannot_be_measured_is_a_sentence(told: str, status: int, message: str, tmp_path: Path) -> None:
    """No jax, or nothing for asv to measure with: what is wrong and what to do."""
    with pytest.raises(Misused, match=message):
        own_stack.find(python(tmp_path / "python", told, status))


def test_no_interpreter_is_a_sentence(tmp_path: Path) -> None:
    """A path at which there is nothing is named."""
    with pytest.raises(Misused, match="nowhere does not run"):
        own_stack.find(tmp_path / "nowhere")


def test_asv_measures_what_is_there(tiny: Asv, tmp_path: Path) -> None:  # noqa: F811
    """asv runs in that interpreter, under the device's name; what is kept does not tell where it is, and adds up."""
    cell = release_line.cells()[0]
    mine = Existing(Path(sys.executable), "3.12.1", cell, dict.fromkeys(PACKAGES, "1"), "gpu", "NVIDIA H200", 1)
    asv = Asv(mine.name, {cell.id: tiny.commits["two"]}, tmp_path / "kept", mine)

    asv.run(cell, "first", "-a", "rounds=1", "--bench", "track_size")
    asv.run(cell, "second", "-a", "rounds=1", "--bench", "time_sum")

    rows = results.rows(asv.results, mine.name, tiny.commits["two"])
    assert {"Thing.time_sum(1)", "Thing.time_sum(1000)", "Thing.track_size(1)", "Thing.track_size(1000)"} == {
        key for key, row in rows.items() if row.state == "measured"
    }
    (path,) = (asv.results / mine.name).glob("*-existing.json")
    assert sys.executable not in path.read_text(encoding="utf-8")
    machine = json.loads((asv.results / mine.name / "machine.json").read_text(encoding="utf-8"))
    assert "NVIDIA H200, " in machine["cpu"]


def test_what_is_tried_out_is_not_taken_for_a_result(tiny: Asv, tmp_path: Path) -> None:  # noqa: F811
    """asv saves what a smoke run says: it lies apart from what later runs find there, and nothing of it is kept."""
    cell = release_line.cells()[0]
    mine = Existing(Path(sys.executable), "3.12.1", cell, dict.fromkeys(PACKAGES, "1"), "gpu", "NVIDIA H200", 1)
    asv = Asv(mine.name, {cell.id: tiny.commits["two"]}, tmp_path / "kept", mine)

    replace(asv, results=tmp_path / "smoke").run(cell, "smoke", "--quick", "--bench", "track_size")
    asv.run(cell, "real", "--skip-existing-successful", "-a", "rounds=1", "--bench", "time_sum")

    rows = results.rows(asv.results, mine.name, tiny.commits["two"])
    assert {"Thing.time_sum(1)", "Thing.time_sum(1000)"} == {k for k, row in rows.items() if row.state == "measured"}
