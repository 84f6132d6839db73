"""Cell → records: makes the environment, sends the probe in, and writes down how far it got.

Nothing here judges, and nothing here stops another cell: whatever goes wrong ends in the cell's status.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from filelock import Timeout

from suite.cell.issue import Case
from suite.files import ROOT, STATE
from suite.judge import verdicts as judge
from suite.run import catalogue, environment, records
from suite.run.catalogue import Entry
from suite.run.environment import Environment, Unprepared
from suite.run.records import Key, Status
from suite.stack import lock, plan
from suite.stack.lock import Lock
from suite.stack.plan import Cell

LOGS = STATE / "logs"


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


def run(cell: Cell, entries: Sequence[Entry], *, fresh: bool, progress: Progress, confirm: bool = False) -> Status:
    """Run what is not yet known of `entries` in `cell`; `fresh` runs all of it again. The status is also written.

    `confirm`: a case is known, and done, only once more than one attempt has been made of it.
    Raises BadFile for a lock or record that cannot be read, and OSError where the disk refuses.
    """
    if cell.unavailable is not None:
        return _note(cell, plan.verdict(cell), *cell.unavailable)
    pinned = lock.obtain(cell)
    with _reserved(cell, progress):
        if environment.ready(cell, pinned) is None:
            progress.say(
                f"making its environment, up to {environment.to_fetch([(cell, pinned)]) / 1e6:.0f} MB to fetch"
            )
        try:
            made = environment.prepare(cell, pinned)
        except Unprepared as error:
            progress.say(f"{error.verdict}: {error.detail}")
            return _note(cell, error.verdict, error.reason, error.detail)
        tasks = _tasks(cell, entries, pinned, made.python, confirm=confirm)
        todo = tasks if fresh else _todo(cell, tasks, confirm=confirm)
        if len(todo) < len(tasks):
            progress.say(
                f"{len(tasks) - len(todo)} of {len(tasks)} cases are known and unchanged, {len(todo)} left to run"
            )
        if not todo:
            return _note(cell, "ran", "ran", python=made.python, device=_device(cell))
        if not _has_device(cell, made):
            return _note(cell, "unavailable", "plan.no-device", f"jax finds no {cell.device} on this machine")
        return _probe(cell, made, pinned, todo, progress)


def left(cell: Cell, entries: Sequence[Entry]) -> int:
    """How many cases a run of `cell` would run: none where it cannot be had. Raises BadFile."""
    if cell.unavailable is not None:
        return 0
    pinned = lock.load(cell)
    made = environment.ready(cell, pinned)
    return len(_todo(cell, _tasks(cell, entries, pinned, made.python if made else cell.python)))


def _todo(cell: Cell, tasks: Sequence[Task], *, confirm: bool = False) -> Sequence[Task]:
    todo = [task for task in tasks if not known(cell, task.entry, task.case, task.key, confirm=confirm)]
    # Killed before its status was written, a run leaves all its records, and no word of the device that they are from.
    return todo if todo or _device(cell) else tasks[-1:]


def _device(cell: Cell) -> str:
    previous = records.status(cell.id)
    return previous.device if previous else ""


@contextmanager
def _reserved(cell: Cell, progress: Progress) -> Iterator[None]:
    hold = environment.reserve(cell)
    try:
        hold.acquire(timeout=0)
    except Timeout:
        progress.say("another run is in this cell: waiting for it")
        hold.acquire()
    try:
        yield
    finally:
        hold.release()


def _tasks(cell: Cell, entries: Sequence[Entry], pinned: Lock, python: str, *, confirm: bool = False) -> list[Task]:
    tasks = []
    for entry in entries:
        key = records.key(entry, pinned.sha256, python)
        for case in catalogue.cases(entry, cell):
            # The probe is content with one attempt where it sees what is expected.
            expectation = None if confirm else judge.expected(case, pinned.pins)
            expected = expectation.behaviour if expectation else None
            tasks.append(Task(entry, case, key, expected, records.path_of(cell.id, entry.issue.id, case.id)))
    return tasks


def known(cell: Cell, entry: Entry, case: Case, key: Key, *, confirm: bool = False) -> bool:
    """Whether there is a record to keep. One that taught nothing of upstream is not kept: it is tried again."""
    record = records.find(cell.id, entry, case.id, key)
    if record is None or (confirm and not judge.confirmed(record.attempts)):
        return False
    return judge.judge(case, record.attempts).verdict not in judge.UNDECIDED


# Where it finds no such device, jax would quietly run on the CPU. A jax that cannot be imported is the probe's to tell.
_FIND_DEVICE = """
import sys, jax
try:
    jax.devices(sys.argv[1])
