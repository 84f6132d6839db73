"""Cell → records: makes the environment, sends the probe in, and writes down how far it got.

Nothing here judges, and nothing here stops another cell: whatever goes wrong ends in the cell's status.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import Timeout

from suite.cell.issue import Case
from suite.files import read
from suite.judge import rules, verdicts
from suite.judge.record import Record
from suite.judge.table import RETRIED
from suite.run import catalogue, environment, probe_call, records
from suite.run.catalogue import Entry
from suite.run.environment import Environment, Unprepared
from suite.run.probe_call import Progress, Task
from suite.run.records import Asked, Status
from suite.stack import lock, plan, uv_call
from suite.stack.lock import Lock
from suite.stack.plan import Cell


def run(
    cell: Cell,
    entries: Sequence[Entry],
    *,
    fresh: bool,
    progress: Progress,
    confirm: bool = False,
    asked: Asked = "all",
) -> Status:
    """Run what is not yet known of `entries` in `cell`; `fresh` runs all of it again. The status is also written.

    What is asked afresh and is not made counts as not run; what was known of it counts again once somebody asks for no
    more than that.
    `confirm`: a case is known, and done, only once more than one attempt has been made of it. `asked`: what for, of
    which the status keeps the most that there was. Raises BadFile for a lock or record that cannot be read, and OSError
    where the disk refuses.
    """
    with _reserved(cell, progress):
        before = records.status(cell.id)
        begin(cell, entries, fresh=fresh)
        status = _run(cell, entries, fresh=fresh, progress=progress, confirm=confirm)
        records.settle(cell.id, back=False)
        most = max(asked, before.asked if before else asked, key=records.ASKED.index)
        # What is on record was seen on a device, however this run ended.
        device = status.device or (before.device if before and before.platform == status.platform else "")
        status = status.model_copy(update={"asked": most, "device": device})
        records.write_status(status)
        return status


def begin(cell: Cell, entries: Sequence[Entry], *, fresh: bool) -> None:
    """Have what is asked afresh count no more; or else have what was set aside before, and not made anew, count."""
    records.settle(cell.id, back=not fresh)
    if fresh:
        records.set_aside(cell.id, _cases(cell, entries))


def _run(cell: Cell, entries: Sequence[Entry], *, fresh: bool, progress: Progress, confirm: bool) -> Status:
    if cell.unavailable is not None:
        status = note(cell, plan.verdict(cell), *cell.unavailable)
        progress.say(f"{status.verdict}: {status.detail}")
        return status
    pinned = lock.obtain(cell)
    cases = _cases(cell, entries)
    todo = cases if fresh else _todo(cell, cases, pinned, confirm=confirm)
    if len(todo) < len(cases):
        progress.say(f"{len(cases) - len(todo)} of {len(cases)} cases are known and unchanged, {len(todo)} left to run")
    if not todo and (last := records.status(cell.id)):
        return last.model_copy(update={"verdict": "ran", "reason": "ran", "detail": ""})
    if environment.ready(cell, pinned) is None:
        progress.say(f"making its environment, up to {environment.to_fetch([(cell, pinned)]) / 1e6:.0f} MB to fetch")
    try:
        made = environment.prepare(cell, pinned)
    except Unprepared as error:
        progress.say(f"{error.verdict}: {error.detail}")
        return note(cell, error.verdict, error.reason, error.detail)
    if not _has_device(cell, made):
        return note(cell, "unavailable", "plan.no-device", f"jax finds no {cell.device} on this machine")
    tasks = [_task(cell, entry, case, pinned, confirm=confirm) for entry, case in todo]
    status = _probe(cell, made, pinned, tasks, progress)
    if doubtful := [task for task in tasks if _fails_to_import(task)]:
        # An import counts only where it fails again in another environment of the same lock.
        progress.say(f"{len(doubtful)} cases do not import what they need: once more in an environment made anew")
        environment.forget(cell)
        try:
            made = environment.prepare(cell, pinned)
        except Unprepared as error:
            return note(cell, error.verdict, error.reason, error.detail)
        status = _probe(cell, made, pinned, doubtful, progress, remade=True)
    return status


def _task(cell: Cell, entry: Entry, case: Case, pinned: Lock, *, confirm: bool) -> Task:
    rule = rules.expected(case, pinned.pins)
    return Task(
        entry,
        case,
        records.key(entry, case, pinned.sha256, cell.python),
        # The probe is content with one attempt where it sees what is expected.
        rule.behaviour if rule and not confirm else None,
        records.path_of(cell.id, entry.issue.id, case.id),
    )


def _fails_to_import(task: Task) -> bool:
    return task.record.exists() and records.fails_to_import(read(Record, task.record))


def left(cell: Cell, entries: Sequence[Entry]) -> int:
    """How many cases a run of `cell` would run: none where it cannot be had. Raises BadFile."""
    if cell.unavailable is not None:
        return 0
    return len(_todo(cell, _cases(cell, entries), lock.load(cell)))


def _cases(cell: Cell, entries: Sequence[Entry]) -> list[tuple[Entry, Case]]:
    return [(entry, case) for entry in entries for case in catalogue.cases(entry, cell)]


def _todo(
    cell: Cell, cases: list[tuple[Entry, Case]], pinned: Lock, *, confirm: bool = False
) -> list[tuple[Entry, Case]]:
    todo = [each for each in cases if not known(cell, *each, pinned, confirm=confirm)]
    status = records.status(cell.id)
    # Killed before its status was written, a run leaves all its records, and no word of the device that they are from.
    return todo if todo or (status and status.device) else cases[-1:]


def _reserved(cell: Cell, progress: Progress) -> AbstractContextManager[object]:
    hold = environment.reserve(cell)
    try:
        return hold.acquire(timeout=0)
    except Timeout:
        progress.say("another run is in this cell: waiting for it")
        return hold.acquire()


def known(cell: Cell, entry: Entry, case: Case, pinned: Lock, *, confirm: bool = False) -> bool:
    """Whether there is a record to keep. One of a run that went wrong is not kept: it is tried again.

    So is one that a single attempt was enough for when it was expected, and is not as the rules have it now.
    """
    record = records.in_force(cell, entry, case, pinned)
    if record is None:
        return False
    judged = verdicts.judge(case, record.attempts)
    rule = rules.expected(case, pinned.pins)
    as_expected = judged.behaviour is not None and rule is not None and judged.behaviour == rule.behaviour
    if (confirm or not as_expected) and not verdicts.confirmed(record.attempts):
        return False
    return judged.verdict not in RETRIED


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
    return subprocess.run(command, env=probe_call.surroundings(), capture_output=True, check=False).returncode != 3


def _probe(
    cell: Cell, made: Environment, pinned: Lock, todo: Sequence[Task], progress: Progress, *, remade: bool = False
) -> Status:
    def remake() -> Path:
        environment.forget(cell)
        return environment.prepare(cell, pinned).executable

    ended = probe_call.call(
        *(made.executable, cell.id, list(pinned.pins), todo, progress),
        remake=remake,
        remade=remade,
        shut=[environment.ENVIRONMENTS, uv_call.STORE],
    )
    if ended.reason:
        progress.say(f"error: {ended.detail}")
        return note(cell, "error", ended.reason, ended.detail, python=made.python)
    return note(cell, "ran", "ran", python=made.python, device=ended.device)


def note(cell: Cell, verdict: Any, reason: str, detail: str = "", python: str = "", device: str = "") -> Status:
    """The status of a cell, as of now and here."""
    return Status(
        cell=cell.id,
        at=datetime.now(UTC).replace(microsecond=0),
        verdict=verdict,
        reason=reason,
        detail=detail,
        python=python,
        platform=records.here(),
        device=device,
    )
