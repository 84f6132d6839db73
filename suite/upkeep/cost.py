"""What a run costs, as ratios in one go: `nox -j2 -s compat` against the ideal, and a cell against the obvious loop.

It runs what the main job runs, the first case of each issue. The ideal imports the stack once a cell and runs the bare
bodies, on two cores, and does nothing else. Each case has a process of its own, so its body starts from cold caches: as
such a body the probe has timed it, in the very run that is measured. (In one process for all, a case meets what those
before it have set: on jax 0.4.20 that had taken four times as long when it was given up.) The obvious loop has a fresh
interpreter for every case, one after the other, which imports the stack: in one cell, and so does nox. It would not
survive a case that hangs, and is spared those that crash or hang.

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
# The case that is named, by its module and its id.
_BODIES = f"""{_STACK}
module, wanted = sys.argv[1:]
for case in importlib.import_module(module).ISSUE.cases:
    if case.id == wanted:
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
    cases = [(entry, case) for entry in catalogue.select([], headlines=True) for case in entry.issue.cases]
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
        return seconds(f"the stack imported in {len(cells)} cells", lambda: _run([(cell, [_STACK]) for cell in cells]))

    first = imports()
    compat = seconds("nox -j2 -s compat", lambda: timed.session("compat", "--fresh", made=report))
    # Each part of each case, in its own process.
    bodies, survived = 0.0, []
    for cell in cells:
        for entry, case in cases:
            if (path := records.path_of(cell.id, entry.issue.id, case.id)).exists():
                attempts = read(Record, path).attempts
                parts = [part for attempt in attempts for part in attempt.parts.values()]
                bodies += sum(part.seconds for part in parts) / WORKERS
                if cell is newest and {part.outcome for part in parts} <= {"returned", "raised"}:
                    survived.append((entry.module, case.id))
    ideal = min(first, imports()) + bodies
    alone = f"cell({newest.id})"
    by_nox = seconds(f"nox -s {alone}", lambda: timed.session(alone, "--headlines", "--fresh", made=record))
    one_by_one = [(newest, [_BODIES, *names]) for names in survived]
    loop = seconds(f"{len(one_by_one)} fresh interpreters, one after the other", lambda: _run(one_by_one, workers=1))
    rows = [
        (f"nox -j2 -s compat, {len(cells)} cells", "once", compat, "", ""),
        ("ideal: import once, bare bodies of that run", "least of 2", ideal, f"{compat / ideal:.2f}", "≤ 1.2"),
        (f"nox -s {alone}", "once", by_nox, "", ""),
        ("its cases in a loop, an interpreter each", "once", loop, f"{loop / by_nox:.2f}", ""),
    ]
    console.print(
        timed.table(
            f"warm cells, the first case of all {len(cases)} issues run anew, {WORKERS} cells at a time",
            ("", "measured", "seconds", "ratio", "wanted"),
            [(what, how, f"{took:.1f}", *more) for what, how, took, *more in rows],
        )
    )


def _run(work: Sequence[tuple[Cell, Sequence[str]]], workers: int = WORKERS) -> None:
    """Run programs in cells' environments, `workers` at a time; a crash ends no more than its own."""

    def one(each: tuple[Cell, Sequence[str]]) -> None:
        cell, words = each
        python = str(environment.ENVIRONMENTS / cell.id / "bin" / "python")
        subprocess.run([python, "-c", *words], env=probe_call.surroundings(), capture_output=True, check=False)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, work))
