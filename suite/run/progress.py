"""How far a cell is, on a screen, for people: a bar where there is a terminal, a line per issue where there is none."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich import progress
from rich.console import Console
from rich.text import Text


class CellProgress:
    """A cell's progress on `console`; a context manager, for the bar's sake."""

    def __init__(self, cell: str, console: Console) -> None:
        self._cell, self._console = cell, console
        self._issue, self._cases = "", 0
        self._bar = progress.Progress(
            progress.SpinnerColumn(),
            progress.TextColumn("{task.fields[cell]}", markup=False),
            progress.BarColumn(bar_width=20),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", cell=cell, total=None)

    def say(self, message: str) -> None:
        """Print a line that stays."""
        self._flush()
        self._console.print(Text.assemble((self._cell, "bold"), f" {message}"), soft_wrap=True)

    def step(self, done: int, total: int, issue: str, case: str) -> None:
        """A case is done: move the bar, or say so once the issue is."""
        self._bar.update(self._task, completed=done, total=total, description=f"{issue}/{case}")
        if issue != self._issue:
            self._flush()
        self._issue = issue
        self._cases += 1
        if done == total:
            self._flush()
            if self._console.is_terminal:
                self.say(f"{total} case{'s' * (total != 1)} run")

    def _flush(self) -> None:
        cases, self._cases = self._cases, 0
        if cases and not self._console.is_terminal:
            self.say(f"{self._issue}: {cases} case{'s' * (cases != 1)} run")

    def __enter__(self) -> Self:
        """Start the bar."""
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        self._bar.stop()
