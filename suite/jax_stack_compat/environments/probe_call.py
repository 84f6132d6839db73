"""Calls of the probe: carry out an order in an environment, restart after a crash, and report the progress.

This module needs the standard library alone, since orders travel to machines that have nothing else.
"""

from __future__ import annotations

import json
import os
import re
import resource
import selectors
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals
from types import MappingProxyType
from typing import Any, Protocol

from jax_stack_compat.cell.child import BOOT

# The ids of an issue and a case.
Name = tuple[str, str]
_PACKAGES = Path(__file__).resolve().parents[2]
IMPORT_SECONDS = 300.0
# After this many seconds, a message says where an import is waiting.
SLOW_IMPORT = 10.0
MOST_ATTEMPTS = 3
_MIB = 1024**2
# The shell limits that JAX needs, with a margin: below them JAX dies, and upstream would be blamed. Each limit has its
# letter in `ulimit`, and its usual unit.
_LEAST = (
    *(("RLIMIT_AS", "v", 16 * 1024, _MIB), ("RLIMIT_DATA", "d", 16 * 1024, _MIB), ("RLIMIT_STACK", "s", 4, _MIB)),
    *(("RLIMIT_FSIZE", "f", 1024, _MIB), ("RLIMIT_CPU", "t", 3600, 1), ("RLIMIT_NOFILE", "n", 256, 1)),
    ("RLIMIT_NPROC", "u", 256, 1),
)
# A line of faulthandler's traceback, which starts with the innermost call.
_CALL = re.compile(r'  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)')
# A shell's exit status for a command that cannot be started.
_NOT_STARTED = 127
# Variables of the user that would change an answer: settings of Python, of the stack, of the libraries below the stack,
# and of the dynamic loader.
_LEFT_OUT = (
    *("PYTHON", "JAX", "XLA_", "EQX_", "TF_", "TEST_", "LIBTPU_", "BEARTYPE", "NPY_", "NUMPY_", "SCIPY_", "SUITE_"),
    *("OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "BLIS_", "NUMEXPR_", "VECLIB_", "MALLOC_", "GLIBC_", "LC_"),
    *("LD_PRELOAD", "LD_AUDIT", "LANG", "VIRTUAL_ENV", "ABSL_", "GLOG_", "DIFFRAX_", "LINEAX_"),
)


class Ordered(Protocol):
    """A case to run: its name, its module, the file of its record, and the case as the probe reads it."""

    @property
    def name(self) -> Name:
        """The ids of the issue and the case."""

    @property
    def module(self) -> str:
        """The issue's module."""

    def ordered(self, ended: str) -> dict[str, Any]:
        """Return the case as the probe reads it; `ended` says how it ended a probe before."""


class Progress:
    """The progress of a cell. This base class ignores all reports."""

    def expect(self, seconds: Mapping[Name, float]) -> None:
        """Note the cases to run, with their expected seconds."""

    def say(self, message: str) -> None:
        """Print an event."""

    def start(self, issue: str, case: str) -> None:
        """Note that a case has begun."""

    def step(self, issue: str, case: str) -> None:
        """Note that a case is done."""

    def finish(self) -> None:
        """Note that the cell is done."""


@dataclass
class Ended:
    """The end of an order: the device, or a reason code with a sentence if the order was given up.

    `left` are the cases that were not run.
    """

    device: str = ""
    reason: str = ""
    detail: str = ""
    left: tuple[Name, ...] = ()


class Stop:
    """A handle that ends a call from another thread: the running probe is terminated, and no new one starts."""

    def __init__(self) -> None:
        self.requested = False
        self._lock = threading.Lock()
        self._process: subprocess.Popen[Any] | None = None

    def request(self) -> None:
        """End the call; return once its probe is gone."""
        with self._lock:
            self.requested = True
            if self._process is not None:
                self._process.terminate()

    def watch(self, process: subprocess.Popen[Any] | None) -> None:
        """Note the process that `request` must terminate."""
        with self._lock:
            self._process = process
            if self.requested and process is not None:
                process.terminate()


@dataclass
class _Seen:
    """One probe's progress: its finished cases, and the phase that it last reported."""

    done: set[Name] = field(default_factory=set)
    doing: Name | None = None
    reading: str = ""
    importing: str = ""
    where: str = ""
    late: bool = False
    failure: str = ""
    written: str = ""
    device: str | None = None


def call(
    executable: Path, cell: str, packages: Sequence[str], todo: Sequence[Ordered], progress: Progress, *,
    remake: Callable[[], Path], log: Path, remade: bool = False, shut: Sequence[Path] = (),
    import_seconds: float = IMPORT_SECONDS, most_attempts: int = MOST_ATTEMPTS, root: Path = _PACKAGES,
    variables: Mapping[str, str] = MappingProxyType({}), stop: Stop | None = None,
) -> Ended:  # fmt: skip
    """Run `todo` in a probe with this interpreter. If a case ends the probe, a new probe continues.

    Cases cannot write into the folders in `shut`. If a case wrote into the installed packages anyway, `remake` makes a
    new environment and returns its interpreter. `root` has the probe and the issues, `log` is the file of the probe's
    output, and `variables` are more variables of its environment. `stop` ends the call from another thread.
    """
    left = {task.name: task for task in todo}
    if why := limited():
        return Ended("", "run.limits", why, tuple(left))
    stop = stop or Stop()
    ended: dict[Name, str] = {}
    unimportable: dict[str, tuple[str, str]] = {}
    while not stop.requested:
        order = {
            **{"cell": cell, "packages": sorted(packages), "shut": [str(folder) for folder in shut if folder.is_dir()]},
            **{"unimportable": unimportable, "remade": remade, "most_attempts": most_attempts},
            "cases": [task.ordered(ended.get(name, "")) for name, task in left.items()],
        }
        probe = _Probe(executable, log, progress, root, import_seconds, stop, variables)
        seen, code, said = probe.carry_out(order)
        for name in seen.done:
            left.pop(name, None)
        if seen.device is not None:
            return Ended(device=seen.device)
        if stop.requested:
            break
        if seen.failure:
            return Ended("", "run.disk", f"{seen.failure}; {len(left)} of {len(todo)} cases were not run", tuple(left))
        if seen.written:
            progress.say(f"{seen.written} wrote into the installed packages; reinstalling them")
            executable = remake()
            if not left:
                return Ended()
            continue
        how = _how(code)
        told = f"{how}{': ' * bool(said)}{said}"
        if seen.importing and seen.importing not in unimportable:
            late = f"not done in {import_seconds:g} s{seen.where}"
            unimportable[seen.importing] = ("import-timeout", late) if seen.late else ("import-signal", told)
            progress.say(f"{seen.importing} does not import ({late if seen.late else how}); continuing without it")
        elif seen.reading and (of_module := [task for task in left.values() if task.module == seen.reading]):
            ended |= {task.name: f"importing its module ended the probe ({told})" for task in of_module}
            progress.say(f"importing {seen.reading} ended the probe ({how}); continuing without it")
        elif seen.doing and seen.doing in left and seen.doing not in ended:
            ended[seen.doing] = f"it ended the probe that ran it ({told})"
            progress.say(f"{'/'.join(seen.doing)} ended the probe ({how}); a new one continues")
        else:
            # Neither a case nor a module nor an import ended the probe, so a new probe would end in the same way.
            detail = f"the probe ended ({how}): {said}; {len(left)} of {len(todo)} left"
            return Ended("", "run.probe", detail, tuple(left))
    return Ended(left=tuple(left))


@dataclass
class _Probe:
    """One probe, from start to end."""

    executable: Path
    log: Path
    progress: Progress
    root: Path
    import_seconds: float
    stop: Stop
    variables: Mapping[str, str]

    def carry_out(self, order: Mapping[str, Any]) -> tuple[_Seen, int, str]:
        """Return the probe's progress, its exit status, and the last lines of its output."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        # Stray processes may still write here while they are ended; ignore that.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch, self.log.open("wb") as errors:
            order_path = Path(scratch, "order.json")
            order_path.write_text(json.dumps(order), encoding="utf-8")
            try:
                process = subprocess.Popen(
                    command(self.executable, "jax_stack_compat.cell.probe", str(order_path), root=self.root),
                    cwd=scratch,
                    env={**surroundings(), **self.variables},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                )
            except OSError as error:  # no such interpreter, no right to run it, no process left
                return _Seen(), _NOT_STARTED, f"it could not be started: {error}"
            with process:
                self.stop.watch(process)
                try:
                    seen = self._follow(process)
                except BaseException:
                    # Terminate the probe, not kill: its guardian then ends the probe's own processes.
                    process.terminate()
                    raise
                finally:
                    self.stop.watch(None)
        return seen, process.returncode, " / ".join(self._lines()[-3:])

    def _follow(self, process: subprocess.Popen[bytes]) -> _Seen:
        """Report the probe's progress until it ends; end it if an import hangs."""
        seen, since, told = _Seen(), 0.0, False
        for line in _lines_of(process):
            if line is None:
                waited = time.monotonic() - since
                if seen.importing and not told and waited > SLOW_IMPORT + 1:
                    told, seen.where = True, self._where()
                    self.progress.say(f"importing {seen.importing} takes more than {SLOW_IMPORT:g} s{seen.where}")
                if seen.importing and waited > self.import_seconds:
                    seen.late = True
                    process.terminate()
                continue
            try:
                event: dict[str, Any] = json.loads(line)
            except ValueError:
                continue
            match event:
                case {"event": "read", "module": module}:
                    seen.reading = str(module)
                case {"event": "import", "package": package}:
                    seen.importing, seen.reading, seen.where = str(package), "", ""
                    since, told = time.monotonic(), False
                case {"event": "unforkable", "why": why}:
                    self.progress.say(f"{why}: from now on, each case gets a new interpreter")
                case {"event": "start", "issue": issue, "case": case}:
                    seen.importing, seen.reading, seen.doing = "", "", (issue, case)
                    self.progress.start(issue, case)
                case {"event": "done", "issue": issue, "case": case}:
                    seen.done.add((issue, case))
                    seen.doing = None
                    self.progress.step(issue, case)
                case {"event": "written", "issue": issue, "case": case}:
                    seen.written = f"{issue}/{case}"
                case {"event": "failed", "why": why}:
                    seen.failure = str(why)
                case {"event": "end", "device": device}:
                    seen.device = str(device)
        process.wait()
        return seen

    def _where(self) -> str:
        """Return the innermost call of a slow import, from the traceback in the probe's log."""
        for line in self._lines():
            if (call := _CALL.fullmatch(line)) and "importlib" not in call["file"]:
                return f", in {call['function']} ({call['file']}, line {call['line']})"
        return ""

    def _lines(self) -> list[str]:
        return self.log.read_text(encoding="utf-8", errors="backslashreplace").rstrip().splitlines()


def _lines_of(process: subprocess.Popen[bytes]) -> Iterator[bytes | None]:
    """Yield the lines that a process prints, and None after each second of silence."""
    assert process.stdout is not None
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(1.0):
                yield None
            elif data := os.read(process.stdout.fileno(), 65536):
                *lines, rest = (rest + data).split(b"\n")
                yield from lines
            else:
                return


def _how(code: int) -> str:
    """Return an exit status for people; a guardian reports a signal as a shell does."""
    number = -code if code < 0 else code - 128
    return next((candidate.name for candidate in Signals if candidate.value == number), f"exit status {code}")


def limited(probes: int = 1) -> str:
    """Return a message about a limit of this shell that is too low for so many probes, or "".

    Limits that can be raised are raised, for this process and its children.
    """
    for name, letter, of_one, unit in _LEAST:
        # The kernel limits processes per user, and everything else per process.
        kind, least = getattr(resource, name), of_one * (probes if name == "RLIMIT_NPROC" else 1)
        soft, hard = resource.getrlimit(kind)
        if soft == resource.RLIM_INFINITY or soft >= least * unit:
            continue
        if hard != resource.RLIM_INFINITY and hard < least * unit:
            has, needed = (f"{size}{' MiB' * (unit == _MIB)}" for size in (hard // unit, least))
            return f"this shell has a limit of {has} (ulimit -{letter}): raise it to at least {needed}"
        resource.setrlimit(kind, (least * unit, hard))
    return ""


def command(executable: Path, module: str, *words: str, root: Path = _PACKAGES) -> list[str]:
    """Return the command line that runs one of our modules, from `root`, in a cell."""
    return [str(executable), "-s", "-c", BOOT, str(root), module, *words]


def surroundings() -> dict[str, str]:
    """Return the environment variables of a cell: the user's, without the ones that would change an answer."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(_LEFT_OUT)},
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "JAX_TRACEBACK_FILTERING": "off",
        # OpenBLAS starts threads when NumPy is imported, and a process with threads cannot be forked.
        "OPENBLAS_NUM_THREADS": "1",
    }
