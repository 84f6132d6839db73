"""A benchmark of runs and answers, each as a ratio to the least time that it needs.

Sessions run in existing environments. A session that runs its cases again is compared with the seconds of these cases,
divided by the cores, since a busy machine slows both. An answer of `check` is compared with a bare interpreter.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from suite.catalogue import catalogue
from suite.catalogue.catalogue import Entry
from suite.cell import machine
from suite.errors import Failed, Misused
from suite.files import REPORTS, ROOT, STATE
from suite.judge.record import Record
from suite.records import records
from suite.run import environment
from suite.stack import lock, plan
from suite.stack.plan import Cell

_TIMES = 5
_CHECK = "import sys; from suite.check.command_line import main; main(sys.argv[1:])"
_LINES = 100_000


def measure(console: Console) -> None:
    """Time runs and answers, and print the ratios. Raises Misused if an environment is missing, and Failed."""
    cells = plan.tagged("default")
    ready = {cell.id: environment.ready(cell, lock.load(cell)) for cell in cells}
    if cold := [name for name, made in ready.items() if made is None]:
        raise Misused(f"{', '.join(cold)}: no environment. Run `nox -s compat` first: only a warm run can be measured.")
    newest = cells[-1]
    made, pinned = ready[newest.id], lock.load(newest).path
    assert made is not None
    table = Table(title=f"On {machine.cores()} cores", title_justify="left")
    for name in ("", "measured", "seconds", "compared with", "ratio", "wanted"):
        table.add_column(name, justify="right" if name else "left")

    def timed(what: str, do: Callable[[], float]) -> float:
        console.print(f"{what} …", end=" ", soft_wrap=True)
        seconds = do()
        console.print(f"{seconds:.2f} s")
        return seconds

    def add(what: str, measured: str, seconds: float, name: str, against: float, wanted: str) -> None:
        ratio = f"{seconds / against:.2f}" if against else "-"
        table.add_row(what, measured, f"{seconds:.2f}", f"{name}, {against:.2f}", ratio, wanted)

    def again(session: str, written: Path, work: Iterable[tuple[Cell, Entry]]) -> float:
        began = datetime.now(UTC).replace(microsecond=0)
        took = timed(f"nox -s {session} -- --fresh", lambda: run(session, "--fresh", made=written))
        of_work = (record for cell, entry in work for record in records.there(cell, [entry]))
        own = [_seconds(record) for record in of_work if record.started_at >= began]
        ideal = sum(own) / machine.cores()
        add(f"nox -s {session}", f"{len(own)} cases", took, "cases ÷ cores", ideal, "≤ 1.25")
        return took

    report = REPORTS / "latest" / "compat.json"
    headlines = catalogue.select([], headlines=True)
    chosen = [(cell, entry) for cell in cells for entry in catalogue.planned(headlines, cell, "chosen")]
    fresh = again("compat", report, chosen)
    record = records.path_of(newest.id, "stack-smoke", "train-and-solve")
    again(f"cell({newest.id})", record, [(newest, entry) for entry in catalogue.entries()])
    unchanged = timed("nox -s compat", lambda: run("compat", made=report))
    add("nox -s compat", "unchanged", unchanged, "the first", fresh, "≤ 0.05")

    bare = timed("python", lambda: min(_python("pass") for _ in range(_TIMES)))
    asked = (_CHECK, "check", "--lock", str(pinned))
    of_lock = timed(f"check --lock {pinned.name}", lambda: min(_python(*asked) for _ in range(_TIMES)))
    add(f"check --lock {pinned.name}", f"least of {_TIMES}", of_lock, "python", bare, "≤ 0.5 s")
    (source,) = made.executable.parent.parent.glob("lib/python*/site-packages/jax")
    lines = sum(len(path.read_bytes().splitlines()) for path in source.rglob("*.py"))
    of_source = timed("… --source jax", lambda: _python(*asked, "--source", str(source))) * _LINES / lines
    add("… --source jax", f"{_LINES:,} of {lines:,} lines", of_source, "python", bare, "≤ 10 s")
    console.print(table)


def run(session: str, *options: str, made: Path, tree: Path = ROOT) -> float:
    """Return the seconds of a nox session. Raises Failed if the session did not write `made`, its last file."""
    before = made.stat().st_mtime_ns if made.exists() else None
    command = ("-m", "nox", "-s", session, "--", *options)
    seconds, ended = _timed(command, tree, {"SUITE_STATE": str(STATE), "NOX_SCRIPT_MODE": "none"})
    if not made.exists() or made.stat().st_mtime_ns == before:
        last = "\n".join((ended.stdout + ended.stderr).splitlines()[-5:])
        raise Failed(f"{' '.join(command)} did not finish, so its time says nothing: {last}")
    return seconds


def _python(code: str, *words: str) -> float:
    seconds, ended = _timed(("-c", code, *words), ROOT, {})
    # Exit code 1 means that the answer lists issues.
    if ended.returncode not in (0, 1):
        raise Failed(f"{' '.join(words)}: {ended.stderr.strip()[-500:]}")
    return seconds


def _timed(
    words: Iterable[str], folder: Path, variables: Mapping[str, str]
) -> tuple[float, subprocess.CompletedProcess[str]]:
    started = time.monotonic()
    ended = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    return time.monotonic() - started, ended


def _seconds(record: Record) -> float:
    return sum(attempt.seconds for attempt in (*record.attempts, *record.shared))
