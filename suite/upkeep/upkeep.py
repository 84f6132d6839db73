"""What a run from nothing costs, how that grows with the cells, and what it costs to know the same again.

Everything is run by nox in a copy of this tree with a state folder of its own; nothing here changes. Environments are
made too; what uv has in its cache is not fetched again. Then how many cell runs a bisection takes of how many releases.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from suite import commands
from suite.bisect import search
from suite.bisect.search import Answer, Ask
from suite.errors import Failed
from suite.files import ROOT, STATE
from suite.run import catalogue
from suite.run.shard import Shard
from suite.stack import plan
from suite.stack.plan import Cell

EDITED = "suite/issues/compute_on_aot.py"
# Shards of the run, that cost alike a cell: about so many cells.
GROWTH = (10, 30, 100)
RELEASES = (10, 20, 46, 100)
SESSIONS = {"default": "compat", "line": "compat-line", "full": "compat-full"}


@dataclass(frozen=True)
class Size:
    """What a run of so many cells took, in seconds: from nothing, and again."""

    cells: int
    observations: int
    first: float
    again: float


def measure(tag: str, console: Console) -> None:
    """Time runs of the cells with this tag, and print the ratios. Raises Failed where one did not run to its end."""
    cells = plan.tagged(tag)
    session = SESSIONS[tag]
    parts = [round(len(cells) / size) for size in GROWTH if len(cells) >= 1.5 * size]
    STATE.mkdir(parents=True, exist_ok=True)
    # Beside the user's own environments, that uv can link files from its cache here if it can there.
    with tempfile.TemporaryDirectory(dir=STATE, prefix="upkeep-") as scratch:
        copy = _Copy(Path(scratch))
        sizes = []
        for part in parts:
            copy.forget()
            sizes.append(_first_and_again(copy, cells, session, Shard(1, part), console))
        # The last of the shards is there already, and need not be run a second time to know what the whole takes.
        whole = _first_and_again(copy, cells, session, None, console, before=sizes[-1].first if sizes else 0)
        sizes.append(whole)
        with (copy.tree / EDITED).open("a", encoding="utf-8") as module:
            module.write("# edited\n")
        edited = copy.run(session)
        shutil.rmtree(copy.state / "records" / cells[-1].id)
        shutil.rmtree(copy.state / "envs" / cells[-1].id)
        added = copy.run(session)
    console.print(_growth(sizes))
    console.print(
        _table(
            f"`nox -j2 -s {session} -- --all-cases`, {len(cells)} cells",
            ("", "seconds", "of the first run", "wanted"),
            [
                ("first run, environments made", f"{whole.first:.0f}", "", ""),
                ("unchanged", f"{whole.again:.1f}", f"{whole.again / whole.first:.1%}", "≤ 5%"),
                *(
                    (what, f"{seconds:.1f}", f"{seconds / whole.first:.1%}", "")
                    for what, seconds in {
                        f"one issue of {len(catalogue.entries())} edited": edited,
                        f"one cell of {len(cells)} new": added,
                    }.items()
                ),
            ],
        )
    )
    console.print(_bisections())


def _first_and_again(
    copy: _Copy, cells: Sequence[Cell], session: str, part: Shard | None, console: Console, before: float = 0
) -> Size:
    some = commands.share(cells, part)
    options = ("--shard", str(part)) if part else ()
    size = Size(
        cells=len(some),
        observations=sum(len(catalogue.cases(entry, cell)) for entry in catalogue.entries() for cell in some),
        first=before + copy.run(session, *options),
        again=copy.run(session, *options),
    )
    console.print(f"{size.cells} cells: {size.first:.0f} s from nothing, {size.again:.1f} s again")
    return size


class _Copy:
    """A copy of the tree with a state of its own: environments and records."""

    def __init__(self, scratch: Path) -> None:
        self.tree, self.state = scratch / "tree", scratch / "state"
        hidden = shutil.ignore_patterns(".*", "__pycache__", "latest")
        shutil.copytree(ROOT, self.tree, ignore=hidden)

    def forget(self) -> None:
        """Go back to nothing."""
        shutil.rmtree(self.state, ignore_errors=True)

    def run(self, session: str, *options: str) -> float:
        """How many seconds a session took here. Raises Failed where it did not come to its report."""
        command = [sys.executable, "-m", "nox", "-j2", "-s", session, "--", "--all-cases", *options]
        surroundings = {**os.environ, "SUITE_STATE": str(self.state), "NOX_SCRIPT_MODE": "none"}
        report = self.tree / "reports" / "latest" / "compat.json"
        report.unlink(missing_ok=True)
        started = time.monotonic()
        ended = subprocess.run(command, cwd=self.tree, env=surroundings, capture_output=True, check=False, text=True)
        seconds = time.monotonic() - started
        if not report.exists():
            last = "\n".join((ended.stdout + ended.stderr).splitlines()[-5:])
            raise Failed(f"{' '.join(command[1:])} did not come to its report, so its time says nothing: {last}")
        return seconds


def _growth(sizes: Sequence[Size]) -> Table:
    return _table(
        "how it grows with the cells",
        ("cells", "observations", "first run, s", "s a cell", "ms an observation", "unchanged, s"),
        [
            (
                *(str(size.cells), f"{size.observations:,}", f"{size.first:.0f}", f"{size.first / size.cells:.1f}"),
                *(f"{size.first / size.observations * 1000:.0f}", f"{size.again:.1f}"),
            )
            for size in sizes
        ],
    )


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left")
    for name in names:
        table.add_column(name, justify="right" if name else "left")
    for row in rows:
        table.add_row(*row)
    return table


def _bisections() -> Table:
    """How many releases a bisection runs, at most and at best, wherever the change is."""
    rows = []
    for count in RELEASES:
        runs = [_runs(count, first) for first in range(1, count)]
        rows.append((str(count), str(min(runs)), str(max(runs)), f"≤ {search.most_runs(count)}"))
    return _table("cell runs of a bisection", ("releases", "fewest", "most", "wanted"), rows)


def _runs(count: int, first: int) -> int:
    """How many of `count` releases are asked where those from `first` on are affected."""
    known: dict[int, Answer] = {}
    while isinstance(asked := search.step(known, count), Ask):
        known[asked.at] = Answer(asked.at >= first)
    assert asked.what == "boundary"
    return len(known)
