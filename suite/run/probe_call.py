"""Order → records: sends the probe into an environment, again where it was ended, and says how far it got."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals
from typing import Any, Protocol

from suite.cell.child import BOOT
from suite.cell.issue import Case
from suite.files import ROOT, STATE
from suite.judge.record import Key
from suite.run.catalogue import Entry

LOGS = STATE / "logs"
IMPORT_SECONDS = 300.0
_MIB = 1024**2
# What JAX needs, generously, of what a shell limits: with less it dies, and that would be told of upstream. Each with
# the letter of `ulimit`, and the unit that people know it in.
_LEAST = (
    *(("RLIMIT_AS", "v", 16 * 1024, _MIB), ("RLIMIT_DATA", "d", 16 * 1024, _MIB), ("RLIMIT_STACK", "s", 4, _MIB)),
    *(("RLIMIT_FSIZE", "f", 1024, _MIB), ("RLIMIT_CPU", "t", 3600, 1), ("RLIMIT_NOFILE", "n", 256, 1)),
    ("RLIMIT_NPROC", "u", 256, 1),
)
# As a shell has it.
_NOT_STARTED = 127
# What of the user's surroundings would make their machine's answers their own: settings of Python, of the stack, of
# what computes below it, and of what is loaded before all of it.
_LEFT_OUT = (
    *("PYTHON", "JAX", "XLA_", "EQX_", "TF_", "TEST_", "LIBTPU_", "BEARTYPE", "NPY_", "NUMPY_", "SCIPY_", "SUITE_"),
    *("OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "BLIS_", "NUMEXPR_", "VECLIB_", "MALLOC_", "GLIBC_", "LC_"),
    *("LD_PRELOAD", "LD_AUDIT", "LANG", "VIRTUAL_ENV", "ABSL_", "GLOG_", "DIFFRAX_", "LINEAX_"),
)


@dataclass(frozen=True)
class Task:
    """One case to be run in one cell, and the key its record will hold under."""

    entry: Entry
    case: Case
    key: Key
    expected: str | None
    record: Path


class Progress(Protocol):
    """Tells a person how far a cell is."""

    def say(self, message: str) -> None:
        """Something happened."""

    def step(self, done: int, total: int, issue: str, case: str) -> None:
        """A case is done."""


@dataclass
class Ended:
    """What came of an order: the device that was seen, and why it was given up, as a reason code and a sentence."""

    device: str = ""
    reason: str = ""
    detail: str = ""


@dataclass
class _Seen:
    """How far one probe got: the cases that it has done, and what it was in when it said no more."""

    done: set[tuple[str, str]] = field(default_factory=set)
    doing: tuple[str, str] | None = None
    importing: str = ""
    waited: float = 0.0
    failure: str = ""
    written: str = ""
    device: str | None = None


def call(
    executable: Path, cell: str, packages: Sequence[str], todo: Sequence[Task], progress: Progress, *,
    remake: Callable[[], Path], remade: bool = False, shut: Sequence[Path] = (), import_seconds: float = IMPORT_SECONDS,
    root: Path = ROOT,
) -> Ended:  # fmt: skip
    """Have a probe run `todo` with this interpreter; a new one goes on where one was ended by what it ran.

    Cases cannot write into the folders `shut`; where one has written into the installed packages all the same, `remake`
    makes the environment anew, and says where its interpreter is. `root` has the probe, and the issues.
    """
    if why := _limited():
        return Ended(reason="run.limits", detail=why)
    left = {(task.entry.issue.id, task.case.id): task for task in todo}
    ended: dict[tuple[str, str], str] = {}
    unimportable: dict[str, tuple[str, str]] = {}
    while True:
        order = {
            **{"cell": cell, "packages": sorted(packages), "shut": [str(each) for each in shut if each.is_dir()]},
            **{"import_seconds": import_seconds, "unimportable": unimportable, "remade": remade},
            "cases": [_ordered(task, ended.get(name, "")) for name, task in left.items()],
        }
        seen, code, said = _probe(executable, cell, order, len(todo) - len(left), len(todo), progress, root)
        for name in seen.done:
            del left[name]
        if seen.device is not None:
            return Ended(device=seen.device)
        if seen.failure:
            return Ended(reason="run.disk", detail=f"{seen.failure}; {len(left)} of {len(todo)} cases left")
        if seen.written:
            progress.say(f"{seen.written} wrote into the installed packages: they are installed anew")
            executable = remake()
            if not left:
                return Ended()
            continue
        how = _how(code)
        if seen.importing and seen.importing not in unimportable:
            late = seen.waited >= import_seconds
            outcome, told = ("import-timeout", f"not done in {import_seconds:g} s") if late else ("import-signal", how)
            unimportable[seen.importing] = (outcome, f"{told}{': ' * bool(said)}{said}")
            progress.say(f"importing {seen.importing} ended the probe ({told}): it goes on without")
        elif seen.doing and seen.doing in left and seen.doing not in ended:
            ended[seen.doing] = f"it ended the probe that ran it ({how}){': ' * bool(said)}{said}"
            progress.say(f"{'/'.join(seen.doing)} ended the probe ({how}): a new one goes on")
        else:
            # Not by what it ran, and so again: nobody would be helped.
            return Ended(reason="run.probe", detail=f"the probe ended ({how}): {said}; {len(left)} of {len(todo)} left")


def _ordered(task: Task, ended: str) -> dict[str, Any]:
    return {
        **{"module": task.entry.module, "case": task.case.id, "expected": task.expected},
        **{"key": task.key.model_dump(), "record": str(task.record), "ended": ended},
    }


def _probe(
    executable: Path, cell: str, order: Mapping[str, Any], done: int, total: int, progress: Progress, root: Path
) -> tuple[_Seen, int, str]:
    """One probe, to its end: how far it got, its exit status, and its last words."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{cell}.log"
    # What strays write while they are ended is nobody's loss.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch, log.open("wb") as errors:
        order_path = Path(scratch, "order.json")
        order_path.write_text(json.dumps(order), encoding="utf-8")
        try:
            process = subprocess.Popen(
                command(executable, "suite.cell.probe", str(order_path), root=root),
                cwd=scratch,
                env=surroundings(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        except OSError as error:  # no such interpreter, no right to run it, no process left
            return _Seen(), _NOT_STARTED, f"it could not be started: {error}"
        with process:
            try:
                seen = _follow(process, done, total, progress)
            except BaseException:
                # Not killed: the guardian ends what the probe has started.
                process.terminate()
                raise
    last = log.read_text(encoding="utf-8", errors="backslashreplace").strip().splitlines()[-3:]
    return seen, process.returncode, " / ".join(last)


def _follow(process: subprocess.Popen[str], done: int, total: int, progress: Progress) -> _Seen:
    """Turn the probe's progress into words until it ends."""
    seen, since = _Seen(), 0.0
    assert process.stdout is not None
    for line in process.stdout:
        try:
            event: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        match event:
            case {"event": "import", "package": package}:
                seen.importing, since = str(package), time.monotonic()
            case {"event": "unforkable", "why": why}:
                progress.say(f"{why}: a fresh interpreter for every case from here")
            case {"event": "start", "issue": issue, "case": case}:
                seen.importing, seen.doing = "", (issue, case)
            case {"event": "done", "issue": issue, "case": case}:
                seen.done.add((issue, case))
                seen.doing = None
                progress.step(done + len(seen.done), total, issue, case)
            case {"event": "written", "issue": issue, "case": case}:
                seen.written = f"{issue}/{case}"
            case {"event": "failed", "why": why}:
                seen.failure = str(why)
            case {"event": "end", "device": device}:
                seen.device = str(device)
    process.wait()
    seen.waited = time.monotonic() - since
    return seen


def _how(code: int) -> str:
    """An exit status for people; a guardian's tells of a signal as a shell's does."""
    number = -code if code < 0 else code - 128
    return next((each.name for each in Signals if each.value == number), f"exit status {code}")


def _limited() -> str:
    """What this shell's limits leave too little of to judge anything, or nothing.

    Where the shell lets them be raised, they are, for this process and those that it starts.
    """
    for name, letter, least, unit in _LEAST:
        kind = getattr(resource, name)
        soft, hard = resource.getrlimit(kind)
        if soft == resource.RLIM_INFINITY or soft >= least * unit:
            continue
        if hard != resource.RLIM_INFINITY and hard < least * unit:
            has, needed = (f"{each}{' MiB' * (unit == _MIB)}" for each in (hard // unit, least))
            return (
                f"this shell has a limit of {has} (ulimit -{letter}), and nothing can be judged below {needed}: lift it"
            )
        resource.setrlimit(kind, (least * unit, hard))
    return ""


def command(executable: Path, module: str, *words: str, root: Path = ROOT) -> list[str]:
    """The command line that runs one of our modules, as `root` has it, in a cell."""
    return [str(executable), "-s", "-c", BOOT, str(root), module, *words]


def surroundings() -> dict[str, str]:
    """The environment variables of a cell: the user's, without what would change an answer."""
    return {
        **{name: each for name, each in os.environ.items() if not name.startswith(_LEFT_OUT)},
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "JAX_TRACEBACK_FILTERING": "off",
        # OpenBLAS starts threads as NumPy is imported, and a process with threads cannot be forked.
        "OPENBLAS_NUM_THREADS": "1",
    }
