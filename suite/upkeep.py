"""What it costs to know it again: an unchanged run, an edit, an addition, against the first run of the same.

Everything is run by nox in a copy of this tree, on copies of its records, with its environments; nothing here changes.
Then how an unchanged run grows with the cells, and how many cell runs a bisection takes over how many releases.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from suite import bisect, catalogue, commands, environment, lock, plan
from suite.bisect import Answer, Ask, Boundary
from suite.files import ROOT, STATE, Misused, read
from suite.plan import Cell
from suite.records import Record

EDITED = "suite/issues/compute_on_aot.py"
GROWTH = (10, 25, 50, 100)
RELEASES = (10, 20, 46, 100)


def measure(console: Console) -> None:
    """Time them, and print the ratios. Raises Misused where the default cells have not run."""
    entries = catalogue.entries()
    ready = [cell for cell in plan.tagged("full") if not cell.unavailable and not commands.unfinished([cell], entries)]
    cells = plan.tagged("default")
    if not set(cells) <= set(ready):
        raise Misused("only what has run can be run again: `nox -s compat` first")
    with tempfile.TemporaryDirectory() as scratch:
        copy = _Copy(Path(scratch))
        whole = copy.run("compat-full")
        first = copy.run("compat", "--fresh")
        again = copy.run("compat")
        with (copy.tree / EDITED).open("a", encoding="utf-8") as module:
            module.write("# edited\n")
        edited = copy.run("compat")
        shutil.rmtree(copy.state / "records" / cells[-1].id)
        added = copy.run("compat")
        table = Table(title=f"the {len(cells)} default cells, two at a time", title_justify="left")
        for name in ("", "seconds", "of the first run"):
            table.add_column(name, justify="left" if not name else "right")
        for what, seconds in {
            "first run, environments made": first,
            "unchanged": again,
            f"one issue of {len(entries)} edited": edited,
            f"one cell of {len(cells)} new": added,
        }.items():
            table.add_row(what, f"{seconds:.1f}", f"{seconds / first:.0%}")
        console.print(table)
    spent = sum(map(_seconds, ready)) / 2
    console.print(
        f"all {len(ready)} cells that have run, unchanged: {whole:.1f} s, {whole / spent:.1%} of the {spent:,.0f} s "
        "that their cases took, two at a time, when they ran"
    )
    _growth(console, [cell.id for cell in ready])
    _bisections(console)


def _seconds(cell: Cell) -> float:
    """What the cases of a cell took when they ran, by the records; its imports not counted."""
    paths = (STATE / "records" / cell.id).glob("*/*.json")
    return sum(attempt.seconds for path in paths for attempt in read(Record, path).attempts)


class _Copy:
    """A copy of the tree, with copies of the records and the environments as they are."""

    def __init__(self, scratch: Path) -> None:
        self.tree, self.state = scratch / "tree", scratch / "state"
        shutil.copytree(ROOT, self.tree, ignore=shutil.ignore_patterns(".*", "__pycache__", "reports"))
        self.state.mkdir()
        (self.state / "envs").symlink_to(environment.ENVIRONMENTS)
        shutil.copytree(STATE / "records", self.state / "records")

    def run(self, session: str, *options: str) -> float:
        """How many seconds a session took here."""
        command = [sys.executable, "-m", "nox", "-j2", "-s", session, "--", *options]
        surroundings = {**os.environ, "SUITE_STATE": str(self.state), "NOX_SCRIPT_MODE": "none"}
        started = time.monotonic()
        subprocess.run(command, cwd=self.tree, env=surroundings, capture_output=True, check=False)
        return time.monotonic() - started


def _growth(console: Console, known: Sequence[str]) -> None:
    """What it costs to find that nothing is left to run, over the cells whose records are there."""
    entries = catalogue.entries()
    table = Table(title="finding that nothing is left to run", title_justify="left")
    for name in ("cells", "seconds", "a cell"):
        table.add_column(name, justify="right")
    for count in [each for each in GROWTH if each <= len(known)]:
        cells = [plan.cell(name) for name in known[:count]]
        started = time.monotonic()
        for cell in cells:
            lock.load(cell)
        commands.unfinished(cells, entries)
        seconds = time.monotonic() - started
        table.add_row(str(count), f"{seconds:.2f}", f"{seconds / count * 1000:.0f} ms")
    console.print(table)


def _bisections(console: Console) -> None:
    """How many releases a bisection runs, at most and at best, wherever the change is."""
    table = Table(title="cell runs of a bisection", title_justify="left")
    for name in ("releases", "fewest", "most", "wanted"):
        table.add_column(name, justify="right")
    for count in RELEASES:
        runs = [_runs(count, first) for first in range(1, count)]
        table.add_row(str(count), str(min(runs)), str(max(runs)), f"≤ {bisect.most_runs(count)}")
    console.print(table)


def _runs(count: int, first: int) -> int:
    """How many of `count` releases are asked where those from `first` on are affected."""
    known: dict[int, Answer] = {}
    while isinstance(asked := bisect.step(known, count), Ask):
        known[asked.at] = Answer(asked.at >= first)
    assert isinstance(asked, Boundary)
    return len(known)
