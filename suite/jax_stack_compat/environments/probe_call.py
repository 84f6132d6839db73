"""Calls of the probe: carry out an order in an environment, restart after a crash, and report the progress.

This module needs the standard library alone, since orders travel to machines that have nothing else.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals
from types import MappingProxyType
from typing import Any, Protocol

from jax_stack_compat.base import guardian
from jax_stack_compat.base.guardian import GuardedProcess
from jax_stack_compat.cell import atomic
from jax_stack_compat.cell.child import BOOT

# The ids of an issue and a case.
Name = tuple[str, str]
_PACKAGES = guardian.PACKAGES
IMPORT_SECONDS = 300.0
# The limit of each other phase of a probe: its start, an issue's module, and its end, where it asks for its device.
PHASE_SECONDS = 300.0
# A probe that is stopped in a case keeps no limit. A case makes its attempts, each of a few parts within its seconds,
# and some parts twice; no case needs the most.
_PARTS, _MOST_CASE_SECONDS = 8, 4 * 3600.0
# In the folder for temporary files.
_PLACE = f"jax-stack-compat-{os.geteuid()}"
_MOST_RECORD = 64 * 1024 * 1024
# The end of a log that is looked at, in bytes, and of a line of it that is told, in characters.
_TAIL, _TOLD = 256 * 1024, 500
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

    @property
    def record(self) -> Path:
        """The file of its record."""

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
                guardian.terminate(self._process)

    def watch(self, process: subprocess.Popen[Any] | None) -> None:
        """Note the process that `request` must terminate."""
        with self._lock:
            self._process = process
            if self.requested and process is not None:
                guardian.terminate(process)


@dataclass
class _Seen:
    """One probe's progress: its finished cases, and the phase that it last reported."""

    done: set[Name] = field(default_factory=set)
    doing: Name | None = None
    reading: str = ""
    importing: str = ""
    where: str = ""
    # The seconds that its phase may take.
    limit: float = 0.0
    late: bool = False
    over: str = ""
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

    Imports and cases cannot write into the folders in `shut`. If a case wrote into the installed packages anyway,
    `remake` makes a new environment and returns its interpreter. `root` has the probe and the issues, `log` is the file
    of the probe's output, and `variables` are more variables of its environment. `stop` ends the call from another
    thread.
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
        probe = _Probe(executable, log, progress, root, import_seconds, stop, variables, shut)
        seen, code, said = probe.carry_out(order, left)
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
        if seen.late and not left:
            progress.say(f"the probe did not name its device: {seen.over}")
            return Ended()
        how = seen.over or _how(code)
        told = seen.over or f"{how}{': ' * bool(said)}{said}"
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
            detail = f"the probe ended ({told}); {len(left)} of {len(todo)} left"
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
    shut: Sequence[Path] = ()

    def carry_out(self, order: Mapping[str, Any], tasks: Mapping[Name, Ordered]) -> tuple[_Seen, int, str]:
        """Return the probe's progress, its exit status, and the last lines of its output.

        The probe writes records into a folder of its own; those that are of these tasks go to the tasks' own places.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with (
            _scratch() as scratch,
            self.log.open("wb", 0) as log,
        ):
            own = {name: Path(scratch, f"{number}.json") for number, name in enumerate(tasks)}
            cases = [{**case, "record": str(path)} for case, path in zip(order["cases"], own.values(), strict=True)]
            order_path = Path(scratch, "order.json")
            order_path.write_text(json.dumps({**order, "cases": cases}), encoding="utf-8")
            try:
                probe = GuardedProcess(
                    self._command(order_path),
                    folder=Path(scratch),
                    variables={**surroundings(), **self.variables},
                    log=log,
                )
            except OSError as error:  # no such interpreter, no right to run it, no process left
                return _Seen(), _NOT_STARTED, f"it could not be started: {error}"
            self.stop.watch(probe.process)
            try:
                seen = self._follow(probe, {name: (own[name], task) for name, task in tasks.items()})
            finally:
                self.stop.watch(None)
                code = probe.close()
        seen.over = probe.over
        return seen, code, " / ".join(line[-_TOLD:] for line in self._lines()[-3:])

    def _command(self, order: Path) -> list[str]:
        plain = command(self.executable, "jax_stack_compat.cell.probe", str(order), root=self.root)
        # An import writes bytecode into its environment.
        opened = [order.parent, self.executable.parent.parent]
        # A probe does not reach the folders of others.
        shut = [*self.shut, order.parent.parent] if order.parent.parent.name == _PLACE else self.shut
        return guardian.command(self.executable, plain, root=self.root, shut=shut, opened=opened)

    def _follow(self, probe: GuardedProcess, tasks: Mapping[Name, tuple[Path, Ordered]]) -> _Seen:
        """Report the probe's progress until it ends; end it if a phase of it takes too long."""
        seen, since, told = _Seen(limit=PHASE_SECONDS), time.monotonic(), False
        for line in probe.lines():
            if line is None:
                waited = time.monotonic() - since
                if seen.importing and not told and waited > SLOW_IMPORT + 1:
                    told, seen.where = True, self._where()
                    self.progress.say(f"importing {seen.importing} takes more than {SLOW_IMPORT:g} s{seen.where}")
                if self.stop.requested:
                    probe.end("it was not wanted any more")
                elif waited > seen.limit:
                    seen.late = True
                    probe.end(f"not done in {seen.limit:g} s")
                continue
            if self._hear(line, seen, tasks):
                since, told = time.monotonic(), False
            if seen.failure:
                probe.end(seen.failure)
        return seen

    def _hear(self, line: bytes, seen: _Seen, tasks: Mapping[Name, tuple[Path, Ordered]]) -> bool:
        """Note a line of progress. Return True if the probe has begun something else."""
        match _event(line):
            case {"event": "read", "module": str(module)}:
                seen.reading, seen.limit = module, PHASE_SECONDS
            case {"event": "import", "package": str(package)}:
                seen.importing, seen.reading, seen.where = package, "", ""
                seen.limit = self.import_seconds
            case {"event": "unforkable", "why": str(why)}:
                self.progress.say(f"{why}: from now on, each case gets a new interpreter")
                return False
            case {"event": "start", "issue": str(issue), "case": str(case), "seconds": seconds} if (
                issue,
                case,
            ) in tasks:
                seen.importing, seen.reading, seen.doing = "", "", (issue, case)
                seen.limit = _most_seconds(seconds)
                self.progress.start(issue, case)
            case {"event": "done", "issue": str(issue), "case": str(case)} if (issue, case) in tasks:
                written, task = tasks[issue, case]
                try:
                    kept = _keep(written, task)
                except OSError as error:
                    seen.failure = f"cannot write the record of {issue}/{case}: {error.strerror}"
                    return False
                if kept:
                    seen.done.add((issue, case))
                seen.doing, seen.limit = None, PHASE_SECONDS
                self.progress.step(issue, case)
            case {"event": "written", "issue": str(issue), "case": str(case)}:
                seen.written = f"{issue}/{case}"
            case {"event": "failed", "why": str(why)}:
                seen.failure = why
            case {"event": "end", "device": str(device)}:
                seen.device = device
            case _:
                return False
        return True

    def _where(self) -> str:
        """Return the innermost call of a slow import, from the traceback in the probe's log."""
        for line in self._lines():
            if (call := _CALL.fullmatch(line)) and "importlib" not in call["file"]:
                return f", in {call['function']} ({call['file']}, line {call['line']})"
        return ""

    def _lines(self) -> list[str]:
        with self.log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
            return log.read().decode("utf-8", "backslashreplace").rstrip().splitlines()


