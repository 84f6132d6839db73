"""One real cell, from lock to report: the newest of the default ones, installed and probed."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import ROOT
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.environments import probe_call
from jax_stack_compat.stack import lock
from laboratory.cli.command_line import main
from laboratory.records.alike import LAYERS
from laboratory.records.work import ask, planned
from laboratory.report.folder.compat_json import read_report
from laboratory.run import environment
from tests.cell.test_probe import Session, names_of
from tests.conftest import Recorded
from tests.real_cell import CELL, COUNT, ISSUE, RECORD, started

pytestmark = pytest.mark.usefixtures("pageless")


def test_a_real_cell_does_as_expected(real_state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The newest default release shows what its issue module says it shows, in a fresh environment."""
    assert Exit.AS_EXPECTED == main(["report", "--issue", ISSUE, "--to", str(tmp_path)])
    report = read_report(tmp_path)
    assert [CELL.id] == [cell.id for cell in report.cells]
    assert {"as-expected"} == {each.agreement for each in report.observations}
    assert lock.load(CELL).pins == report.cells[0].packages
    last_line = capsys.readouterr().out.strip().splitlines()[-1]
    assert f"{COUNT} of {COUNT} run as expected; 0 could not run, 0 not run, 0 errors" == last_line


def test_the_environment_holds_what_the_lock_pins(recorded: Recorded) -> None:
    """A record lists exactly the packages of the lock."""
    assert lock.load(CELL).pins == json.loads(recorded()["jit.json"])["machine"]["packages"]


def test_a_package_loads_nothing_that_builds_on_it(real_state: Path) -> None:
    """No import on a real stack reaches a layer above it, as the reuse of records assumes."""
    tops = ["jax.numpy, jax.scipy.signal", "equinox", "lineax", "optimistix"]
    code = "import sys\n" + "".join(f"import {top}\nprint(*sys.modules)\n" for top in tops)
    python = real_state / "envs" / CELL.id / "bin" / "python"
    told = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()

    loaded = [{name.partition(".")[0].replace("_", "-") for name in line.split()} for line in told]
    assert [set()] * 4 == [seen & set().union(*LAYERS[at:]) for at, seen in enumerate(loaded)]
    assert {"jax", "numpy"} <= loaded[0]


def test_a_real_stack_is_asked_for_more(real_state: Path, tmp_path: Path) -> None:
    """With a real jax, a case gets x64, devices and variables, and JAX's exceptions and warnings are recognised."""
    python = real_state / "envs" / CELL.id / "bin" / "python"
    surroundings = {"JAX_TRACEBACK_FILTERING": "off", "OPENBLAS_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
    finished = Session(tmp_path, names_of("blocked"), surroundings=surroundings, python=str(python)).run()
    first = {case: finished.session.record((module, case)).attempts[0].parts for module, case in finished.session.names}

    assert {
        "x64": {"reproducer": "right", "workaround": None, "control": None},
        "not-x64": {"reproducer": "wrong", "workaround": "right", "control": None},
        "host-devices": {"reproducer": "right", "control": None},
        "warned": {"reproducer": "refused", "control": None},
        "leaked-tracer": {"reproducer": "refused", "control": None},
    } == {case: {name: part.behaviour for name, part in parts.items()} for case, parts in first.items()}


def test_what_is_known_is_not_run_again(recorded: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run keeps every record and says so; --fresh replaces the requested ones."""
    before = recorded()
    main(RECORD)
    assert f"{COUNT} of {COUNT} cases cached, 0 to run" in capsys.readouterr().out
    assert before == recorded()
    main([*RECORD, "--headlines", "--fresh"])
    assert ["jit.json"] == [name for name, record in recorded().items() if record != before[name]]


def test_records_that_are_enough_need_no_environment(
    real_state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell with all records has no case left, even without its environment; on another Python, all are left."""
    monkeypatch.setattr(environment, "ENVIRONMENTS", tmp_path)
    entries = catalogue.select([ISSUE])

    assert (0, COUNT) == tuple(len(ask(planned(cell, entries)).left) for cell in (CELL, replace(CELL, python="3.99")))


def test_two_runs_at_once_do_not_mix(real_state: Path) -> None:
    """A second run of the same cell waits for the first, and then finds its records."""
    (real_state / "records" / CELL.id / ISSUE / "jit.json").unlink()
    both = [started(real_state, "--headlines") for _ in range(2)]
    said = [each.communicate(timeout=120)[0] for each in both]
    assert [0, 0] == [each.returncode for each in both]
    assert 1 == sum("another run is in this cell: waiting for it" in each for each in said)
    assert 1 == sum("1 of 1 cases cached, 0 to run" in each for each in said)


def test_a_program_is_compiled_by_the_device_at_hand(real_state: Path, tmp_path: Path) -> None:
    """In a real cell the own device is a CPU, whose program for a scan has one loop, as on any device."""
    python = real_state / "envs" / CELL.id / "bin" / "python"
    command = probe_call.command(python, "benchmarks._program_here", "v5e", str(tmp_path), "scan", root=ROOT)
    env = probe_call.surroundings()
    ran = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)

    counts = json.loads(ran.stdout.splitlines()[-1])["counts"]
    assert (1, 3232, 448) == tuple(counts[name] for name in ("while_loops", "argument_bytes", "output_bytes"))
    assert " while(" in (tmp_path / "scan.hlo.txt").read_text(encoding="utf-8")
