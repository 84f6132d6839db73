"""The progress of a run, for people: a live line per cell on a terminal, elsewhere a line per cell and minute."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from types import MappingProxyType

from rich import progress
from rich.console import Console
from rich.table import Column
from rich.text import Text

from jax_stack_compat.cell import machine
from jax_stack_compat.environments.probe_call import Progress
from jax_stack_compat.judge.prediction import Name

# Seconds between the lines of a cell, if the output is not a terminal.
INTERVAL = 60.0
# After so many expected seconds of cases, the pace of a run is known.
_KNOWN_S = 60.0


class RunProgress(progress.Progress):
    """The progress of the running cells on `console`. Messages stay on the screen when it ends.

    `ahead` has the expected seconds of the cases of each cell, so that the time left of the whole run can be told.
    """

    def __init__(self, console: Console, ahead: Mapping[str, Mapping[Name, float]] = MappingProxyType({})) -> None:
        super().__init__(
            progress.SpinnerColumn(),
            progress.TextColumn("{task.fields[cell]}", markup=False),
            progress.BarColumn(bar_width=10),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[left]}", markup=False, style="cyan"),
            progress.TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=1)),
            console=console,
            expand=True,
            transient=True,
            disable=not console.is_terminal,
        )
        self._ahead = {cell: sum(seconds.values()) for cell, seconds in ahead.items()}
        self._whole = sum(self._ahead.values())
        self._cells: list[CellProgress] = []
        self._began = self._told = time.monotonic()
        several = len(self._ahead) > 1
        self._bar = self.add_task("", cell="all cells", left="", total=len(self._ahead)) if several else None

    def cell(self, cell: str) -> CellProgress:
        """Return the line of a cell. The line appears once the cell has a case to run."""
        made = CellProgress(self, cell)
        self._cells.append(made)
        return made

    def begin(self, cell: str) -> None:
        """Count a cell by its own cases from now on."""
        self._ahead.pop(cell, None)

    def tell(self) -> None:
        """Show the time left of all cells; elsewhere than on a terminal, print it every minute."""
        if self._bar is None:
            return
        now = time.monotonic()
        told = f"about {duration(self._seconds_left(now))} left"
        self.update(self._bar, completed=self._finished, left=told)
        if not self.console.is_terminal and now - self._told >= INTERVAL:
            self._told = now
            done = f"{self._finished} of {len(self._cells) + len(self._ahead)} cells done"
            self.console.print(f"all cells: {done}, {told}", soft_wrap=True)

    @property
    def _finished(self) -> int:
        return sum(cell.is_finished for cell in self._cells)

    def _seconds_left(self, now: float) -> float:
        """Return the expected time of the rest, by the pace so far once that is known."""
        left = sum(list(self._ahead.values())) + sum(cell.seconds_left for cell in list(self._cells))
        done = max(self._whole - left, 0.0)
        pace = (now - self._began) / done if done >= _KNOWN_S else 1 / machine.cores()
        return left * pace


class CellProgress(Progress):
    """One cell's line. Several probes may report to it at a time."""

    def __init__(self, run: RunProgress, cell: str) -> None:
        self._run, self._cell = run, cell
        self._left: dict[Name, float] = {}
        self._total = 0
        self._running: dict[Name, None] = {}
        self._lock = threading.Lock()
        self._began = self._said = time.monotonic()
        self._bar: progress.TaskID | None = None
        self.is_finished = False

    @property
    def seconds_left(self) -> float:
        """The expected seconds of the cases left."""
        return sum(list(self._left.values()))

    def expect(self, seconds: Mapping[Name, float]) -> None:
        """Show the line, with the cases to run and their expected seconds."""
        self._run.begin(self._cell)
        self._left, self._total = dict(seconds), len(seconds)
        if self._left and self._bar is None:
            self._bar = self._run.add_task("", cell=self._cell, left="", total=self._total)

    def say(self, message: str) -> None:
        """Print a line that stays."""
        self._run.console.print(Text.assemble((self._cell, "bold"), f" {message}"), soft_wrap=True)

    def start(self, issue: str, case: str) -> None:
        """Show that a case has begun."""
        with self._lock:
            if not (self._running or self._done):
                self._began = self._said = time.monotonic()
            self._running[issue, case] = None
            self._show()

    def step(self, issue: str, case: str) -> None:
        """Count a finished case; a case that runs again counts once."""
        with self._lock:
            self._running.pop((issue, case), None)
            self._left.pop((issue, case), None)
            self._show()
            self._run.tell()
            if self._run.console.is_terminal or time.monotonic() - self._said < INTERVAL or not self._left:
                return
            self._said = time.monotonic()
        self.say(f"{self._done} of {self._total} cases{', ' * bool(self._time_left())}{self._time_left()}")

    def finish(self) -> None:
        """Remove the line, and print how many cases were run."""
        self._run.begin(self._cell)
        self.is_finished = True
        if self._bar is not None:
            self._run.remove_task(self._bar)
            self._bar = None
        if self._done:
            took = time.monotonic() - self._began
            self.say(f"{self._done} case{'s' * (self._done != 1)} run in {duration(took)}")
        self._left, self._total = {}, 0
        self._run.tell()

    @property
    def _done(self) -> int:
        return self._total - len(self._left)

    def _time_left(self) -> str:
        """Return the expected time of the rest, if as many cases as now run side by side."""
        seconds = self.seconds_left / max(len(self._running), 1)
        return f"about {duration(seconds)} left" if seconds else ""

    def _show(self) -> None:
        if self._bar is not None:
            running = ", ".join("/".join(name) for name in self._running)
            self._run.update(self._bar, completed=self._done, left=self._time_left(), description=running)


def duration(seconds: float) -> str:
    """Return a time for people: `42 s`, `3 min 20 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
