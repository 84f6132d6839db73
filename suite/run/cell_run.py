"""Cell → records: what is left to run in a cell, its environment, its probes, and the status at the end.

Nothing here judges a release, and nothing here stops another cell: whatever goes wrong ends in the cell's status.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from threading import Condition
from typing import Any

from filelock import FileLock, Timeout

from suite.catalogue.catalogue import Entry
from suite.cell.issue import Case
from suite.files import ROOT, read
from suite.judge import rules
from suite.judge.record import Record
from suite.judge.table import RETRIED
from suite.records import alike, keys, records
from suite.records.records import Asked, Status
from suite.records.seen import seen
from suite.run import environment, probe_call
from suite.run.environment import Environment, Unprepared
from suite.run.probe_call import Ended, Progress, Stop, Task
from suite.run.schedule.alone import must_run_again, runs_alone
from suite.stack import lock, plan, uv_call
from suite.stack.lock import Lock
from suite.stack.plan import Cell


@dataclass
class CellRun:
    """One cell's run, from its reservation to its status. Several probes may run for it at a time.

    `fresh`: run what is known, too. `confirm`: a case is known once it has more than one attempt. `asked`: what the run
    is for. After `prepare`, `todo` holds the tasks that nobody has taken yet, `alone` those that run alone, and `lent`
    is the number of cases that another cell runs for this one.
    """

    cell: Cell
    entries: Sequence[Entry]
    progress: Progress
    fresh: bool = False
    confirm: bool = False
    asked: Asked = "all"
    todo: list[Task] = field(default_factory=list)
    alone: list[Task] = field(default_factory=list)
    status: Status | None = None
    lent: int = 0

    def __post_init__(self) -> None:
        self._hold: FileLock = environment.reserve(self.cell)
        self._before: Status | None = None
        self._pinned = lock.obtain(self.cell) if self.cell.unavailable is None else None
        self._made: Environment | None = None
        self._doubtful: list[Task] = []
        self._device = ""
        self._failed: Status | None = None
        self._calls: set[Stop] = set()
        self._orders = 0
        self._changed = Condition()

    def reserve(self, *, wait: bool) -> bool:
        """Reserve the cell, so that no other run mixes with this one. With `wait`, until that is possible."""
        with suppress(Timeout):
            self._hold.acquire(timeout=0)
            return True
        if wait:
            self.progress.say("another run is in this cell: waiting for it")
            self._hold.acquire()
        return wait

    def prepare(self, claimed: set[Hashable]) -> None:
        """Find out what is left to run, and make the environment if anything is.

        `claimed` is what other cells of this run are about to show with the same packages: this one leaves that to
        them, and claims the rest. Raises BadFile for a lock or record that cannot be read, and OSError.
        """
        self._before = records.status(self.cell.id)
        begin(self.cell, self.entries, fresh=self.fresh)
        if self._pinned is None:
            self._fail(note(self.cell, plan.verdict(self.cell), *(self.cell.unavailable or ("", ""))))
            return
        cases = _cases(self.cell, self.entries)
        open_ones = cases if self.fresh else _todo(self.cell, cases, self._pinned, confirm=self.confirm)
        cached, todo = len(cases) - len(open_ones), self._claim(open_ones, claimed)
        if len(todo) < len(cases):
            shared = f", {self.lent} with another cell" if self.lent else ""
            self.progress.say(f"{cached} of {len(cases)} cases cached, {len(todo)} to run{shared}")
        if not todo:
            self._device = self._before.device if self._before else ""
            return
        if environment.ready(self.cell, self._pinned) is None:
            size = environment.to_fetch([(self.cell, self._pinned)]) / 1e6
            self.progress.say(f"installing, up to {size:.0f} MB to fetch")
        if (made := self._prepared()) is None:
            return
        if not _has_device(self.cell, made):
            device = self.cell.device
            self._fail(note(self.cell, "unavailable", "plan.no-device", f"jax finds no {device} on this machine"))
            return
        for each in (task(self.cell, *both, self._pinned, confirm=self.confirm) for both in todo):
            (self.alone if self.confirm or runs_alone(each) else self.todo).append(each)

    def _claim(self, todo: Sequence[tuple[Entry, Case]], claimed: set[Hashable]) -> Sequence[tuple[Entry, Case]]:
        """Return the cases that no other cell runs for this one, and claim them. Row zero is run in each cell."""
        assert self._pinned is not None
        if self.fresh:
            return todo
        mine = []
        for entry, case in todo:
            name = (entry.issue.id, case.id, alike.met(self.cell, case.needs, self._pinned.pins))
            if entry.issue.row_zero or name not in claimed:
                claimed.add(name)
                mine.append((entry, case))
        if todo and not (mine or (self._before and self._before.device)):
            # Only a run in the cell tells the device.
            mine = [todo[-1]]
        self.lent = len(todo) - len(mine)
        return mine

    def call(self, tasks: Sequence[Task], *, alone: bool, remade: bool = False) -> None:
        """Run these tasks by a probe of their own, and see which of them have to be run alone again.

        Tasks that a sibling's fault kept from running go back to `todo`. In a `remade` environment, a failed import
        counts.
        """
        stop = Stop()
        with self._changed:
            self._changed.wait_for(lambda: self._made is not None or self.failed)
            if self._made is None or self._pinned is None or self.failed:
                return
            made = self._made
            self._calls.add(stop)
            self._orders += 1
            log = f"{self.cell.id}.{self._orders}" if self._orders > 1 else self.cell.id
        ended = Ended(left=tuple(tasks))
        try:
            ended = probe_call.call(
                *(made.executable, self.cell.id, list(self._pinned.pins), tasks, self.progress),
                remake=lambda: self._remake(stop),
                log=log,
                remade=remade,
                shut=[environment.ENVIRONMENTS, uv_call.STORE],
                most_attempts=probe_call.MOST_ATTEMPTS if alone else 1,
                stop=stop,
            )
        except Unprepared as error:
            self._fail(note(self.cell, error.verdict, error.reason, error.detail))
        finally:
            with self._changed:
                self._calls.discard(stop)
                self._take(ended, tasks, alone=alone)
                self._changed.notify_all()

    def reserve_again(self) -> None:
        """Reserve the cell for what is to run alone, less what another run that had it meanwhile has seen to."""
        if self.reserved:
            return
        assert self._pinned is not None
        self.reserve(wait=True)
        self.alone = [
            task
            for task in self.alone
            if not known(self.cell, task.entry, task.case, self._pinned, confirm=self.confirm)
        ]
        if self.alone:
            self._prepared()

    def call_alone(self) -> None:
        """Run what is to run alone."""
        tasks, self.alone = self.alone, []
        if tasks and not self.failed:
            self.call(tasks, alone=True)
            self.settle()

    @property
    def reserved(self) -> bool:
        """True if no other run can have the cell."""
        return self._hold.is_locked

    @property
    def called(self) -> bool:
        """True if a probe has run for the cell."""
        return self._orders > 0

    def deal(self, tasks: Sequence[Task]) -> None:
        """Take tasks off `todo`: somebody is about to run them."""
        with self._changed:
            names = {task.name for task in tasks}
            self.todo = [task for task in self.todo if task.name not in names]

    def stop(self) -> None:
        """End all probes of this cell."""
        with self._changed:
            for call in self._calls:
                call.request()

    @property
    def one_at_a_time(self) -> bool:
        """True if two probes of the cell would disturb each other: on one device, or writing to the packages."""
        return self.cell.device != "cpu" or not _can_be_apart()

    @property
    def failed(self) -> bool:
        """True if the cell has come to an end that more probes cannot change."""
        return self._failed is not None

    def settle(self) -> None:
        """Run cases whose imports failed a second time, in a new environment.

        An import counts only if it fails there too. Call this when no probe of the cell runs.
        """
        doubtful, self._doubtful = self._doubtful, []
        if not doubtful or self._failed:
            return
        many = f"{len(doubtful)} case{'s' * (len(doubtful) != 1)}"
        self.progress.say(f"{many} cannot import a package: running again in a new environment")
        environment.forget(self.cell)
        if self._prepared() is not None:
            self.call(doubtful, alone=True, remade=True)

    def finish(self) -> None:
        """Write the status."""
        status = self._failed or note(self.cell, "ran", "ran", python=self._python(), device=self._device)
        # Without the interpreter or the device nothing was run afresh: what was seen with it still counts.
        records.settle(self.cell.id, back=status.verdict == "unavailable")
        before = self._before
        most = max(self.asked, before.asked if before else self.asked, key=records.ASKED.index)
        # The records were made on a device, however this run ended.
        device = status.device or (before.device if before and before.platform == status.platform else "")
        self.status = self._before = status.model_copy(update={"asked": most, "device": device})
        records.write_status(self.status)

    def release(self) -> None:
        """Let other runs have the cell."""
        self._hold.release()

    def _take(self, ended: Ended, tasks: Sequence[Task], *, alone: bool) -> None:
        """Note how an order ended, and sort out the tasks whose records do not count."""
        assert self._pinned is not None
        self._device = ended.device or self._device
        if ended.reason and not self._failed:
            self.progress.say(f"error: {ended.detail}")
            self._fail(note(self.cell, "error", ended.reason, ended.detail, python=self._python()))
        left = {task.name for task in ended.left}
        if not self._failed:
            self.todo += ended.left
        for task in tasks:
            if task.name in left or not task.record.exists():
                continue
            record = read(Record, task.record)
            if not alone and must_run_again(task.case, record, self._pinned.pins):
                # Until it has run alone, there is no record of it.
                task.record.unlink()
                self.alone.append(replace(task, shared=tuple(record.attempts)))
            elif records.fails_to_import(record) and not record.machine.remade:
                self._doubtful.append(task)

    def _remake(self, mine: Stop | None) -> Path:
        """Make a new environment after the other probes of the cell have ended; their cases run again."""
        with self._changed:
            self._made = None
            siblings = self._calls - {mine}
            for sibling in siblings:
                sibling.request()
            self._changed.wait_for(lambda: self._calls <= {mine})
            environment.forget(self.cell)
            assert self._pinned is not None
            self._made = environment.prepare(self.cell, self._pinned)
            self._changed.notify_all()
            return self._made.executable

    def _prepared(self) -> Environment | None:
        assert self._pinned is not None
        try:
            self._made = environment.prepare(self.cell, self._pinned)
        except Unprepared as error:
            self.progress.say(f"{error.verdict}: {error.detail}")
            self._fail(note(self.cell, error.verdict, error.reason, error.detail))
            return None
        return self._made

    def _fail(self, status: Status) -> None:
        self._failed = status
        self.todo.clear()
        self.alone.clear()

    def _python(self) -> str:
        if self._made is not None:
            return self._made.python
        return self._before.python if self._before else ""


def begin(cell: Cell, entries: Sequence[Entry], *, fresh: bool) -> None:
    """Set aside the records of a fresh run's cases; in another run, restore those that were not replaced."""
    records.settle(cell.id, back=not fresh)
    if fresh:
        records.set_aside(cell.id, _cases(cell, entries))