except RuntimeError:
    sys.exit(3)
"""


def _has_device(cell: Cell, made: Environment) -> bool:
    if cell.device == "cpu":
        return True
    command: list[str | Path] = [made.executable, "-c", _FIND_DEVICE, cell.device]
    return subprocess.run(command, env=surroundings(), capture_output=True, check=False).returncode != 3


def _probe(cell: Cell, made: Environment, pinned: Lock, todo: Sequence[Task], progress: Progress) -> Status:
    order = {
        "cell": cell.id,
        "packages": sorted(pinned.pins),
        "cases": [
            {
                **{"module": task.entry.module, "case": task.case.id, "expected": task.expected},
                **{"key": task.key.model_dump(), "record": str(task.record)},
            }
            for task in todo
        ],
    }
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{cell.id}.log"
    with tempfile.TemporaryDirectory() as scratch, log.open("wb") as errors:
        order_path = Path(scratch, "order.json")
        order_path.write_text(json.dumps(order), encoding="utf-8")
        with subprocess.Popen(
            [made.executable, "-m", "suite.cell.probe", str(order_path)],
            cwd=scratch,
            env=surroundings(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process:
            try:
                end = _follow(process, len(todo), progress)
            finally:
                process.kill()
    left = len(todo) - end.done
    if left:
        last = log.read_text(encoding="utf-8", errors="backslashreplace").strip().splitlines()[-3:]
        why = end.failure or f"the probe ended ({process.returncode}): {' / '.join(last)}"
        detail = f"{why}; {left} of {len(todo)} cases left"
        progress.say(f"error: {detail}")
        return _note(cell, "error", "run.disk" if end.failure else "run.probe", detail, python=made.python)
    return _note(cell, "ran", "ran", python=made.python, device=end.device)


@dataclass(frozen=True)
class _End:
    """How many cases the probe has done, the device it saw, and why it gave up, if it did."""

    done: int
    device: str
    failure: str


def _follow(process: subprocess.Popen[str], total: int, progress: Progress) -> _End:
    """Turn the probe's progress into words until it ends."""
    done, device, failure = 0, "", ""
    assert process.stdout is not None
    for line in process.stdout:
        try:
            event: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        match event:
            case {"event": "unforkable", "why": why}:
                progress.say(f"{why}: a fresh interpreter for every case from here")
            case {"event": "done", "issue": issue, "case": case}:
                done += 1
                progress.step(done, total, issue, case)
            case {"event": "failed", "why": why}:
                failure = str(why)
            case {"event": "end", "device": seen}:
                device = str(seen)
    process.wait()
    return _End(done, device, failure)


def surroundings() -> dict[str, str]:
    """The environment variables of a cell: the user's, without what would make their machine's answers their own."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name == "JAX_PLATFORMS" or not name.startswith(("JAX_", "XLA_", "EQX_", "TF_", "PYTHON"))
    }
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "0",
        "JAX_TRACEBACK_FILTERING": "off",
        # OpenBLAS starts threads as NumPy is imported, and a process with threads cannot be forked.
        "OPENBLAS_NUM_THREADS": "1",
    }


def _note(cell: Cell, verdict: Any, reason: str, detail: str = "", python: str = "", device: str = "") -> Status:
    found = Status(
        cell=cell.id,
        at=datetime.now(UTC).replace(microsecond=0),
        verdict=verdict,
        reason=reason,
        detail=detail,
        python=python,
        platform=records.here(),
        device=device,
    )
    records.write_status(found)
    return found
