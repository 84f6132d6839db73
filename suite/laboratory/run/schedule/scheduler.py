"""The runs of several cells on this machine: several probes of one cell, and several cells at a time.

One thread makes environments, the costliest cell's first. A worker for each slot takes the next order as soon as it is
free. Cases that cannot run beside others run alone at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from threading import Condition, Thread

from jax_stack_compat.environments.probe_call import Progress
from jax_stack_compat.environments.task import Task
from jax_stack_compat.judge.prediction import Name
from laboratory.records.records import Asked, Status
from laboratory.records.work import Work, ask
from laboratory.run.cell_run import CellRun
from laboratory.run.schedule import costs, deal, slots
from laboratory.run.schedule.slots import Slots


def run(asked_of: Sequence[Work], progress: Callable[[str], Progress], *, asked: Asked = "all") -> list[Status]:
    """Run the cases left in each cell, and return the cells' statuses.

    `progress` returns the progress of a cell. `asked` says how much the run covers; a status keeps the widest run. A
    fault in a cell ends in its status. Raises BadFile for a record that cannot be read, and OSError for a fault of the
    disk.
    """
    machine = Slots()

    def once(works: Sequence[Work]) -> list[CellRun]:
        runs = [CellRun(work, progress(work.cell.id), asked) for work in works]
        busy = _Shared(list(runs), machine).run()
        _run_alone([run for run in runs if run.alone], machine)
        # This run now holds no cell, so two runs cannot wait for each other.
        for run in busy:
            run.reserve(wait=True)
            _Shared([run], machine, reserved=True).run()
            _run_alone([run] if run.alone else [], machine)
        return runs

    runs = {run.cell.id: run for run in once(asked_of)}
    # If another cell should have run a case for this cell and did not, this cell runs it.
    again = [work for work in asked_of if runs[work.cell.id].work.lent and ask(work).left]
    for work in again:
        (runs[work.cell.id],) = once([work])
    return [run.status for run in runs.values() if run.status is not None]


@dataclass
class _Shared:
    """The part of a run in which probes run side by side."""

    ahead: list[CellRun]
    machine: Slots
    reserved: bool = False
    ready: list[CellRun] = field(default_factory=list)
    held: list[CellRun] = field(default_factory=list)
    running: dict[str, int] = field(default_factory=dict)
    claimed: set[Hashable] = field(default_factory=set)
    busy: list[CellRun] = field(default_factory=list)
    changed: Condition = field(default_factory=Condition)
    errors: list[BaseException] = field(default_factory=list)
    over: bool = False

    def __post_init__(self) -> None:
        # The costliest cells first, since the run waits for them longest.
        self.costs = {run.cell.id: _cost((of.issue.id, case.id) for of, case in run.work.left) for run in self.ahead}
        self.ahead.sort(key=lambda each: -self.costs[each.cell.id])

    def run(self) -> list[CellRun]:
        """Run everything; return the cells that another run has. Raises the threads' errors, KeyboardInterrupt."""
        work = {"environments": self._make}
        work |= {f"slot {number}": self._work for number in range(self.machine.count)}
        threads = [Thread(target=self._guarded, args=(call,), name=name, daemon=True) for name, call in work.items()]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        finally:
            # Reached when everything is done, or after an interrupt.
            self._end()
            for thread in threads:
                thread.join()
            if self.ahead or self.ready or self.errors:
                for run in self.held:
                    run.release()
        if self.errors:
            raise self.errors[0]
        return self.busy

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            self.errors.append(error)
            self._end()

    def _end(self) -> None:
        with self.changed:
            self.over = True
            self.changed.notify_all()
        for run in list(self.held):
            run.stop()

    def _make(self) -> None:
        """Reserve the cells in their turn, and make their environments."""
        while self.ahead and not self.over:
            with self.changed:
                # A cell made later may find more cases cached.
                self.changed.wait_for(lambda: self.over or len(self.ready) < self.machine.count + 2)
            run = self.ahead[0]
            there = self.reserved or run.reserve(wait=False)
            if there:
                with self.changed:
                    self.held.append(run)
                run.prepare(self.claimed)
                run.progress.expect(costs.seconds(task.name for task in (*run.todo, *run.alone)))
            with self.changed:
                self.ahead.pop(0)
                if not there:
                    self.busy.append(run)
                elif run.todo:
                    self.ready.append(run)
                    self.running[run.cell.id] = 0
                self.changed.notify_all()
            if there and not run.todo:
                self._close(run)

    def _work(self) -> None:
        """Run orders until none are left."""
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.over or self._dealable() or not (self.ahead or self.ready))
                if self.over or not (self.ahead or self.ready):
                    return
                run, tasks = self._order()
            held = self.machine.take(max(slots.LEAST_MIB, 2 * max(costs.of(*task.name).mib for task in tasks)))
            if held is None:
                time.sleep(slots.WAIT)
                continue
            with held:
                with self.changed:
                    # Another worker may have taken the tasks meanwhile.
                    if self.over or run not in self._dealable() or not all(task in run.todo for task in tasks):
                        continue
                    run.deal(tasks)
                    self.running[run.cell.id] += 1
                run.call(tasks, alone=False)
                with self.changed:
                    self.running[run.cell.id] -= 1
                    done = not run.todo and not self.running[run.cell.id]
                if done and not self.over:
                    self._close(run)
                with self.changed:
                    if done:
                        self.ready.remove(run)
                    self.changed.notify_all()

    def _dealable(self) -> list[CellRun]:
        """Return the cells with tasks for another probe."""
        return [each for each in self.ready if each.todo and not (each.one_at_a_time and self.running[each.cell.id])]

    def _order(self) -> tuple[CellRun, list[Task]]:
        """Return the next probe's cell, the one with the most work left, and its tasks."""
        run = max(self._dealable(), key=lambda each: _cost(task.name for task in each.todo))
        if run.one_at_a_time or self.machine.count == 1:
            return run, list(run.todo)
        left = _cost(task.name for other in self.ready for task in other.todo)
        left += sum(self.costs[run.cell.id] for run in self.ahead)
        names = deal.cut(costs.seconds(task.name for task in run.todo), deal.share(left, self.machine.count))
        return run, [task for task in run.todo if task.name in names]

    def _close(self, run: CellRun) -> None:
        """End a cell's run, or keep it for the tasks that run alone."""
        if not run.close():
            return
        with self.changed:
            # Compare by identity, since other runs change meanwhile.
            self.held = [other for other in self.held if other is not run]
        if not run.alone:
            run.progress.finish()


def _run_alone(runs: Sequence[CellRun], machine: Slots) -> None:
    """Run the tasks that cannot run beside others: one probe at a time, while no other run has a slot.

    Cells that are still reserved come first. So no run waits for a cell while it has reserved another.
    """
    for run in sorted(runs, key=lambda each: not each.reserved):
        try:
            # Reserve before taking the machine: another run may have the cell, and wait for a slot.
            run.reserve_again()
            with machine.all():
                run.call_alone()
            run.finish()
        finally:
            run.release()
        run.progress.finish()


def _cost(names: Iterable[Name]) -> float:
    return sum(costs.of(*name).seconds for name in names)
