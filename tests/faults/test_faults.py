"""Each kind of fault, from the driver's call of the probe to the verdict; only upstream's count against it."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from jax_stack_compat.base.files import PACKAGES, ROOT, read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.cell import child
from jax_stack_compat.environments import probe_call
from jax_stack_compat.environments.task import Task
from jax_stack_compat.judge import verdicts
from jax_stack_compat.judge.record import Record
from jax_stack_compat.judge.verdicts import Judged
from tests.cell.test_probe import PATIENCE
from tests.faults.machine import KEY, LEFT, Machine
from tests.processes import clone, default_signals
from tests.state import eventually, noted
from tests.worlds import started_with


def told(found: dict[str, Judged]) -> Sequence[tuple[str, str | None]]:
    """The verdicts with their reasons, in order."""
    return [(each.verdict, each.reason) for each in found.values()]


CLEAR = ("clear", None)


@pytest.mark.parametrize("cases", ["leaves-a-module looks-around looks-afresh", "in-shared-memory", "no-number"])
def test_what_a_case_does_stays_its_own(machine: Machine, cases: str) -> None:
    """Files beside a case, a replaced clock or many processes affect only that case's verdict."""
    found = machine.run(*cases.split())

    assert {CLEAR} == set(told(found)), found


def test_what_a_case_says_is_kept_spelled_out(machine: Machine) -> None:
    """Unencodable text in an answer or an exception is recorded, and no case is lost."""
    found = machine.run("lone-surrogate", "raises-it")

    half = {name: (each.verdict, each.detail) for name, each in found.items()}
    kept = {
        "lone-surrogate": ("clear", "half \\ud800, \\u0000"),
        "raises-it": ("different", "ValueError: half \\udcff"),
    }
    assert kept == half


