"""Runs cells side by side on this machine: several probes of one cell, and several cells at a time.

One thread makes environments, the dearest cell's first. A worker for each slot takes the next order as soon as it is
free. What cannot run beside others runs at the end, alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Protocol

from suite.cell.issue import Case
from suite.run import cell_run
from suite.run.catalogue import Entry
from suite.run.cell_run import CellRun
from suite.run.probe_call import Progress, Task
from suite.run.records import Asked, Status
from suite.run.schedule import costs, deal, slots
from suite.run.schedule.slots import Slots
from suite.stack.plan import Cell


class RunProgress(Protocol):
    """The progress of a run."""

    def cell(self, cell: str) -> Progress:
        """Return the progress of a cell."""


@dataclass(frozen=True)
class Work:
    """The work on a cell, and about how many seconds it takes of one core."""

    cell: Cell
    entries: Sequence[Entry]
    seconds: float = 0.0


def work(cell: Cell, entries: Sequence[Entry], left: Sequence[tuple[Entry, Case]]) -> Work:
    """Return the work on a cell of whose cases these are left."""
    return Work(cell, entries, sum(costs.of_case(entry, case).seconds for entry, case in left))


def run(
    asked_of: Sequence[Work],
    progress: RunProgress,
    *,
    fresh: bool = False,
    confirm: bool = False,
    asked: Asked = "all",
) -> list[Status]:
    """Run what is not yet known of each cell's entries, with `fresh` all of it, and return how far each cell got.

    With `confirm`, a case is known once more than one attempt has been made of it. `asked` is what the run is for: the
    status keeps the most. Whatever goes wrong in a cell ends in its status. Raises BadFile for a lock or record that
    cannot be read, Unresolvable for a stack without a lock that cannot be resolved, and OSError if the disk refuses.
    """
    lines = {each.cell.id: progress.cell(each.cell.id) for each in asked_of}
    seconds = {each.cell.id: each.seconds for each in asked_of}
    machine = Slots()

    def once(works: Iterable[Work]) -> list[CellRun]:
        runs = [CellRun(each.cell, each.entries, lines[each.cell.id], fresh, confirm, asked) for each in works]
        busy = _Shared(runs, seconds, lines, machine).run()
        _run_alone([each for each in runs if each.alone], lines, machine)
        # This run holds no cell now, so that two runs cannot wait for each other.
        for each in busy:
            each.reserve(wait=True)
            _Shared([each], seconds, lines, machine, reserved=True).run()
            _run_alone([each] if each.alone else [], lines, machine)
        return runs

    runs = {each.cell.id: each for each in once(asked_of)}
    # What a cell left to another one that then did not show it, it runs itself.
    again = [each for each in asked_of if runs[each.cell.id].lent and cell_run.left(each.cell, each.entries)]
    for each in again:
        (runs[each.cell.id],) = once([each])
    return [each.status for each in runs.values() if each.status is not None]


class _Shared:
    """The part of a run in which probes run side by side."""

    def __init__(
        self,
        runs: Sequence[CellRun],
        seconds: Mapping[str, float],
        lines: Mapping[str, Progress],
        machine: Slots,
        *,
        reserved: bool = False,
    ) -> None:
        self._seconds, self._lines, self._machine, self._reserved = seconds, lines, machine, reserved
        # The dearest first: it is what the others would have to wait for.
        self._ahead = sorted(runs, key=lambda each: -seconds[each.cell.id])
        self._ready: list[CellRun] = []
        self._held: list[CellRun] = []
        self._running: dict[str, int] = {}
        self._claimed: set[Hashable] = set()
        self._busy: list[CellRun] = []
        self._changed = Condition()
        self._errors: list[BaseException] = []
        self._over = False

    def run(self) -> list[CellRun]:
        """Run all of it, and return the cells that another run has. Raises what a thread raised; KeyboardInterrupt."""
        work = {"environments": self._make}
        work |= {f"slot {number}": self._work for number in range(self._machine.count)}
        threads = [Thread(target=self._guarded, args=(each,), name=name, daemon=True) for name, each in work.items()]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        finally:
            # All is done, or it is interrupted.
            self._end()
            for thread in threads:
                thread.join()
            if self._ahead or self._ready or self._errors:
                for each in self._held:
                    each.release()
        if self._errors:
            raise self._errors[0]
        return self._busy

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            self._errors.append(error)
            self._end()

    def _end(self) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()
        for each in list(self._held):
            each.stop()

    def _make(self) -> None:
        """Reserve the cells in their turn, and make their environments."""
        while self._ahead and not self._over:
            with self._changed:
                # Later cells may then find more that is known.
                self._changed.wait_for(lambda: self._over or len(self._ready) < self._machine.count + 2)
            run = self._ahead[0]
            there = self._reserved or run.reserve(wait=False)
            if there:
                with self._changed:
                    self._held.append(run)
                run.prepare(self._claimed)
                tasks = (*run.todo, *run.alone)
                self._lines[run.cell.id].expect({each.name: costs.of(each).seconds for each in tasks})
            with self._changed:
                self._ahead.pop(0)
                if not there:
                    self._busy.append(run)
                elif run.todo:
                    self._ready.append(run)
                    self._running[run.cell.id] = 0
                self._changed.notify_all()
            if there and not run.todo:
                self._close(run)

    def _work(self) -> None:
        """Run orders until there are no more."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._over or self._dealable() or not (self._ahead or self._ready))
                if self._over or not (self._ahead or self._ready):
                    return
                run, tasks = self._order()
            held = self._machine.take(max(slots.LEAST_MIB, 2 * max(costs.of(each).mib for each in tasks)))
            if held is None:
                slots.wait()
                continue
            with held:
                with self._changed:
                    # Meanwhile another worker may have been faster.
                    if self._over or run not in self._dealable() or not all(each in run.todo for each in tasks):
                        continue
                    run.deal(tasks)
                    self._running[run.cell.id] += 1
                run.call(tasks, alone=False)
                with self._changed:
                    self._running[run.cell.id] -= 1
                    done = not run.todo and not self._running[run.cell.id]
                if done and not self._over:
                    run.settle()
                    self._close(run)
                with self._changed:
                    if done:
                        self._ready.remove(run)
                    self._changed.notify_all()

    def _dealable(self) -> list[CellRun]:
        """Return the cells that have something for another probe."""
        return [each for each in self._ready if each.todo and not (each.one_at_a_time and self._running[each.cell.id])]

    def _order(self) -> tuple[CellRun, list[Task]]:
        """Return what the next probe is to run: of the cell that has most to do."""
        run = max(self._dealable(), key=lambda each: _cost(each.todo))
        if run.one_at_a_time or self._machine.count == 1:
            return run, list(run.todo)
        left = sum(_cost(each.todo) for each in self._ready) + sum(self._seconds[each.cell.id] for each in self._ahead)
        seconds = {each.name: costs.of(each).seconds for each in run.todo}
        names = deal.cut(seconds, deal.share(left, self._machine.count))
        return run, [each for each in run.todo if each.name in names]

    def _close(self, run: CellRun) -> None:
        """End a cell's run, or leave it for what runs alone."""
        if run.alone and not run.called:
            # Nothing was run yet, so another run would take it for its own.
            return
        run.finish()
        with self._changed:
            # By identity: the others change meanwhile.
            self._held = [each for each in self._held if each is not run]
        run.release()
        if not run.alone:
            self._lines[run.cell.id].finish()


def _run_alone(runs: Sequence[CellRun], lines: Mapping[str, Progress], machine: Slots) -> None:
    """Run what cannot run beside others: one probe at a time, while no other run has a slot.

    The cells that are still reserved come first: so nobody waits for a cell who has another one.
    """
    for run in sorted(runs, key=lambda each: not each.reserved):
        try:
            # Before the machine: another run may have the cell, and wait for a slot.
            run.reserve_again()
            with machine.all():
                run.call_alone()
            run.finish()
        finally:
            run.release()
        lines[run.cell.id].finish()


def _cost(tasks: Sequence[Task]) -> float:
    return sum(costs.of(each).seconds for each in tasks)
