"""Reads of files, pipes and standard input, and when they end; and work that is split over cores."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jax_stack_compat.base import bounded
from jax_stack_compat.base.errors import BadFile, Exit
from jax_stack_compat.base.files import PACKAGES, ROOT
from jax_stack_compat.check.inputs import locks
from laboratory.cli.command_line import main
from tests.processes import piped_in, printed, within


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A pipe with a name."""
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def write(pipe: Path, *pieces: bytes) -> threading.Thread:
    """Write into a pipe from another thread, and close it."""

    def pour() -> None:
        with pipe.open("wb", buffering=0) as stream:
            for each in pieces:
                stream.write(each)

    thread = threading.Thread(target=pour, daemon=True)
    thread.start()
    return thread


def test_a_pipe_is_read_to_its_end(pipe: Path) -> None:
    """A lock that another process writes is read whole, even in pieces."""
    with within(20):
        write(pipe, b"jax==0.4.35\n", b"equinox==", b"0.11.8\n")
        assert {"jax": "0.4.35", "equinox": "0.11.8"} == locks.read(pipe).versions


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.parametrize("option", ["--lock", "--from", "--to"])
def test_standard_input_is_a_lock(option: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`pip freeze | check --lock -`: the lock is standard input, and no file is named."""
    before = ("--from", "jax==0.4.30") if option == "--to" else ()
    with piped_in("jax==0.4.35\n"):
        code = main(["check", *before, option, name])
    said = capsys.readouterr()
    assert (Exit.AS_EXPECTED, "") == (code, said.err)
    assert "standard input: jax 0.4.35" in said.out


def test_a_pipe_that_nobody_writes_to(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is a sentence that names the pipe."""
    monkeypatch.setattr(bounded, "_NOBODY_S", 0.1)
    with within(20), pytest.raises(BadFile, match="pipe: file: it is a pipe, and nobody wrote into it for"):
        locks.read(pipe)


def test_a_pipe_that_does_not_end(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading ends even if a pipe's writer is silent or never stops."""
    monkeypatch.setattr(bounded, "_NOBODY_S", 0.1)
    silent = os.open(pipe, os.O_RDWR)
    with within(20), pytest.raises(OSError, match="did not end within 1 s"):
        bounded.given(pipe, 2**20, 1.0)
    os.close(silent)
    writing = write(pipe, b"x" * 2**21)
    with within(20), pytest.raises(OSError, match="larger than 1 MiB"):
        bounded.given(pipe, 2**20, 10.0)
    writing.join(20)


def test_explain_reads_a_bounded_text(capsys: pytest.CaptureFixture[str]) -> None:
    """An endless device, a message in place of a file and a closed standard input are errors that say what to give."""
    for word, why in (("/dev/zero", "it is a terminal"), ("ValueError: no", "No such"), ("no" * 500, "File name too")):
        assert Exit.MISUSED == main(["explain", word])
        told = capsys.readouterr().err
        assert f"{word}: {why}" in told
        assert "; give the traceback as a file or on standard input" in told
    command = ["sh", "-c", f"exec {sys.executable} -m laboratory explain <&-"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=60, text=True)
    assert (Exit.MISUSED, True) == (run.returncode, "standard input: Bad file" in run.stderr)


# Run this in a new process: pytest's workers have threads.
SCRIPT = """
import os, sys, threading
from laboratory.cores import over_cores

here = os.getpid()

def where(share):
    if share == "not there" and os.getpid() != here:
        raise ValueError(share)
    if share == "killed" and os.getpid() != here:
        os._exit(1)
    return share, os.getpid() == here

if sys.argv[1] == "threads":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print(over_cores(where, sys.argv[2:]))
"""


INTERRUPTED = """
import os, signal, sys, time
from laboratory.cores import over_cores

here = os.getpid()

def interrupted(share):
    if os.getpid() == here:
        time.sleep(0.3)
        os.killpg(0, signal.SIGINT)
    time.sleep(20)

try:
    over_cores(interrupted, "abc")
except KeyboardInterrupt:
    # The forks have time to say something.
    time.sleep(0.3)
    sys.exit("interrupted")
"""


def test_forks_say_nothing_of_an_interrupt() -> None:
    """Ctrl-C reaches the whole process group; the process that forked says so, and ends its forks."""
    command = [sys.executable, "-c", INTERRUPTED]
    with within(20):
        run = subprocess.run(command, cwd=PACKAGES, capture_output=True, check=False, text=True, start_new_session=True)
    assert (1, "interrupted\n") == (run.returncode, run.stderr)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("alone", "a", "b", "c"), [("a", True), ("b", False), ("c", False)]),
        # If a fork raises or ends, only time is lost.
        (("alone", "a", "not there", "killed"), [("a", True), ("not there", True), ("killed", True)]),
        # A fork would have the locks of other threads.
        (("threads", "a", "b"), [("a", True), ("b", True)]),
    ],
)
def test_the_first_share_is_done_here(words: tuple[str, ...], told: list[tuple[str, bool]]) -> None:
    """All shares but the first run in forks; a share without a result, or beside threads, runs here."""
    assert str(told) == printed("-W", "error", "-c", SCRIPT, *words).strip()