@pytest.mark.parametrize("case", ["kills-parent", "writes-on"])
def test_what_ends_its_parent_is_named_and_costs_no_other(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """A case cannot end a probe with its own namespaces; otherwise the error names the case, and the next case runs."""
    monkeypatch.setenv("CORPUS_FOLDER", str(machine.folder))
    found = machine.run(case, "sorted-after")

    assert [CLEAR if machine.apart else ("error", "run.probe"), CLEAR] == told(found)
    assert machine.apart == (machine.said == [])
    assert "none" == machine.ended.device


def test_what_is_installed_stays_as_it_was(machine: Machine) -> None:
    """With namespaces, a write into the packages fails, as an `error`; without them, it is noticed and undone."""
    found = machine.run("adds-a-file", "shares-memory")

    refused = ("error", "run.read-only"), 0
    assert (refused if machine.apart else (CLEAR, 1)) == (told(found)[0], machine.remade)
    assert [] == list(machine.folder.glob("env/lib/python*/site-packages/left_behind.py"))


@pytest.mark.parametrize("machine", ["apart"], indirect=True)
def test_shared_memory_is_a_case_s_own(machine: Machine) -> None:
    """A probe with its own namespaces gives each case its own shared memory."""
    found = machine.run("shares-memory", "shares-again")

    assert ([CLEAR, CLEAR], False) == (told(found), LEFT.exists())


def test_a_machine_s_fault_is_an_error(machine: Machine) -> None:
    """A full disk and exhausted memory are reported as such, and never count against upstream."""
    assert [("error", "run.disk"), ("error", "run.memory")] == told(machine.run("disk-full", "memory-gone"))


IMPORTS = {
    "crashes": ("import ctypes; ctypes.string_at(0)", "import-signal", "SIGSEGV"),
    "hangs": ("import time; time.sleep(60)", "import-timeout", "not done in 1 s"),
    "leaves": ("import os; os._exit(3)", "import-signal", "exit status 3"),
    "exits": ("raise SystemExit(3)", "import-error", "SystemExit: 3"),
}


@pytest.mark.parametrize("how", IMPORTS)
def test_an_import_that_ends_the_probe_is_named(machine: Machine, early: Path, how: str) -> None:
    """If the import of a package crashes, hangs or exits, its cases are blocked by that package."""
    body, outcome, says = IMPORTS[how]
    early.write_text(body, encoding="utf-8")
    entry = catalogue.entry("laboratory.cell.corpus.blocked")
    (case, *_) = entry.issue.cases
    # On a busy machine, ending the processes takes time.
    patience = 1.0 if how == "hangs" else PATIENCE

    machine.call(entry, [case], import_seconds=patience)

    part = read(Record, machine.path(case)).attempts[0].parts["reproducer"]
    assert (outcome, True) == (part.outcome, part.detail.startswith(f"import jax: {says}")), part
    assert "blocked" == machine.judged(case).verdict


@pytest.mark.parametrize("machine", ["bare"], indirect=True)
def test_a_slow_import_says_that_it_is(machine: Machine, early: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow import is reported while it runs, and the case runs afterwards."""
    early.write_text("import time; time.sleep(3)", encoding="utf-8")
    monkeypatch.setattr(probe_call, "SLOW_IMPORT", 0.1)
    entry = catalogue.entry("laboratory.cell.corpus.blocked")
    (case, *_) = entry.issue.cases

    machine.call(entry, [case])

    assert ["importing jax takes more than 0.1 s"] == [each for each in machine.said if "importing" in each]
    assert not read(Record, machine.path(case)).attempts[0].parts["reproducer"].outcome.startswith("import-")


@pytest.mark.parametrize("machine", ["bare"], indirect=True)
def test_a_slow_import_is_found_in_what_the_probe_has_written(machine: Machine, tmp_path: Path) -> None:
    """The place of a slow import is the innermost call of faulthandler's traceback, without the import machinery."""
    (tmp_path / "hangs.py").write_text("import time\ndef wait():\n    time.sleep(1)\nwait()\n", encoding="utf-8")
    code = "import faulthandler; faulthandler.dump_traceback_later(0.3); import hangs"
    with (tmp_path / "log").open("wb") as log:
        subprocess.run([machine.python, "-c", code], cwd=tmp_path, stderr=log, check=True)
    probe = probe_call._Probe(machine.python, tmp_path / "log", machine, ROOT, 300.0, probe_call.Stop(), {})

    assert f", in wait ({tmp_path / 'hangs.py'}, line 3)" == probe._where()


MODULES = {
    "uses a library": "import rich_of_nowhere",
    "leaves": "import sys; sys.exit(3)",
    "ends": "import os; os._exit(3)",
}


@pytest.mark.parametrize("how", MODULES)
def test_a_module_that_a_cell_cannot_import_costs_itself(
    machine: Machine, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cases are errors that say why, and the cases of other modules run."""
    strange = clone(tmp_path / "root", re.compile(r"suite/\w+/(__init__|cell/.*)\.py").fullmatch) / "suite"
    entry = catalogue.entry("laboratory.cell.corpus.clear")
    with (strange / "laboratory/cell/corpus/clear.py").open("a", encoding="utf-8") as module:
        module.write(f"{MODULES[how]}\n")
    well = catalogue.entry("laboratory.cell.corpus.affected")
    tasks = [Task(each, each.issue.cases[0], "", machine.path(each.issue.cases[0]), KEY) for each in (entry, well)]
    tasks = [replace(task, record=machine.folder / f"{task.entry.issue.id}.json") for task in tasks]

    machine.carry_out(tasks, root=strange)

    said, other = (read(Record, task.record).attempts[0].parts["reproducer"] for task in tasks)
    assert ("", "probe-ended", "returned") == (machine.ended.reason, said.outcome, other.outcome)
    assert re.search("import", said.detail)
    assert "error" == verdicts.judge(entry.issue.cases[0], read(Record, tasks[0].record).attempts).verdict


def test_a_long_chain_of_processes_is_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory of a chain of processes is added up, however long the chain is."""
    monkeypatch.setattr("jax_stack_compat.cell.guard.children", lambda pid: [pid + 1] if pid < 5_000 else [])
    monkeypatch.setattr(child, "_rss_mib", lambda _: 1)
    monkeypatch.setattr("os.getpid", lambda: 0)

    assert 5_000 == child._resident_mib(most=5_000)


def test_a_shell_s_limit_stops_all_and_says_so(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a shell limit is too low for JAX, nothing is run, and the sentence names the limit."""
    monkeypatch.setattr("resource.getrlimit", lambda _: (4 * 1024**3, 4 * 1024**3))

    assert ({}, "run.limits") == (machine.run("no-number"), machine.ended.reason)
    assert "4096 MiB (ulimit -v)" in machine.ended.detail


# Forks a driver for each folder and mode, prints their process ids, and ends when all of them have ended.
DRIVE = """
import os, sys
from pathlib import Path
from jax_stack_compat.base import guardian
from tests.faults.machine import BARE, Machine
from jax_stack_compat.catalogue import catalogue
entry = catalogue.narrowed(catalogue.entry("laboratory.cell.corpus.leaves_children"), ["lingers"])
plain = guardian.command
drivers = []
for folder, mode in zip(map(Path, sys.argv[1::2]), sys.argv[2::2]):
    if driver := os.fork():
        drivers.append(driver)
        continue
    os.environ["CORPUS_FOLDER"] = str(folder)
    if mode == "bare":
        guardian.command = lambda *words, **how: [*BARE, *plain(*words, **how)]
    Machine(folder, Path(sys.executable)).call(entry, entry.issue.cases)
    os._exit(0)
print(*drivers, flush=True)
for driver in drivers:
    os.waitpid(driver, 0)
"""


ENDS = [("apart", each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)]
ENDS += [("bare", signal.SIGTERM), ("bare", signal.SIGKILL)]


def test_nothing_is_left_of_a_driver_that_was_ended(tmp_path: Path) -> None:
    """However a run ends, all processes of its case end too, even a daemon in its own session."""
    folders = [tmp_path / f"{mode}-{number}" for mode, number in ENDS]
    for folder in folders:
        folder.mkdir()
    words = [str(each) for (mode, _), folder in zip(ENDS, folders, strict=True) for each in (folder, mode)]
    with subprocess.Popen(
        [sys.executable, "-c", DRIVE, *words],
        env={**os.environ, "PYTHONPATH": f"{PACKAGES}{os.pathsep}{ROOT}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=default_signals,
    ) as drivers:
        assert drivers.stdout is not None
        started = map(int, drivers.stdout.readline().split())
        # Each case hangs, and has a grandchild in its own session.
        eventually(lambda: all(len(noted(folder)) == 2 for folder in folders))
        for (_, number), driver in zip(ENDS, started, strict=True):
            os.kill(driver, number)
        drivers.wait(6 * PATIENCE)

    eventually(lambda: not any(started_with(folder) for folder in folders), PATIENCE)
