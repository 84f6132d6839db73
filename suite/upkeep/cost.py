"""What a run costs beyond its cases: a run's time against the seconds of its own rows, shared among the cores.

Only a warm run can be measured: its environments are there, and all cases are run again. The rows' seconds are those
that the probes of that very run have timed, so a busy machine slows both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from suite.cell import machine
from suite.errors import Misused
from suite.files import REPORTS, read
from suite.judge.record import Record
from suite.run import catalogue, environment, records
from suite.run.catalogue import Entry
from suite.stack import lock, plan
from suite.stack.plan import Cell
from suite.upkeep import timed


def measure(console: Console) -> None:
    """Time them, and print the ratios. Raises Misused where the environments are not there yet, and Failed."""
    cells = plan.tagged("default")
    if cold := [cell.id for cell in cells if environment.ready(cell, lock.load(cell)) is None]:
        raise Misused(
            f"only a warm run can be measured, and {', '.join(cold)} has no environment: `nox -s compat` first"
        )
    newest = cells[-1]
    report = REPORTS / "latest" / "compat.json"
    alone = f"cell({newest.id})"
    record = records.path_of(newest.id, "stack-smoke", "train-and-solve")
    headlines = catalogue.select([], headlines=True)
    chosen = [(cell, catalogue.planned(headlines, cell, "chosen")) for cell in cells]
    rows = [
        _row("compat", chosen, made=report, console=console),
        _row(alone, [(newest, catalogue.entries())], made=record, console=console),
    ]
    title = f"warm runs of all cases anew, on {machine.cores()} cores"
    console.print(timed.table(title, ("", "cases", "seconds", "rows' seconds ÷ cores", "ratio", "wanted"), rows))


def _row(
    session: str, work: Sequence[tuple[Cell, Sequence[Entry]]], *, made: Path, console: Console
) -> tuple[str, ...]:
    console.print(f"nox -s {session} …", end=" ", soft_wrap=True)
    began = datetime.now(UTC).replace(microsecond=0)
    took = timed.session(session, "--fresh", made=made)
    own = [_seconds(record) for record in _records(work) if record.started_at >= began]
    console.print(f"{took:.1f} s")
    ideal = sum(own) / machine.cores()
    ratio = f"{took / ideal:.2f}" if ideal else "-"
    return f"nox -s {session}", str(len(own)), f"{took:.1f}", f"{ideal:.1f}", ratio, "≤ 1.25"


def _records(work: Iterable[tuple[Cell, Sequence[Entry]]]) -> Iterator[Record]:
    for cell, entries in work:
        for entry in entries:
            for case in catalogue.cases(entry, cell):
                if (path := records.path_of(cell.id, entry.issue.id, case.id)).exists():
                    yield read(Record, path)


def _seconds(record: Record) -> float:
    return sum(attempt.seconds for attempt in (*record.attempts, *record.shared))