@contextmanager
def _scratch() -> Iterator[Path]:
    """Make a probe's folder, in this user's folder of such folders; both go afterwards."""
    place = Path(tempfile.gettempdir(), _PLACE)
    folder = None
    while folder is None and _is_ours(place):
        with suppress(FileNotFoundError):  # the last of the other probes has just removed it
            folder = tempfile.mkdtemp(dir=place)
    folder = folder or tempfile.mkdtemp()
    try:
        yield Path(folder)
    finally:
        # Stray processes may still write here while they are ended; ignore that.
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            place.rmdir()


def _is_ours(place: Path) -> bool:
    """Make a folder that is for this user alone. Return False if there is something else."""
    try:
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
        found = place.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and found.st_mode & 0o777 == 0o700


def _event(line: bytes) -> object:
    """Return what a line of progress says, or None."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _most_seconds(seconds: object) -> float:
    """Return the limit of a case by the driver, from the limit of one of its parts."""
    if not isinstance(seconds, int | float) or not 0 <= seconds <= _MOST_CASE_SECONDS:
        return _MOST_CASE_SECONDS
    return min(PHASE_SECONDS + MOST_ATTEMPTS * _PARTS * seconds, _MOST_CASE_SECONDS)


def _keep(written: Path, task: Ordered) -> bool:
    """Put a record that the probe has written at its place; False if it is not a record of this task.

    Raises OSError if it cannot be put there.
    """
    try:
        text = _text(written)
        record = json.loads(text)
        # A lone surrogate is JSON to Python and to nobody else.
        json.dumps(record, ensure_ascii=False).encode()
        asked = task.ordered("")
        ours = all(record[name] == asked[name] for name in ("issue", "case", "key"))
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return False
    if ours:
        atomic.write(task.record, text)
    return ours


def _text(path: Path) -> bytes:
    """Return the content of a plain file of a limited size. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as stream:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_RECORD:
            raise OSError(f"{path} is not a record")
        return stream.read()


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
