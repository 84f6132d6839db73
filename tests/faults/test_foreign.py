"""Code that runs as a package is imported, or as Python starts, keeps to its probe's folder, session and limits."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jax_stack_compat.base import guardian
from jax_stack_compat.base.files import PACKAGES, read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.cell import guard
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.environments import probe_call
from jax_stack_compat.judge.record import Part, Record
from tests.cell.test_probe import PATIENCE
from tests.faults.machine import Machine
from tests.processes import program, within
from tests.state import eventually, noted
from tests.worlds import started_with

BLOCKED = catalogue.entry("laboratory.cell.corpus.blocked")
CASE: Case = BLOCKED.issue.cases[0]
# The driver of these tests would be ended, or wait, without the probe's own session and limits. A busy machine may end
# the probe before its daemon runs, so the code waits for that.
DAEMON = """
import os, time
wait, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    with open(os.environ["CORPUS_FOLDER"] + "/pids", "a") as stream:
        stream.write(f"{os.getpid()}\\n")
    os.write(tell, b".")
    time.sleep(600)
os.read(wait, 1)
"""


@pytest.fixture(autouse=True)
def folder(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mark the processes of the probe with the test's folder."""
    monkeypatch.setenv("CORPUS_FOLDER", str(machine.folder))


@pytest.fixture
def start_up(environment: Path) -> Iterator[Path]:
    """The module that Python imports as it starts in the environment."""
    (packages,) = environment.glob("lib/python*/site-packages")
    hook, module = packages / "start_up.pth", packages / "start_up_of_a_package.py"
    hook.write_text("import start_up_of_a_package\n")
    yield module
    hook.unlink()
    module.unlink(missing_ok=True)


def reproducer(machine: Machine, **options: object) -> Part | None:
    """Run the case; return what came of its reproducer, or None if it has no record."""
    with within(int(6 * PATIENCE)):
        machine.call(BLOCKED, [CASE], **options)
    path = machine.path(CASE)
    return read(Record, path).attempts[0].parts["reproducer"] if path.exists() else None


KILLS = {
    "its parent": "import os; os.kill(os.getppid(), 9)",
    "its group": "import os; os.kill(0, 9)",
    "itself, by stopping": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
}


@pytest.mark.parametrize("kills", KILLS)
def test_an_import_cannot_end_the_driver(machine: Machine, early: Path, kills: str) -> None:
    """An import that kills its parent or its group, or stops, costs at most its own package."""
    early.write_text(KILLS[kills])
    part = reproducer(machine)

    assert part is not None
    assert machine.apart or part.outcome in ("import-signal", "probe-ended")
    assert machine.ended.device.startswith("none")


@pytest.mark.parametrize("where", ["start_up", "early"])
def test_a_daemon_keeps_nobody_waiting_and_ends_with_its_probe(
    machine: Machine, request: pytest.FixtureRequest, where: str
) -> None:
    """A daemon that start-up code or an import has left holds the pipes; the call returns, and the daemon is gone."""
    module: Path = request.getfixturevalue(where)
    module.write_text(DAEMON)

    assert reproducer(machine) is not None
    assert noted(machine.folder)
    eventually(lambda: not started_with(machine.folder), PATIENCE)


