"""Cells that need a device: what they ask an installer for, and what becomes of them where there is none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from suite.catalogue import catalogue
from suite.run import environment
from suite.run.environment import Environment
from suite.stack import plan, releases
from suite.stack.matrix import Matrix
from suite.stack.plan import Cell
from tests.processes import program
from tests.worlds import ran


def arm(jax: str = "0.4.30", **keys: str) -> Cell:
    """The one arm cell of a small matrix."""
    asked = {
        "asks": "Does it?",
        "excluded": "try",
        "times": [{"equinox": "0.11.4", "diffrax": "0.5.1"}],
        "along": f"jax=={jax}",
        **keys,
    }
    line = {"releases": ["jax==0.4.30"]}
    matrix = Matrix.model_validate({"schema_version": 1, "python": "3.12", "line": line, "arms": [asked]})
    (cell,) = [each for each in plan.plan(matrix, releases.load()) if each.kind == "arm"]
    return cell


@pytest.mark.parametrize(
    ("keys", "device", "end", "extra"),
    [({}, "cpu", "", "cpu"), ({"device": "gpu"}, "gpu", "+gpu", "cuda12"), ({"device": "tpu"}, "tpu", "+tpu", "tpu")],
)
def test_a_device_is_in_the_id_and_the_requirements(keys: dict[str, str], device: str, end: str, extra: str) -> None:
    """An arm for a device has cells of their own, with the extra of jax that brings its build; one for none, CPU's."""
    cell = arm(**keys)

    assert (device, f"jax-0.4.30+equinox-0.11.4+diffrax-0.5.1{end}") == (cell.device, cell.id)
    assert f"jax[{extra}]==0.4.30" == cell.requires[0]
    assert cell.unavailable is None


def test_a_release_without_a_build_for_the_device_is_unavailable() -> None:
    """Where jax has no such extra, an installer would give the CPU's build: the cell is unavailable, and says why."""
    assert ("plan.no-release", "jax 0.4.20 has no extra cuda12") == arm("0.4.20", device="gpu").unavailable


@pytest.mark.parametrize(("status", "reason"), [(3, "plan.no-device"), (1, "run.probe"), (0, "run.probe")])
def test_without_its_device_a_cell_is_unavailable(
    status: int, reason: str, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell for a gpu whose jax finds none is unavailable and not run on the CPU; any other failure is the probe's."""
    cell = replace(plan.tagged("default")[0], device="gpu")
    python = program(elsewhere / "python", f'[ "$1" = -c ] && exit {status}', "exit 1")
    monkeypatch.setattr(environment, "prepare", lambda *_: Environment(python, "3.12.1"))

    found = ran(cell, [catalogue.entry("tests.cell.corpus.absent")])

    assert reason == found.reason
    assert ("unavailable" if status == 3 else "error") == found.verdict
