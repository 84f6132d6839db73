"""What a run costs, as ratios in one go: `nox -j2 -s compat` against two ideals, and against the obvious loop.

The ideal imports the stack once a cell and runs the bare bodies, on two cores, and does nothing else. Each case has a
process of its own, so its body starts from cold caches: as such a body the probe has timed it, in the very run that is
measured. The stricter ideal has all cases of a cell share one process and its caches, which gives up the isolation.
The obvious loop has a fresh interpreter for every case, one after the other, which imports the stack.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console
from rich.table import Table

from suite.errors import Misused
from suite.files import ROOT, read
from suite.judge.record import Record
from suite.run import catalogue, environment, probe_call, records
from suite.stack import lock, plan
from suite.stack.plan import Cell

WORKERS = 2
ROUNDS = 2
_STACK = "import contextlib, importlib, sys, jax, equinox, diffrax\n"
_RUN_PARTS = """
def run(case):
    for part in filter(None, (case.reproducer, case.workaround and case.workaround.code, case.control)):
        with contextlib.suppress(Exception):
            part()
"""
_ALL = f"""{_STACK}{_RUN_PARTS}
for module in sys.argv[1:]:
    for case in importlib.import_module(module).ISSUE.cases:
        run(case)
"""
_ONE = f"""{_STACK}{_RUN_PARTS}
run(next(each for each in importlib.import_module(sys.argv[1]).ISSUE.cases if each.id == sys.argv[2]))
"""


def measure(console: Console) -> None:
    """Time them, and print the ratios. Raises Misused where the environments are not there yet."""
    cells = plan.tagged("default")
    if cold := [cell.id for cell in cells if environment.ready(cell, lock.load(cell)) is None]:
        raise Misused(
            f"only a warm run can be measured, and {', '.join(cold)} has no environment: `nox -s compat` first"
        )
    few = (cells[0], cells[-1])
    entries = catalogue.entries()
    modules = [entry.module for entry in entries]
    cases = [(entry.module, case.id) for entry in entries for case in entry.issue.cases]
    work: dict[str, Callable[[], float]] = {
        "compat": lambda: _timed(lambda: _nox(["compat"])),
        "bodies": lambda: sum(map(_seconds_in_bodies, cells)) / WORKERS,
        "imports": lambda: _timed(lambda: _all(cells, [(_STACK,)])),
        "shared": lambda: _timed(lambda: _all(cells, [(_ALL, *modules)])),
        "two": lambda: _timed(lambda: _nox([f"cell({cell.id})" for cell in few])),
        "loop": lambda: _timed(lambda: _all(few, [(_ONE, *case) for case in cases], workers=1)),
    }
    # The machine's noise only ever adds: the least of interleaved rounds is the nearest to the cost.
    rounds = [{name: measured() for name, measured in work.items()} for _ in range(ROUNDS)]
    least = {name: min(each[name] for each in rounds) for name in work}
    compat, shared, two, loop = (least[name] for name in ("compat", "shared", "two", "loop"))
    table = Table(
        title=f"{len(cells)} warm cells, {WORKERS} at a time, the least of {ROUNDS} rounds", title_justify="left"
    )
    for name in ("", "seconds", "ratio", "wanted"):
        table.add_column(name, justify="left" if not name else "right")
    table.add_row("nox -j2 -s compat -- --all-cases --fresh", f"{compat:.1f}", "", "")
    ideal = least["imports"] + least["bodies"]
    table.add_row("ideal: import once, bare bodies", f"{ideal:.1f}", f"{compat / ideal:.2f}", "≤ 1.5, aiming at 1.2")
    table.add_row("without isolation, caches shared", f"{shared:.1f}", f"{compat / shared:.2f}", "")
    table.add_section()
    table.add_row(f"{len(few)} cells by nox -j2", f"{two:.1f}", "", "")
    table.add_row("a fresh interpreter per case, in a loop", f"{loop:.1f}", f"{loop / two:.2f}", "≥ 3")
    console.print(table)


def _seconds_in_bodies(cell: Cell) -> float:
    """What the parts of all cases took in their processes, by the records of the last run."""
    paths = (records.RECORDS / cell.id).glob("*/*.json")
    attempts = [attempt for path in paths for attempt in read(Record, path).attempts]
    return sum(part.seconds for attempt in attempts for part in attempt.parts.values())


def _timed(work: Callable[[], None]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


def _nox(sessions: Sequence[str]) -> None:
    command = [sys.executable, "-m", "nox", f"-j{WORKERS}", "-s", *sessions, "--", "--all-cases", "--fresh"]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _all(cells: Sequence[Cell], programs: Sequence[Sequence[str]], workers: int = WORKERS) -> None:
    """Run every program in every cell's environment, `workers` at a time; a crash ends no more than its own."""

    def one(cell: Cell, words: Sequence[str]) -> None:
        subprocess.run(
            [str(environment.ENVIRONMENTS / cell.id / "bin" / "python"), "-c", *words],
            env=probe_call.surroundings(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda each: one(*each), [(cell, words) for cell in cells for words in programs]))