def task(cell: Cell, entry: Entry, case: Case, pinned: Lock, *, confirm: bool = False) -> Task:
    """Return what the probe is asked for about a case in a cell."""
    rule = rules.expected(case, pinned.pins)
    return Task(
        entry,
        case,
        keys.key(entry, case, pinned.sha256, cell.python),
        # The probe is content with one attempt where it sees what is expected.
        rule.behaviour if rule and not confirm else None,
        records.path_of(cell.id, entry.issue.id, case.id),
    )


def left(cell: Cell, entries: Sequence[Entry], *, fresh: bool = False) -> list[tuple[Entry, Case]]:
    """Return the cases that a run of `cell` would run: none if it cannot be had. Raises BadFile."""
    if cell.unavailable is not None:
        return []
    cases = _cases(cell, entries)
    return cases if fresh else _todo(cell, cases, lock.load(cell))


def _cases(cell: Cell, entries: Sequence[Entry]) -> list[tuple[Entry, Case]]:
    return [(entry, case) for entry in entries for case in entry.cases(cell)]


def _todo(
    cell: Cell, cases: list[tuple[Entry, Case]], pinned: Lock, *, confirm: bool = False
) -> list[tuple[Entry, Case]]:
    todo = [both for both in cases if not known(cell, *both, pinned, confirm=confirm)]
    status = records.status(cell.id)
    # Killed before its status was written, a run leaves all its records, and no word of the device that they are from.
    return todo if todo or (status and status.device) else cases[-1:]


