"""What a run costs, as ratios in one go: `nox -j2 -s compat` against the ideal, and against the obvious loop.

The ideal imports the stack once a cell and runs the bare bodies one after the other, two cells at a time: no isolation,
no record, no report. The obvious loop starts a fresh interpreter for every case, two at a time, and imports the stack
in each: the same import and the same bodies as the ideal.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console
from rich.table import Table

from suite import catalogue, environment, lock, plan, run
from suite.files import ROOT, Misused
from suite.plan import Cell

WORKERS = 2
_IDEAL = """
import contextlib, importlib, sys
for name in ("jax", "equinox", "diffrax"):
    importlib.import_module(name)
for module in sys.argv[1:]:
    for case in importlib.import_module(module).ISSUE.cases:
        for part in filter(None, (case.reproducer, case.workaround, case.control)):
            with contextlib.suppress(Exception):
                part()
"""
_LOOP = """
import contextlib, importlib, sys
for name in ("jax", "equinox", "diffrax"):
    importlib.import_module(name)
case = next(each for each in importlib.import_module(sys.argv[1]).ISSUE.cases if each.id == sys.argv[2])
for part in filter(None, (case.reproducer, case.workaround, case.control)):
    with contextlib.suppress(Exception):
        part()
"""


def measure(console: Console) -> None:
    """Time the three, and print the ratios. Raises Misused where the environments are not there yet."""
    cells = plan.tagged("default")
    if cold := [cell.id for cell in cells if environment.ready(cell, lock.load(cell)) is None]:
        raise Misused(
            f"only a warm run can be measured, and {', '.join(cold)} has no environment: `nox -s compat` first"
        )
    few = (cells[0], cells[-1])
    entries = catalogue.entries()
    ideal = _timed(lambda: _ideal(cells, [entry.module for entry in entries]))
    compat = _timed(lambda: _nox(["compat"]))
    two = _timed(lambda: _nox([f"cell({cell.id})" for cell in few]))
    loop = _timed(lambda: _loop(few, [(entry.module, case.id) for entry in entries for case in entry.issue.cases]))
    table = Table(title=f"{len(cells)} warm cells, {WORKERS} at a time", title_justify="left")
    for name in ("", "seconds", "ratio", "wanted"):
        table.add_column(name, justify="left" if not name else "right")
    table.add_row("ideal: import once, bare bodies", f"{ideal:.1f}", "1.00", "")
    table.add_row("nox -j2 -s compat -- --fresh", f"{compat:.1f}", f"{compat / ideal:.2f}", "≤ 1.5, aiming at 1.2")
    table.add_row(f"{len(few)} cells by nox -j2", f"{two:.1f}", "1.00", "")
    table.add_row("a fresh interpreter per case", f"{loop:.1f}", f"{loop / two:.2f}", "≥ 3")
    console.print(table)


def _timed(work: Callable[[], None]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


def _nox(sessions: Sequence[str]) -> None:
    command = [sys.executable, "-m", "nox", f"-j{WORKERS}", "-s", *sessions, "--", "--fresh"]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _ideal(cells: Sequence[Cell], modules: Sequence[str]) -> None:
    _all(cells, lambda cell: [(_IDEAL, *modules)])


def _loop(cells: Sequence[Cell], cases: Sequence[tuple[str, str]]) -> None:
    _all(cells, lambda cell: [(_LOOP, *case) for case in cases])


def _all(cells: Sequence[Cell], programs: Callable[[Cell], Sequence[Sequence[str]]]) -> None:
    """Run every program of every cell in its environment, WORKERS at a time; a crash ends no more than its own."""

    def one(cell: Cell, words: Sequence[str]) -> None:
        command = [str(environment.ENVIRONMENTS / cell.id / "bin" / "python"), "-c", *words]
        subprocess.run(
            command, env=run.surroundings(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda each: one(*each), [(cell, words) for cell in cells for words in programs(cell)]))
