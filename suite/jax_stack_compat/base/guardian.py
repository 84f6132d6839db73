"""A process under a guardian: what it says and prints is limited, and nobody waits for a pipe that its strays hold.

This module needs the standard library alone, since orders travel to machines that have nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from jax_stack_compat.cell import guard
from jax_stack_compat.cell.child import BOOT, MOST_OUTPUT

PACKAGES = Path(__file__).resolve().parents[2]
# The process that started this one, for nox, its parallel sessions, and the commands of sessions.
_NOX = "SUITE_NOX"
# A line of progress is shorter.
_MOST_LINE = 1024 * 1024
_CHUNK = 64 * 1024
# Chunks that are read after the end of the process: more than a pipe holds.
_LAST_CHUNKS = 32
# Seconds that a guardian may take to end its command; it is killed afterwards.
GRACE = 15.0


def command(
    executable: Path, command: Sequence[str], *, root: Path = PACKAGES, namespaces: bool = True,
    shut: Sequence[Path] = (), opened: Sequence[Path] = (),
) -> list[str]:  # fmt: skip
    """Return the command line that runs `command` under a guardian, which `executable` runs without its packages.

    The command ends with this process. With `namespaces`, it gets its own where the kernel gives them, it cannot write
    into the folders `shut`, but for the folders `opened`, and one more word says whether that is so.
    """
    told = {
        "parent": os.getpid(),
        "namespaces": namespaces,
        "shut": [str(folder) for folder in shut if folder.is_dir()],
        "opened": [str(folder) for folder in opened if folder.is_dir()],
    }
    isolated = [str(executable), "-B", "-E", "-s", "-S", "-c", BOOT, str(root)]
    return [*isolated, "jax_stack_compat.cell.guard", json.dumps(told), *command]


class GuardedProcess:
    """A running process: its lines of progress from standard output, and a log of its standard error.

    `over` is the limit that it went over, or "".
    """

    def __init__(self, command: Sequence[str], *, folder: Path, variables: Mapping[str, str], log: BinaryIO) -> None:
        self.over = ""
        self._log = log
        self._printed = 0
        self._said = 0
        self._rest = b""
        self._kill_at: float | None = None
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def lines(self) -> Iterator[bytes | None]:
        """Yield the lines that the process says, and None each second, until it has ended."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        takers = {self.process.stdout.fileno(): self._hear, self.process.stderr.fileno(): self._keep}
        looked, last = time.monotonic(), _LAST_CHUNKS
        with _Selector(self.process.pid, takers) as selector:
            while last:
                ended = self.process.poll() is not None
                ready = selector.ready(0 if ended else 1.0)
                for handle in ready:
                    data = os.read(handle, _CHUNK)
                    if not data:
                        selector.forget(handle)
                    yield from takers[handle](data)
                if ended:
                    # Strays may hold the pipes open: take what is there, and do not wait for an end.
                    last = last - 1 if ready else 0
                elif time.monotonic() - looked >= 1:
                    looked = time.monotonic()
                    self._kill_late()
                    yield None

    def end(self, over: str = "") -> None:
        """Ask the guardian to end all; `lines` kills it if it does not."""
        if self._kill_at is not None:
            return
        self.over = over
        self._kill_at = time.monotonic() + GRACE
        terminate(self.process)

    def close(self) -> int:
        """End the process if it runs, and return its exit status."""
        if self.process.poll() is None:
            terminate(self.process)
            try:
                self.process.wait(GRACE)
            except subprocess.TimeoutExpired:
                self.process.kill()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        return self.process.wait()

    def _kill_late(self) -> None:
        if self._kill_at is not None and time.monotonic() > self._kill_at:
            self.process.kill()

    def _hear(self, data: bytes) -> Iterator[bytes]:
        self._said += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._said > MOST_OUTPUT or len(self._rest) > _MOST_LINE:
            self._rest = b""
            self.end("it said more than a probe has to say")
        yield from lines

    def _keep(self, data: bytes) -> Iterator[bytes]:
        kept = data[: MOST_OUTPUT - self._printed]
        self._printed += len(kept)
        with contextlib.suppress(OSError):  # a full disk costs the log alone
            self._log.write(kept)
        if len(kept) < len(data):
            self.end(f"it printed more than {MOST_OUTPUT // 1024**2} MiB")
        yield from ()


class _Selector:
    """Waits for data in pipes, and for the end of the process that writes into them."""

    def __init__(self, pid: int, handles: Mapping[int, object]) -> None:
        self._selector = selectors.DefaultSelector()
        self._pidfd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
        for handle in handles:
            self._selector.register(handle, selectors.EVENT_READ)
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ)

    def __enter__(self) -> _Selector:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        if self._pidfd is not None:
            os.close(self._pidfd)

    def ready(self, seconds: float) -> list[int]:
        """Return the pipes with data, after at most so many seconds."""
        # Without a handle of the process, its end is looked for.
        found = self._selector.select(seconds if self._pidfd is not None else min(seconds, 0.05))
        return [key.fd for key, _ in found if key.fd != self._pidfd]

    def forget(self, handle: int) -> None:
        """Leave out a pipe that has ended."""
        self._selector.unregister(handle)


def end_with_nox() -> None:
    """End this process with the nox process that started it, and let the processes that it starts do the same."""
    started_by = os.environ.get(_NOX)
    os.environ[_NOX] = str(os.getpid())
    if started_by == str(os.getppid()):
        guard.die_with_parent(signal.SIGTERM)
        if started_by != str(os.getppid()):
            sys.exit(128 + signal.SIGTERM)


def terminate(process: subprocess.Popen[Any]) -> None:
    """Ask a guardian to end all that it guards, also if it is stopped."""
    process.terminate()
    process.send_signal(signal.SIGCONT)