def known(cell: Cell, entry: Entry, case: Case, pinned: Lock, *, confirm: bool = False) -> bool:
    """Return True if there is a record to keep. One of a run that went wrong is not kept: it is tried again.

    So is one that a single attempt was enough for when it was expected, and is not as the rules have it now.
    """
    record = seen(cell, entry, case, pinned)
    if record is None:
        return False
    rule = rules.expected(case, pinned.pins)
    seen_as_ruled = record.behaviour is not None and rule is not None and record.behaviour == rule.behaviour
    as_expected = seen_as_ruled or record.verdict == "blocked"
    if (confirm or not as_expected) and not record.confirmed:
        return False
    return record.verdict not in RETRIED


@cache
def _can_be_apart() -> bool:
    """Return True if the kernel gives a probe namespaces of its own: asked in a process that has one thread."""
    command = [sys.executable, "-c", "import sys; from suite.cell import guard; sys.exit(not guard.can_be_apart())"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


# Without the device, jax would silently run on the CPU. The probe reports a jax that cannot be imported.
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


def note(cell: Cell, verdict: Any, reason: str, detail: str = "", python: str = "", device: str = "") -> Status:
    """The status of a cell, as of now and here."""
    return Status(
        cell=cell.id,
        at=datetime.now(UTC).replace(microsecond=0),
        verdict=verdict,
        reason=reason,
        detail=detail,
        python=python,
        platform=keys.here(),
        device=device,
    )
