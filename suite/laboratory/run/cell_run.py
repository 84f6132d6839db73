"""The run of one cell: its environment, tasks, probes, records and status.

This module judges no release. A fault does not stop other cells: the cell's status records it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Condition
from typing import Any

from filelock import FileLock, Timeout

from jax_stack_compat.base.fields import this_moment
from jax_stack_compat.base.files import LOGS, OURS, PACKAGES, read
from jax_stack_compat.environments import probe_call
from jax_stack_compat.environments.probe_call import Ended, Progress, Stop
from jax_stack_compat.environments.task import Task
from jax_stack_compat.judge.record import Record
from jax_stack_compat.stack import plan, uv_call
from jax_stack_compat.stack.plan import Cell
from laboratory.records import keys, records
from laboratory.records.records import Asked, Status
from laboratory.records.work import Work, known, orders, take
from laboratory.run import environment
from laboratory.run.alone import must_run_again, runs_alone
from laboratory.run.environment import Environment, Unprepared


@dataclass
class CellRun:
    """One cell's run, from its reservation to its status. Several probes may work for it at a time.

    `asked` is the purpose of the run. After `prepare`, `todo` holds the tasks that no probe has taken yet, and `alone`
    the tasks that must run alone. `one_at_a_time` is True if two probes would disturb each other by writing to the
    packages.
    """

    work: Work
    progress: Progress
    asked: Asked = "all"
    todo: list[Task] = field(default_factory=list)
    alone: list[Task] = field(default_factory=list)
    status: Status | None = None

    def __post_init__(self) -> None:
        self.cell, self._pinned = self.work.cell, self.work.pinned
        self.one_at_a_time = False
        self._hold: FileLock = environment.reserve(self.cell.id)
        self._made: Environment | None = None
        self._doubtful: list[Task] = []
        self._device = ""
        self._failed: Status | None = None
        self._calls: set[Stop] = set()
        self._orders = 0
        self._changed = Condition()

    def reserve(self, *, wait: bool) -> bool:
        """Reserve the cell against other runs. Without `wait`, return False if another run has reserved it."""
        with suppress(Timeout):
            self._hold.acquire(timeout=0)
            return True
        if wait:
            self.progress.say("another run is in this cell: waiting for it")
            self._hold.acquire()
        return wait

    def prepare(self, claimed: set[Hashable]) -> None:
        """Find the cases to run and, if there are any, make the environment.

        `claimed` has the cases that other cells of this run will run with the same packages. This cell leaves these
        cases out, and claims its other cases. Raises BadFile for an unreadable lock or record, and OSError.
        """
        self.work = take(self.work, claimed)
        if self.cell.unavailable is not None:
            self._fail(plan.verdict(self.cell), *self.cell.unavailable)
            return
        count, todo, lent = len(self.work.cases), len(self.work.left), self.work.lent
        if todo < count:
            shared = f", {lent} run by another cell" if lent else ""
            self.progress.say(f"{count - todo - lent} of {count} cases cached, {todo} to run{shared}")
        if not todo:
            self._device = self.work.before.device if self.work.before else ""
            return
        if environment.ready(self.cell, self._pinned) is None:
            size = environment.to_fetch([(self.cell, self._pinned)]) / 1e6
            self.progress.say(f"installing, up to {size:.0f} MB to fetch")
        if self._prepared() is None:
            return
        self.one_at_a_time = not _can_be_apart()
        for task in orders(self.work):
            (self.alone if self.work.confirm or runs_alone(task) else self.todo).append(task)

    def call(self, tasks: Sequence[Task], *, alone: bool, remade: bool = False) -> None:
        """Run these tasks in a probe of their own, and find the tasks that must run again alone.

        Tasks that a sibling's fault prevented go back to `todo`. In a `remade` environment, a failed import counts.
        """
        stop = Stop()
        with self._changed:
            self._changed.wait_for(lambda: self._made is not None or self.failed)
            if self._made is None or self.failed:
                return
            made = self._made
            self._calls.add(stop)
            self._orders += 1
            log = f"{self.cell.id}.{self._orders}.log" if self._orders > 1 else f"{self.cell.id}.log"
        ended = Ended(left=tuple(task.name for task in tasks))
        try:
            ended = probe_call.call(
                *(made.executable, self.cell.id, list(self._pinned.pins), tasks, self.progress),
                remake=lambda: self._remake(stop),
                log=LOGS / log,
                remade=remade,
                shut=[*OURS, environment.ENVIRONMENTS, uv_call.STORE, records.RECORDS],
                most_attempts=probe_call.MOST_ATTEMPTS if alone else 1,
                stop=stop,
            )
        except Unprepared as error:
            self._fail(error.verdict, error.reason, error.detail)
        finally:
            with self._changed:
                self._calls.discard(stop)
                self._take(ended, tasks, alone=alone)
                self._changed.notify_all()

    def reserve_again(self) -> None:
        """Reserve the cell for the tasks that run alone, and drop tasks that another run finished meanwhile."""
        if self.reserved:
            return
        self.reserve(wait=True)
        self.alone = [task for task in self.alone if not known(self.work, task.entry, task.case)]
        if self.alone:
            self._prepared()

    def call_alone(self) -> None:
        """Run the tasks that run alone."""
        tasks, self.alone = self.alone, []
        if tasks and not self.failed:
            self.call(tasks, alone=True)
            self.settle()

    @property
    def reserved(self) -> bool:
        """True if this run has reserved the cell."""
        return self._hold.is_locked

    def deal(self, tasks: Sequence[Task]) -> None:
        """Take tasks off `todo` before a probe runs them."""
        with self._changed:
            names = {task.name for task in tasks}
            self.todo = [task for task in self.todo if task.name not in names]

    def stop(self) -> None:
        """End all probes of this cell."""
        with self._changed:
            for call in self._calls:
                call.request()

    @property
    def failed(self) -> bool:
        """True if the cell's result is final, so that no probe can change it."""
        return self._failed is not None

    def settle(self) -> None:
        """Run the cases with failed imports a second time, in a new environment.

        A failed import counts only if it fails there, too. Call this when no probe of the cell runs.
        """
        doubtful, self._doubtful = self._doubtful, []
        if not doubtful or self._failed:
            return
        many = f"{len(doubtful)} case{'s' * (len(doubtful) != 1)}"
        self.progress.say(f"{many} cannot import a package: running again in a new environment")
        environment.forget(self.cell)
        if self._prepared() is not None:
            self.call(doubtful, alone=True, remade=True)

    def close(self) -> bool:
        """Write the status and release the cell; return False if only tasks that run alone are left."""
        self.settle()
        if self.alone and not self._orders:
            # Nothing was run yet. A status would let another run take the cell.
            return False
        self.finish()
        self.release()
        return True

    def finish(self) -> None:
        """Write the status."""
        status = self._failed or note(self.cell, "ran", "ran", python=self._python(), device=self._device)
        # Without the interpreter or the device nothing was run, so earlier records still count.
        records.settle(self.cell.id, back=status.verdict == "unavailable")
        before = self.status or self.work.before
        most = max(self.asked, before.asked if before else self.asked, key=records.ASKED.index)
        # However this run ended, its records were made on this device.
        device = status.device or (before.device if before and before.platform == status.platform else "")
        self.status = status.model_copy(update={"asked": most, "device": device})
        records.write_status(self.status)

    def release(self) -> None:
        """Release the cell for other runs."""
        self._hold.release()

    def _take(self, ended: Ended, tasks: Sequence[Task], *, alone: bool) -> None:
        """Note the end of an order, and sort out the tasks whose records do not count."""
        self._device = ended.device or self._device
        if ended.reason and not self._failed:
            self.progress.say(f"error: {ended.detail}")
            self._fail("error", ended.reason, ended.detail, python=self._python())
        not_run = set(ended.left)
        if not self._failed:
            self.todo += [task for task in tasks if task.name in not_run]
        made = [task for task in tasks if task.name not in not_run and task.record.exists()]
        for task, record in [(task, read(Record, task.record)) for task in made]:
            if not alone and must_run_again(task.case, record, self._pinned.pins):
                # Until the case has run alone, it has no record.
                task.record.unlink()
                self.alone.append(replace(task, shared=tuple(record.attempts)))
            elif record.fails_to_import and not record.machine.remade:
                self._doubtful.append(task)

    def _remake(self, mine: Stop) -> Path:
        """Make a new environment after the cell's other probes have ended; their cases run again."""
        with self._changed:
            self._made = None
            siblings = self._calls - {mine}
            for sibling in siblings:
                sibling.request()
            self._changed.wait_for(lambda: self._calls <= {mine})
            environment.forget(self.cell)
            self._made = environment.prepare(self.cell, self._pinned)
            self._changed.notify_all()
            return self._made.executable

    def _prepared(self) -> Environment | None:
        try:
            self._made = environment.prepare(self.cell, self._pinned)
        except Unprepared as error:
            self.progress.say(f"{error.verdict}: {error.detail}")
            self._fail(error.verdict, error.reason, error.detail)
            return None
        return self._made

    def _fail(self, verdict: Any, reason: str, detail: str, python: str = "") -> None:
        self._failed = note(self.cell, verdict, reason, detail, python)
        self.todo.clear()
        self.alone.clear()

    def _python(self) -> str:
        if self._made is not None:
            return self._made.python
        return self.work.before.python if self.work.before else ""


@cache
def _can_be_apart() -> bool:
    """Return True if the kernel gives a probe its own namespaces; a child with one thread tests this."""
    command = [
        sys.executable,
        "-c",
        "import sys; from jax_stack_compat.cell import guard; sys.exit(not guard.can_be_apart())",
    ]
    return subprocess.run(command, cwd=PACKAGES, capture_output=True, check=False).returncode == 0


def note(cell: Cell, verdict: Any, reason: str, detail: str = "", python: str = "", device: str = "") -> Status:
    """Return a status of the cell, with the present time and machine."""
    return Status(
        cell=cell.id,
        at=this_moment(),
        verdict=verdict,
        reason=reason,
        detail=detail,
        python=python,
        platform=keys.here(),
        device=device,
    )