def test_start_up_code_that_hangs_ends_by_the_limit(
    machine: Machine, start_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe that does not start is an error of its cell, and not a call that waits for ever."""
    start_up.write_text("import time; time.sleep(600)")
    monkeypatch.setattr(probe_call, "PHASE_SECONDS", 1.0)

    assert reproducer(machine) is None
    assert ("run.probe", True) == (machine.ended.reason, "not done in 1 s" in machine.ended.detail)
    eventually(lambda: not started_with(machine.folder), PATIENCE)


def test_a_device_that_does_not_answer_costs_no_record(
    machine: Machine, early: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the device hangs after the last case, all records count, and the device is not known."""
    early.write_text("import time\ndef devices():\n    time.sleep(600)\n")
    monkeypatch.setattr(probe_call, "PHASE_SECONDS", 2.0)

    assert reproducer(machine) is not None
    assert ("", "") == (machine.ended.reason, machine.ended.device)
    assert ["the probe did not name its device: not done in 2 s"] == machine.said


@pytest.mark.parametrize("handle", [1, 2, 3])
def test_what_an_import_prints_has_a_limit(machine: Machine, early: Path, handle: int) -> None:
    """An import that writes 100 MB to its output, or to whatever else is open, is ended; the log stays small."""
    early.write_text(f"import os\nfor _ in range(100): os.write({handle}, b'x' * 1000 * 1000)\n")
    part = reproducer(machine)

    assert part is not None
    assert "import-signal" == part.outcome
    assert machine.folder.joinpath("probe.log").stat().st_size <= 32 * 1024**2


def test_an_unspeakable_message_is_a_readable_record(machine: Machine, early: Path) -> None:
    """The message of an import that is no text is spelled out, so that the record can be read."""
    early.write_text("raise ImportError('cannot open \\udcff')")
    part = reproducer(machine)

    assert part is not None
    assert "import jax: ImportError: cannot open \\udcff" == part.detail


@pytest.mark.parametrize("machine", ["apart"], indirect=True)
@pytest.mark.parametrize("how", ["path", "working folder"])
def test_an_import_reaches_its_own_folder_alone(
    machine: Machine, early: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """What the driver shuts, and the folder of a probe beside it, cannot be written or removed by an import."""
    monkeypatch.setattr(tempfile, "tempdir", str(machine.folder))
    kept = machine.folder / probe_call._PLACE / "kept"
    kept.parent.mkdir(mode=0o700)
    kept.mkdir()
    (kept / "record.json").write_text("{}")
    reached = str(kept) if how == "path" else "../kept"
    early.write_text(
        "import shutil\n"
        f"shutil.rmtree({reached!r}, ignore_errors=True)\n"
        f"try: open('{reached}/new', 'w')\n"
        "except OSError: pass\n"
        "open('own', 'w').close()\n"
    )
    part = reproducer(machine, shut=[kept])

    assert part is not None
    assert not part.outcome.startswith("import-")
    assert ["record.json"] == os.listdir(kept)  # noqa: PTH208


@pytest.mark.parametrize("machine", ["apart"], indirect=True)
def test_the_working_folder_is_no_way_into_what_is_shut(machine: Machine) -> None:
    """A command that starts deep in a folder that is shut cannot write there by a relative path."""
    shut, own = machine.folder / "shut", machine.folder / "shut" / "deeper" / "own"
    own.mkdir(parents=True)
    writes = "import os; open('mine', 'w'); os.access('..', os.W_OK) and open('../other', 'w')"
    guarded = guardian.command(Path(sys.executable), [sys.executable, "-c", writes], shut=[shut], opened=[own])

    assert 0 == subprocess.run(guarded, cwd=own, check=False).returncode
    assert [True, False] == [path.exists() for path in (own / "mine", own.parent / "other")]


def test_a_record_that_is_a_link_is_not_taken(tmp_path: Path) -> None:
    """What stands in a record's place is read if it is a plain file, and not through a link or from a pipe."""
    plain, link, pipe = tmp_path / "plain", tmp_path / "link", tmp_path / "pipe"
    plain.write_text("{}")
    link.symlink_to(plain)
    os.mkfifo(pipe)

    assert b"{}" == probe_call._text(plain)
    for other in (link, pipe, tmp_path):
        with pytest.raises(OSError, match=r".+"):
            probe_call._text(other)


def test_too_many_processes_end_a_probe(machine: Machine, early: Path) -> None:
    """An import that forks without end is ended with all its processes, and its package is named."""
    early.write_text(
        "import os, time\n"
        f"for _ in range({guard.MOST_PROCESSES + 100}):\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(600)\n"
        "        os._exit(0)\n"
        "time.sleep(600)\n"
    )
    part = reproducer(machine)

    assert part is not None
    assert ("import-signal", True) == (part.outcome, "processes, and was ended" in part.detail), part
    eventually(lambda: not started_with(machine.folder), PATIENCE)


# Starts a guardian, which is itself kept from its first line until the driver has been killed.
DRIVE = """
import subprocess, sys
from pathlib import Path
from jax_stack_compat.base import guardian
words = guardian.command(Path(sys.executable), [sys.executable, "-c", "import time; time.sleep(600)"], namespaces=False)
slow = [sys.executable, "-c", "import os, sys, time; time.sleep(1); os.execv(sys.argv[1], sys.argv[1:])", *words]
subprocess.Popen(slow, start_new_session=True)
print(flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("machine", ["bare"], indirect=True)
def test_a_guardian_whose_driver_ended_first_does_not_begin(machine: Machine) -> None:
    """A driver that is killed as soon as it has started a guardian leaves nothing."""
    with subprocess.Popen(
        [sys.executable, "-c", DRIVE],
        env={**os.environ, "PYTHONPATH": str(PACKAGES), "CORPUS_FOLDER": str(machine.folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as driver:
        assert driver.stdout is not None
        driver.stdout.readline()
        driver.kill()

    time.sleep(1.0)
    eventually(lambda: not started_with(machine.folder), PATIENCE)


# Runs an uv that waits, and a build that it has started in a session of its own.
INSTALL = """
import sys
from jax_stack_compat.stack import uv_call
uv_call.found = lambda: sys.argv[1]
uv_call.run("pip", "install", within=600)
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("machine", ["bare"], indirect=True)
def test_uv_ends_with_its_driver(machine: Machine, how: signal.Signals) -> None:
    """An uv whose driver was killed does not go on, nor does a build that it has started."""
    uv = program(machine.folder / "uv", "setsid sleep 600 &", "sleep 600")
    with subprocess.Popen(
        [sys.executable, "-c", INSTALL, uv],
        env={**os.environ, "PYTHONPATH": str(PACKAGES), "CORPUS_FOLDER": str(machine.folder)},
        stderr=subprocess.DEVNULL,
    ) as driver:
        # The driver, the guardian, uv, and its two children.
        eventually(lambda: len(started_with(machine.folder)) == 5, PATIENCE)
        driver.send_signal(how)

    eventually(lambda: not started_with(machine.folder), PATIENCE)


@pytest.mark.parametrize("machine", ["bare"], indirect=True)
def test_a_guardian_that_is_stopped_is_ended_by_its_driver(
    machine: Machine, early: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the guardian itself is stopped, the limit of the import ends it with what it guards."""
    early.write_text("import os, signal, time\nos.kill(os.getppid(), signal.SIGSTOP)\ntime.sleep(600)\n")
    part = reproducer(machine, import_seconds=1.0)

    assert part is not None
    assert "import-timeout" == part.outcome
    eventually(lambda: not started_with(machine.folder), PATIENCE)


@pytest.mark.parametrize("machine", ["bare"], indirect=True)
def test_what_nox_started_ends_with_it(machine: Machine) -> None:
    """A process that asks to end with nox does so when the process that started it is killed."""
    asks = "from jax_stack_compat.base import guardian; guardian.end_with_nox(); "
    inner = asks + "print(flush=True); import time; time.sleep(600)"
    outer = f"""
import subprocess, sys
from jax_stack_compat.base import guardian
guardian.end_with_nox()
subprocess.run([sys.executable, "-c", {inner!r}])
"""
    with subprocess.Popen(
        [sys.executable, "-c", outer],
        env={**os.environ, "PYTHONPATH": str(PACKAGES), "CORPUS_FOLDER": str(machine.folder)},
        stdout=subprocess.PIPE,
    ) as nox:
        assert nox.stdout is not None
        nox.stdout.readline()
        nox.send_signal(signal.SIGKILL)

    eventually(lambda: not started_with(machine.folder), PATIENCE)
