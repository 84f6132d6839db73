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
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from suite.__main__ import main
from suite.errors import Exit
from suite.files import ROOT
from suite.report import summary
from suite.report.assemble import assemble
from suite.report.model import Report
from suite.run import catalogue, cell_run, environment, interpreter, probe_call, records
from suite.run.alike import LAYERS
from suite.stack import lock, plan
from suite.timings.counting import Counter
from tests.cell.test_probe import Session, names_of

CELL = plan.tagged("default")[-1]
ISSUE = "wraps-lower-bypass"
RECORD = ["record", CELL.id, "--issue", ISSUE]
COUNT = len(catalogue.select([ISSUE])[0].issue.cases)


def keep_in(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Have this process keep its state in `folder`, as SUITE_STATE has another one."""
    for module, name in ((records, "records"), (environment, "envs"), (probe_call, "logs")):
        patch.setattr(module, {"envs": "ENVIRONMENTS"}.get(name, name.upper()), folder / name)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A state folder in which the cell has been run once, on one issue."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        keep_in(folder, patch)
        assert Exit.AS_EXPECTED == main(RECORD)
        yield folder


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder in which nothing has been run."""
    keep_in(tmp_path, monkeypatch)
    return tmp_path


@pytest.fixture
def found(state: Path) -> Callable[[], dict[str, bytes]]:
    """The issue's records, by the names of their files."""
    folder = state / "records" / CELL.id / ISSUE
    return lambda: {path.name: path.read_bytes() for path in sorted(folder.glob("*.json"))}


def test_a_real_cell_does_as_expected(state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The newest default release shows what its issue module says it shows, in a fresh environment."""
    assert Exit.AS_EXPECTED == main(["report", "--issue", ISSUE, "--to", str(tmp_path)])
    report = Report.model_validate_json((tmp_path / "compat.json").read_text(encoding="utf-8"))
    assert [CELL.id] == [cell.id for cell in report.cells]
    assert {"as-expected"} == {each.agreement for each in report.observations}
    assert lock.load(CELL).pins == report.cells[0].packages
    last_line = capsys.readouterr().out.strip().splitlines()[-1]
    assert f"{COUNT} run, 0 not run, 0 unavailable, 0 error" in last_line


def test_the_environment_holds_what_the_lock_pins(found: Callable[[], dict[str, bytes]]) -> None:
    """What the interpreter of the cell says is installed is the lock, neither more nor less."""
    assert lock.load(CELL).pins == json.loads(found()["jit.json"])["machine"]["packages"]


def test_a_package_loads_nothing_that_builds_on_it(state: Path) -> None:
    """What counts as the same packages for a case holds on a real stack: no import reaches into a layer above it."""
    tops = ["jax.numpy, jax.scipy.signal", "equinox", "lineax", "optimistix"]
    code = "import sys\n" + "".join(f"import {top}\nprint(*sys.modules)\n" for top in tops)
    python = state / "envs" / CELL.id / "bin" / "python"
    told = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()

    loaded = [{name.partition(".")[0].replace("_", "-") for name in line.split()} for line in told]
    assert [set()] * 4 == [seen & set().union(*LAYERS[at:]) for at, seen in enumerate(loaded)]
    assert {"jax", "numpy"} <= loaded[0]


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


def test_what_is_known_is_not_run_again(
    found: Callable[[], dict[str, bytes]], capsys: pytest.CaptureFixture[str]
) -> None:
    """A second run keeps every record as it is, and says so; --fresh makes anew what it is asked for."""
    before = found()
    main(RECORD)
    assert f"{COUNT} of {COUNT} cases are known and unchanged, 0 left to run" in capsys.readouterr().out
    assert before == found()
    main([*RECORD, "--headlines", "--fresh"])
    assert ["jit.json"] == [name for name, record in found().items() if record != before[name]]


def test_records_that_are_enough_need_no_environment(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all is known of a cell, nothing is left to run though its environment is gone; of another Python, all."""
    monkeypatch.setattr(environment, "ENVIRONMENTS", tmp_path)
    entries = catalogue.select([ISSUE])

    assert (0, COUNT) == (cell_run.left(CELL, entries), cell_run.left(replace(CELL, python="3.99"), entries))


def started(state: Path, *words: str) -> subprocess.Popen[str]:
    """A run of the cell in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "suite", *RECORD, *words],
        cwd=ROOT,
        env={**os.environ, "SUITE_STATE": str(state), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What a shell runs in the background is born deaf to Ctrl-C, and so are the tests' own children then.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def eventually(holds: Callable[[], object]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_interrupted_run_loses_nothing_that_had_finished(
    state: Path, found: Callable[[], dict[str, bytes]], capsys: pytest.CaptureFixture[str]
) -> None:
    """A run ended in the middle keeps its finished cases, leaves no process, and the next start says what is left."""
    shutil.rmtree(state / "records" / CELL.id / ISSUE)
    kept: dict[str, bytes] = {}

    def has_two_more() -> bool:
        return len(found()) >= len(kept) + 2

    for how, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
        running = started(state)
        eventually(has_two_more)
        running.send_signal(how)
        _, complained = running.communicate(timeout=30)
        assert code == running.returncode
        assert ("what had finished is kept" in complained) == (how is signal.SIGINT)
        eventually(lambda: not _processes_in(state))
        assert kept.items() <= found().items()
        kept = found()
        assert len(kept) < COUNT

    main(RECORD)
    said = f"{len(kept)} of {COUNT} cases are known and unchanged, {COUNT - len(kept)} left to run"
    assert said in capsys.readouterr().out
    assert kept.items() <= found().items()
    assert COUNT == len(found())


def _processes_in(state: Path) -> list[str]:
    """The command lines of processes that run an interpreter under `state`."""
    commands = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            commands.append(each.read_bytes().replace(b"\0", b" ").decode())
        except OSError:  # it has ended
            continue
    return [command for command in commands if command.startswith(str(state))]


def test_two_runs_at_once_do_not_mix(state: Path) -> None:
    """A second run of the same cell waits for the first, and then finds its records."""
    (state / "records" / CELL.id / ISSUE / "jit.json").unlink()
    both = [started(state, "--headlines") for _ in range(2)]
    said = [each.communicate(timeout=120)[0] for each in both]
    assert [0, 0] == [each.returncode for each in both]
    assert 1 == sum("another run is in this cell: waiting for it" in each for each in said)
    assert 1 == sum("1 of 1 cases are known and unchanged, 0 left to run" in each for each in said)


def test_a_lock_whose_hash_does_not_match_is_refused(elsewhere: Path) -> None:
    """With one hash of its lock changed a cell is not installed: an error, and never a verdict about upstream."""
    text, path = lock.load(CELL).text, elsewhere / "lock.txt"
    wrong = re.sub(r"(jaxtyping==\S+ \\\n    --hash=sha256:)[0-9a-f]{64}", rf"\g<1>{'0' * 64}", text)
    assert wrong != text
    path.write_text(wrong, encoding="utf-8")

    with pytest.raises(environment.Unprepared) as caught:
        environment.prepare(CELL, lock.parse(wrong, path))
    assert ("error", "install.hash") == (caught.value.verdict, caught.value.reason)


def test_an_index_out_of_reach_is_an_error(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no index and an empty cache every case of the cell is `error`, and the report's exit code is not 0."""
    nowhere = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_CACHE_DIR": str(elsewhere / "cache")}
    for name, value in {**nowhere, "UV_HTTP_TIMEOUT": "1", "UV_HTTP_RETRIES": "0", "UV_FIND_LINKS": ""}.items():
        monkeypatch.setenv(name, value)
    assert Exit.AS_EXPECTED == main(["record", CELL.id])
    report = assemble([CELL], catalogue.entries())
    assert Exit.INCOMPLETE == summary.exit_code(report)
    assert {("error", "install.network")} == {(each.verdict, each.reason) for each in report.observations}
    assert report.coverage.planned == report.coverage.error


def test_a_uv_that_is_killed_is_named_as_that(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where uv is ended in the middle, the last it said is not taken for what went wrong."""
    fake = elsewhere / "uv"
    fake.write_text('#!/bin/sh\ntest "$1" = venv || { echo Using Python 3.12.1 environment >&2; kill -KILL $$; }\n')
    fake.chmod(0o755)
    monkeypatch.setattr("uv.find_uv_bin", lambda: str(fake))

    with pytest.raises(environment.Unprepared) as caught:
        environment.prepare(CELL, lock.load(CELL))
    assert ("error", "install.failed") == (caught.value.verdict, caught.value.reason)
    assert caught.value.detail.startswith("uv pip sync: error: it was ended by SIGKILL")


def test_without_an_interpreter_the_cell_is_unavailable(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no CPython of the cells is to be had, one sentence says so, and nothing is skipped."""
    nothing = elsewhere / "nothing"
    nothing.mkdir()
    for name in ("HOME", "PATH", "PYENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.setenv(name, str(nothing))
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    interpreter.find.cache_clear()
    main(["record", CELL.id])
    said = capsys.readouterr().out
    assert f"no CPython {CELL.python} on this machine" in said
    assert f"uv python install {CELL.python}" in said
    report = assemble([CELL], catalogue.entries())
    assert Exit.INCOMPLETE == summary.exit_code(report)
    assert {("unavailable", "plan.no-interpreter")} == {(each.verdict, each.reason) for each in report.observations}


def test_a_record_that_is_none_is_named_before_anything_runs(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file among the records that is not one is refused by file and key, with what to do, and exit code 2."""
    path = state / "records" / CELL.id / ISSUE / "jit.json"
    whole = path.read_text(encoding="utf-8")
    try:
        path.write_text(re.sub('"schema_version": .', '"schema_version": "one", "more": 2', whole), encoding="utf-8")
        assert Exit.MISUSED == main(["report", "--to", str(state / "report")])
    finally:
        path.write_text(whole, encoding="utf-8")
    complained = capsys.readouterr().err
    for fault in ("jit.json: schema_version:", "jit.json: more:", "remove the file"):
        assert fault in complained


def test_a_fresh_run_that_is_cut_short_loses_nothing(state: Path, found: Callable[[], dict[str, bytes]]) -> None:
    """What --fresh was killed before it could replace counts again, as it was, in a run that asks for no more."""
    before = found()
    with started(state, "--fresh") as running:
        eventually(lambda: found() and not before.items() >= found().items())
        running.kill()
    assert found().keys() < before.keys()
    main(RECORD)
    assert before.keys() == found().keys()
    assert not before.items().isdisjoint(found().items())


def test_instructions_of_a_trace_are_counted(state: Path) -> None:
    """In a real cell, callgrind counts what tracing a scan takes: millions of instructions, and thousands of calls."""
    if shutil.which("valgrind") is None:
        if os.environ.get("CI"):
            pytest.fail("CI is set, and there is no valgrind: .ci/run installs it")
        pytest.skip("no valgrind on this machine: no instruction is counted")

    found = Counter("instructions").count(CELL, ["basics.Scan.time_trace"])["basics.Scan.time_trace"]

    assert found.calls is not None
    assert found.instructions is not None
    assert 1_000 < found.calls < 100_000
    assert 1_000_000 < found.instructions < 1_000_000_000
