"""What a run from nothing costs, how that grows with the cells, and what it costs to know the same again.

Everything is run by nox in a copy of this tree with a state folder of its own; nothing here changes. Environments are
made too; what uv has in its cache is not fetched again. Then how many cell runs a bisection takes of how many releases.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from suite import commands
from suite.bisect import search
from suite.bisect.search import Answer, Ask
from suite.files import ROOT, STATE
from suite.run import catalogue
from suite.run.spread.shard import Shard
from suite.stack import plan
from suite.upkeep import timed

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
    parts = [round(len(cells) / size) for size in GROWTH if len(cells) >= 1.5 * size]
    STATE.mkdir(parents=True, exist_ok=True)
    # Beside the user's own environments, that uv can link files from its cache here if it can there.
    with tempfile.TemporaryDirectory(dir=STATE, prefix="upkeep-") as scratch:
        tree, state = Path(scratch, "tree"), Path(scratch, "state")
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "__pycache__", "latest"))

        def run(*options: str) -> float:
            made = tree / "reports" / "latest" / "compat.json"
            return timed.session(SESSIONS[tag], "--all-cases", *options, made=made, tree=tree, state=state)

        def first_and_again(part: Shard | None, before: float) -> Size:
            some, options = commands.share(cells, part), ("--shard", str(part)) if part else ()
            size = Size(
                cells=len(some),
                observations=sum(len(catalogue.cases(entry, cell)) for entry in catalogue.entries() for cell in some),
                first=before + run(*options),
                again=run(*options),
            )
            console.print(f"{size.cells} cells: {size.first:.0f} s from nothing, {size.again:.1f} s again")
            return size

        sizes = []
        for part in parts:
            shutil.rmtree(state, ignore_errors=True)
            sizes.append(first_and_again(Shard(1, part), 0))
        # The last of the shards is there already, and need not be run a second time to know what the whole takes.
        sizes.append(first_and_again(None, sizes[-1].first if sizes else 0))
        with (tree / EDITED).open("a", encoding="utf-8") as module:
            module.write("# edited\n")
        edited = run()
        for kept in ("records", "envs"):
            shutil.rmtree(state / kept / cells[-1].id)
        added = run()
    console.print(
        timed.table(
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
    )
    whole = sizes[-1]
    ratios = [
        ("unchanged", whole.again, "≤ 5%"),
        (f"one issue of {len(catalogue.entries())} edited", edited, ""),
        (f"one cell of {len(cells)} new", added, ""),
    ]
    rows = [(what, f"{took:.1f}", f"{took / whole.first:.1%}", wanted) for what, took, wanted in ratios]
    console.print(
        timed.table(
            f"`nox -s {SESSIONS[tag]} -- --all-cases`, {len(cells)} cells",
            ("", "seconds", "of the first run", "wanted"),
            [("first run, environments made", f"{whole.first:.0f}", "", ""), *rows],
        )
    )
    console.print(_bisections())


def _bisections() -> Table:
    """How many releases a bisection runs, at most and at best, wherever the change is."""
    rows = []
    for count in RELEASES:
        runs = [_runs(count, first) for first in range(1, count)]
        rows.append((str(count), str(min(runs)), str(max(runs)), f"≤ {search.most_runs(count)}"))
    return timed.table("cell runs of a bisection", ("releases", "fewest", "most", "wanted"), rows)


def _runs(count: int, first: int) -> int:
    """How many of `count` releases are asked where those from `first` on are affected."""
    known: dict[int, Answer] = {}
    while isinstance(asked := search.step(known, count), Ask):
        known[asked.at] = Answer(asked.at >= first)
    return len(known)
