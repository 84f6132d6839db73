"""What a run costs, as ratios in one go: `nox -j2 -s compat` against two ideals, and a cell against the obvious loop.

The ideal imports the stack once a cell and runs the bare bodies, on two cores, and does nothing else. Each case has a
process of its own, so its body starts from cold caches: as such a body the probe has timed it, in the very run that is
measured. The stricter ideal has all cases of a cell share one process and its caches, which gives up the isolation.
The obvious loop has a fresh interpreter for every case, one after the other, which imports the stack: in one cell, and
so does nox.

Noise only adds. What is short, and that others are divided by, is measured twice for the least of both.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console

from suite.errors import Misused
from suite.files import REPORTS, read
from suite.judge.record import Record
from suite.run import catalogue, environment, probe_call, records
from suite.stack import lock, plan
from suite.stack.plan import Cell
from suite.upkeep import timed

WORKERS = 2
_STACK = "import contextlib, importlib, sys, jax, equinox, diffrax\n"
# Of the modules that are named, all cases, or the one that is named after them.
_BODIES = f"""{_STACK}
*modules, only = sys.argv[1:]
for module in modules:
    for case in importlib.import_module(module).ISSUE.cases:
        if only in ("", case.id):
            for part in filter(None, (case.reproducer, case.workaround and case.workaround.code, case.control)):
                with contextlib.suppress(Exception):
                    part()
"""


def measure(console: Console) -> None:
    """Time them, and print the ratios. Raises Misused where the environments are not there yet, and Failed."""
    cells = plan.tagged("default")
    if cold := [cell.id for cell in cells if environment.ready(cell, lock.load(cell)) is None]:
        raise Misused(
            f"only a warm run can be measured, and {', '.join(cold)} has no environment: `nox -s compat` first"
        )
    newest = cells[-1]
    cases = [(entry, case) for entry in catalogue.entries() for case in entry.issue.cases]
    modules = [entry.module for entry in catalogue.entries()]
    report = REPORTS / "latest" / "compat.json"
    record = records.path_of(newest.id, cases[0][0].issue.id, cases[0][1].id)

    def seconds(what: str, work: Callable[[], object]) -> float:
        console.print(f"{what} …", end=" ", soft_wrap=True)
        started = time.monotonic()
        work()
        took = time.monotonic() - started
        console.print(f"{took:.1f} s")
        return took

    def imports() -> float:
        return seconds(f"the stack imported in {len(cells)} cells", lambda: _run(cells, [(_STACK,)], WORKERS))

    first = imports()
    compat = seconds("nox -j2 -s compat", lambda: timed.session("compat", "--fresh", made=report))
    # Each part of each case, in its own process.
    paths = [records.path_of(cell.id, entry.issue.id, case.id) for cell in cells for entry, case in cases]
    attempts = [attempt for path in paths if path.exists() for attempt in read(Record, path).attempts]
    bodies = sum(part.seconds for attempt in attempts for part in attempt.parts.values()) / WORKERS
    ideal = min(first, imports()) + bodies
    shared = seconds("all cases in one process a cell", lambda: _run(cells, [(_BODIES, *modules, "")], WORKERS))
    by_nox = seconds(f"nox -s cell({newest.id})", lambda: timed.session(f"cell({newest.id})", "--fresh", made=record))
    loop = seconds(
        f"{len(cases)} fresh interpreters, one after the other",
        lambda: _run([newest], [(_BODIES, entry.module, case.id) for entry, case in cases], workers=1),
    )
    rows = [
        (f"nox -j2 -s compat, {len(cells)} cells", "once", compat, "", ""),
        ("ideal: import once, bare bodies of that run", "least of 2", ideal, f"{compat / ideal:.2f}", "≤ 1.2"),
        ("without isolation, caches shared", "once", shared, f"{compat / shared:.2f}", ""),
        (f"nox -s cell({newest.id})", "once", by_nox, "", ""),
        ("its cases in a loop, an interpreter each", "once", loop, f"{loop / by_nox:.2f}", "≥ 3"),
    ]
    console.print(
        timed.table(
            f"warm cells, all {len(cases)} cases of each run anew, {WORKERS} cells at a time",
            ("", "measured", "seconds", "ratio", "wanted"),
            [(what, how, f"{took:.1f}", *more) for what, how, took, *more in rows],
        )
    )


def _run(cells: Sequence[Cell], programs: Sequence[Sequence[str]], workers: int) -> None:
    """Run every program in every cell's environment, `workers` at a time; a crash ends no more than its own."""

    def one(work: tuple[Cell, Sequence[str]]) -> None:
        cell, words = work
        python = str(environment.ENVIRONMENTS / cell.id / "bin" / "python")
        subprocess.run([python, "-c", *words], env=probe_call.surroundings(), capture_output=True, check=False)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, [(cell, words) for cell in cells for words in programs]))
