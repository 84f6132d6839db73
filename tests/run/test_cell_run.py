"""One real cell, from lock to report: the newest of the default ones, installed and probed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from suite.errors import Exit
from suite.files import ROOT
from suite.report import summary
from suite.report.assemble import assemble
from suite.report.model import Report
from suite.run import catalogue, cell_run, environment, records
from suite.stack import lock, plan
from tests.cell.test_probe import Session, names_of

CELL = plan.tagged("default")[-1]
ISSUE = "wraps-lower-bypass"
COUNT = len(catalogue.select([ISSUE])[0].issue.cases)


def suite(state: Path, *words: str, **surroundings: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m suite` with its state in `state`."""
    return subprocess.run(
        [sys.executable, "-m", "suite", *words],
        cwd=ROOT,
        env={**os.environ, "SUITE_STATE": str(state), "NO_COLOR": "1", **surroundings},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder in which the cell has been run once, on one issue."""
    folder = tmp_path_factory.mktemp("state")
    ran = suite(folder, "record", CELL.id, "--issue", ISSUE)
    assert ran.returncode == 0, ran.stderr
    return folder


def test_a_real_cell_does_as_expected(state: Path, tmp_path: Path) -> None:
    """The newest default release shows what its issue module says it shows, in a fresh environment."""
    reported = suite(state, "report", "--issue", ISSUE, "--to", str(tmp_path))
    assert reported.returncode == 0, reported.stdout
    report = Report.model_validate_json((tmp_path / "compat.json").read_text(encoding="utf-8"))
    assert [CELL.id] == [cell.id for cell in report.cells]
    assert {"as-expected"} == {each.agreement for each in report.observations}
    assert lock.load(CELL).pins == report.cells[0].packages
    assert re.search(rf"{COUNT} run, 0 not run, 0 unavailable, 0 error", reported.stdout.strip().splitlines()[-1])


def test_the_environment_holds_what_the_lock_pins(state: Path) -> None:
    """What the interpreter of the cell says is installed is the lock, neither more nor less."""
    record = json.loads(next((state / "records" / CELL.id / ISSUE).glob("*.json")).read_text(encoding="utf-8"))
    assert lock.load(CELL).pins == record["machine"]["packages"]


def test_a_real_stack_is_asked_for_more(state: Path, tmp_path: Path) -> None:
    """On a real jax a case gets 64 bits, devices and an environment, and what jax raises and warns of is recognised."""
    python = state / "envs" / CELL.id / "bin" / "python"
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


def test_what_is_known_is_not_run_again(state: Path) -> None:
    """A second run keeps every record as it is, and says so; --fresh makes them anew."""
    records = sorted((state / "records" / CELL.id / ISSUE).glob("*.json"))
    before = [record.read_bytes() for record in records]
    again = suite(state, "record", CELL.id, "--issue", ISSUE)
    assert f"{COUNT} of {COUNT} cases are known and unchanged, 0 left to run" in again.stdout
    assert before == [record.read_bytes() for record in records]
    suite(state, "record", CELL.id, "--issue", ISSUE, "--fresh")
    assert all(old != record.read_bytes() for old, record in zip(before, records, strict=True))


def test_records_that_are_enough_need_no_environment(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all is known of a cell, nothing is left to run though its environment is gone; of another Python, all."""
    monkeypatch.setattr(records, "RECORDS", state / "records")
    monkeypatch.setattr(environment, "ENVIRONMENTS", tmp_path)
    entries = catalogue.select([ISSUE])

    assert (0, COUNT) == (cell_run.left(CELL, entries), cell_run.left(replace(CELL, python="3.99"), entries))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_loses_nothing_that_had_finished(state: Path, how: signal.Signals) -> None:
    """A run ended in the middle keeps its finished cases, leaves no process, and the next start says what is left."""
    folder = state / "records" / CELL.id / ISSUE
    for record in folder.glob("*.json"):
        record.unlink()
    running = subprocess.Popen(
        [sys.executable, "-m", "suite", "record", CELL.id, "--issue", ISSUE],
        cwd=ROOT,
        env={**os.environ, "SUITE_STATE": str(state)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # What a shell runs in the background is born deaf to Ctrl-C, and so are the tests' own children then.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while len(list(folder.glob("*.json"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    running.send_signal(how)
    _, said = running.communicate(timeout=30)
    assert running.returncode == (130 if how is signal.SIGINT else -signal.SIGKILL)
    assert ("what had finished is kept" in said) == (how is signal.SIGINT)
    assert _processes_in(state) == []
    kept = {record: record.read_bytes() for record in folder.glob("*.json")}
    assert 2 <= len(kept) < COUNT
    again = suite(state, "record", CELL.id, "--issue", ISSUE)
    assert f"{len(kept)} of {COUNT} cases are known and unchanged, {COUNT - len(kept)} left to run" in again.stdout
    assert kept == {record: record.read_bytes() for record in kept}
    assert COUNT == len(list(folder.glob("*.json")))


def _processes_in(state: Path) -> list[str]:
    """The command lines of processes that run an interpreter under `state`, once they have had a moment to go."""
    found: list[str] = []
    for _ in range(100):
        found = []
        for each in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = each.read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if command.startswith(str(state)):
                found.append(command)
        if not found:
            break
        time.sleep(0.05)
    return found


def test_two_runs_at_once_do_not_mix(state: Path) -> None:
    """A second run of the same cell waits for the first, and then finds its records."""
    command = [sys.executable, "-m", "suite", "record", CELL.id, "--issue", ISSUE]
    surroundings = {**os.environ, "SUITE_STATE": str(state), "NO_COLOR": "1"}
    for record in (state / "records" / CELL.id / ISSUE).glob("*.json"):
        record.unlink()
    both = [subprocess.Popen(command, cwd=ROOT, env=surroundings, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [each.communicate(timeout=120)[0] for each in both]
    assert [0, 0] == [each.returncode for each in both]
    assert 1 == sum("another run is in this cell: waiting for it" in each for each in said)
    assert 1 == sum(f"{COUNT} of {COUNT} cases are known and unchanged, 0 left to run" in each for each in said)


def test_a_lock_whose_hash_does_not_match_is_refused(state: Path, tmp_path: Path) -> None:
    """With one hash of its lock changed a cell is not installed: an error, and never a verdict about upstream."""
    text = lock.load(CELL).text
    wrong = re.sub(r"(jaxtyping==\S+ \\\n    --hash=sha256:)[0-9a-f]{64}", rf"\g<1>{'0' * 64}", text)
    assert wrong != text
    script = (
        "import sys; from pathlib import Path\n"
        "from suite.run import environment; from suite.stack import lock, plan\n"
        "path = Path(sys.argv[2]); path.write_text(sys.argv[3])\n"
        "try: environment.prepare(plan.cell(sys.argv[1]), lock.parse(path.read_text(), path))\n"
        "except environment.Unprepared as error: print(error.verdict, error.reason)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, CELL.id, str(tmp_path / "lock.txt"), wrong],
        cwd=ROOT,
        env={**os.environ, "SUITE_STATE": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "error install.hash" == ran.stdout.strip(), ran.stderr


def test_an_index_out_of_reach_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no index and an empty cache every case of the cell is `error`, and the report's exit code is not 0."""
    nowhere = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_CACHE_DIR": str(tmp_path / "cache")}
    away = {**nowhere, "UV_HTTP_TIMEOUT": "1", "UV_HTTP_RETRIES": "0", "UV_FIND_LINKS": ""}
    assert 0 == suite(tmp_path, "record", CELL.id, **away).returncode
    monkeypatch.setattr(records, "RECORDS", tmp_path / "records")
    report = assemble([CELL], catalogue.entries())
    assert Exit.INCOMPLETE == summary.exit_code(report)
    assert {("error", "install.network")} == {(each.verdict, each.reason) for each in report.observations}
    assert report.coverage.planned == report.coverage.error


def test_without_an_interpreter_the_cell_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no CPython of the cells is to be had, one sentence says so, and nothing is skipped."""
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    places = ("HOME", "PATH", "PYENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR", "UV_PYTHON_INSTALL_DIR")
    bare = {**dict.fromkeys(places, str(nothing)), "UV_PYTHON_DOWNLOADS": "never"}
    ran = suite(tmp_path, "record", CELL.id, **bare)
    assert f"no CPython {CELL.python} on this machine" in ran.stdout
    assert f"uv python install {CELL.python}" in ran.stdout
    monkeypatch.setattr(records, "RECORDS", tmp_path / "records")
    report = assemble([CELL], catalogue.entries())
    assert Exit.INCOMPLETE == summary.exit_code(report)
    assert {("unavailable", "plan.no-interpreter")} == {(each.verdict, each.reason) for each in report.observations}


def test_a_record_that_is_none_is_named_before_anything_runs(state: Path) -> None:
    """A file among the records that is not one is refused by file and key, with what to do, and exit code 2."""
    path = state / "records" / CELL.id / ISSUE / "jit.json"
    whole = path.read_text(encoding="utf-8")
    try:
        path.write_text(re.sub('"schema_version": .', '"schema_version": "one", "more": 2', whole), encoding="utf-8")
        ran = suite(state, "report", "--to", str(state / "report"))
    finally:
        path.write_text(whole, encoding="utf-8")
    assert 2 == ran.returncode
    for fault in ("jit.json: schema_version:", "jit.json: more:", "remove the file"):
        assert fault in ran.stderr


def test_a_fresh_run_that_is_cut_short_loses_nothing(state: Path) -> None:
    """--fresh replaces a record when there is a new one, and not before."""
    folder = state / "records" / CELL.id / ISSUE
    before = {record: record.read_bytes() for record in folder.glob("*.json")}
    assert len(before) == COUNT
    with subprocess.Popen(
        [sys.executable, "-m", "suite", "record", CELL.id, "--issue", ISSUE, "--fresh"],
        cwd=ROOT,
        env={**os.environ, "SUITE_STATE": str(state)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as running:
        deadline = time.monotonic() + 60
        while all(record.read_bytes() == old for record, old in before.items()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        running.kill()
    assert before.keys() == set(folder.glob("*.json"))
    assert any(record.read_bytes() == old for record, old in before.items())


def test_instructions_of_a_trace_are_counted(state: Path) -> None:
    """In a real cell, callgrind counts what tracing and lowering a scan takes: tens of millions of instructions."""
    if shutil.which("valgrind") is None:
        if os.environ.get("CI"):
            pytest.fail("CI is set, and there is no valgrind: .ci/run installs it")
        pytest.skip("no valgrind on this machine: no instruction is counted")

    ran = subprocess.run(
        [state / "envs" / CELL.id / "bin" / "python", "-m", "benchmarks._instructions", "basics.Scan"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert 10_000_000 < json.loads(ran.stdout)["instructions"] < 1_000_000_000
