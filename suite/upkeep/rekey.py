"""Move records from an earlier commit's keys to this tree's keys, if both trees run the same code.

Use this after a change of the probe or of the keys that changes no observation. A record is moved if its key is the one
that the earlier commit computes; other records stay, and do not count. Then random records are run again in new
environments, and every difference is printed.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from pathlib import Path

from suite import commands
from suite.catalogue import catalogue
from suite.catalogue.catalogue import Entry
from suite.cell import machine
from suite.cell.atomic import write
from suite.cell.issue import Case
from suite.console import OUT
from suite.errors import Exit, Failed
from suite.files import ROOT, read
from suite.judge import verdicts
from suite.judge.record import Record
from suite.records import archive, records
from suite.records.work import Work, orders
from suite.report import stored
from suite.run import environment, probe_call
from suite.run.progress import RunProgress
from suite.run.schedule import costs
from suite.stack import lock, plan, uv_call
from suite.stack.plan import Cell

_OF_A_CELL = 8
# Prints the hash of the probe and the hash of each case, in the tree of a commit.
_PRINT = """
import json
from suite.catalogue import catalogue
from suite.records import keys
cases = {
    f"{entry.issue.id}/{case.id}": keys.case_sha256(entry, case)
    for entry in catalogue.entries()
    for case in entry.issue.cases
}
print(json.dumps({"probe": keys.probe_sha256(), "cases": cases}))
"""


@dataclass(frozen=True)
class _Hashes:
    """The hashes of a tree: of its probe, and of each case by `issue/case`."""

    probe: str
    cases: Mapping[str, str]

    def of(self, name: str) -> dict[str, str]:
        """Return the parts of a key that depend on the tree."""
        return {"issue": self.cases.get(name, ""), "probe": self.probe}


@dataclass(frozen=True)
class _Moved:
    """A record with its new key."""

    cell: Cell
    entry: Entry
    case: Case
    record: Record


def rekey(commit: str, draw: int) -> Exit:
    """Give the records that count under `commit` the keys of this tree, pack them, and run `draw` of them again.

    Raises Failed, BadFile, OSError.
    """
    archive.unpack()
    with _tree(commit) as tree:
        before = _hashes(tree)
    now = _hashes(ROOT)
    cells = [cell for cell in plan.cells() if cell.unavailable is None]
    cases = [(entry, case) for entry in catalogue.entries() for case in entry.issue.cases]
    told: Counter[str] = Counter()
    held: list[_Moved] = []
    for cell in cells:
        pinned = lock.load(cell)
        for entry, case in cases:
            path = records.path_of(cell.id, entry.issue.id, case.id)
            if not path.exists():
                continue
            record = read(Record, path)
            name = f"{entry.issue.id}/{case.id}"
            wanted = [
                record.key.model_copy(update={"lock": pinned.sha256, "python": cell.python, **keys.of(name)})
                for keys in (before, now)
            ]
            if record.key == wanted[1]:
                told["already had this tree's key"] += 1
            elif record.key != wanted[0]:
                told["had another key and were left alone"] += 1
                continue
            else:
                told["moved"] += 1
                raw = json.loads(path.read_text(encoding="utf-8"))
                write(path, json.dumps({**raw, "key": wanted[1].model_dump()}, indent=1) + "\n")
            held.append(_Moved(cell, entry, case, record))
    OUT.print(", ".join(f"{count:,} {what}" for what, count in told.items()) or "no records")
    packed = archive.pack(plan.tagged("full"))
    OUT.print(f"{packed:,} records packed into {archive.FOLDER.name}/")
    report = stored.read_report(commands.PUBLISHED).model_copy(update={"probe_sha256": now.probe})
    write(commands.PUBLISHED / stored.COMPAT, stored.texts(report)[stored.COMPAT])
    commands.rebuild(commands.PUBLISHED)
    return _run_again(_drawn(held, draw, now.probe)) if draw else Exit.AS_EXPECTED


@contextmanager
def _tree(commit: str) -> Iterator[Path]:
    """Check a commit out into a temporary folder. Raises Failed if there is no such commit."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        command = ["git", "worktree", "add", "--quiet", "--detach", str(tree), commit]
        made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if made.returncode:
            raise Failed(f"git cannot check {commit} out: {made.stderr.strip()}")
        try:
            yield tree
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=ROOT, check=True)


def _hashes(tree: Path) -> _Hashes:
    ran = subprocess.run([sys.executable, "-c", _PRINT], cwd=tree, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise Failed(f"the keys of {tree} cannot be computed: {ran.stderr.strip()[-500:]}")
    return _Hashes(**json.loads(ran.stdout))


def _drawn(held: Sequence[_Moved], count: int, seed: str) -> list[list[_Moved]]:
    """Draw records by cell, about eight per cell, until there are `count`; the same records for the same tree."""
    chance = random.Random(seed)
    of_cells = [list(of) for _, of in groupby(held, lambda moved: moved.cell.id)]
    drawn = [chance.sample(of, min(_OF_A_CELL, len(of))) for of in chance.sample(of_cells, len(of_cells))]
    before = accumulate(map(len, drawn), initial=0)
    return [of for of, number in zip(drawn, before, strict=False) if number < count]


def _run_again(drawn: Sequence[Sequence[_Moved]]) -> Exit:
    """Run these cases in new environments, and print the differences from their records."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(machine.cores()) as pool, RunProgress(OUT) as run:

        def again(of: Sequence[_Moved]) -> list[str]:
            cell, pinned = of[0].cell, lock.load(of[0].cell)
            cases = [(moved.entry, moved.case) for moved in of]
            ordered = orders(Work(cell, (), pinned, cases, left=cases))
            tasks = [replace(task, record=Path(folder, cell.id, *task.name, "record.json")) for task in ordered]
            progress = run.cell(cell.id)
            progress.expect(costs.seconds(task.name for task in tasks))
            with environment.reserve(cell.id):
                environment.forget(cell)
                made = environment.prepare(cell, pinned)
                shut = [environment.ENVIRONMENTS, uv_call.STORE]
                probe_call.call(
                    *(made.executable, cell.id, list(pinned.pins), tasks, progress),
                    remake=lambda: environment.prepare(cell, pinned).executable,
                    remade=any(moved.record.machine.remade for moved in of),
                    shut=shut,
                )
            progress.finish()
            return [told for task, moved in zip(tasks, of, strict=True) if (told := _difference(moved, task.record))]

        different = [told for of in pool.map(again, drawn) for told in of]
    for told in different:
        OUT.print(told, soft_wrap=True)
    count = sum(map(len, drawn))
    agreed = f"{count - len(different)} agree, {len(different)} differ"
    OUT.print(f"{count} records of {len(drawn)} cells run again in new environments: {agreed}")
    return Exit.UNEXPECTED if different else Exit.AS_EXPECTED


def _difference(moved: _Moved, path: Path) -> str:
    """Return how a case's result differs from its record, or "" if it is the same."""
    name = f"{moved.cell.id} {moved.entry.issue.id}/{moved.case.id}"
    if not path.exists():
        return f"{name}: not run"
    before, now = (verdicts.judge(moved.case, record.attempts) for record in (moved.record, read(Record, path)))
    shown = [(judged.verdict, judged.behaviour, judged.workaround, judged.detail) for judged in (before, now)]
    return "" if shown[0] == shown[1] else f"{name}: {shown[0]} before, {shown[1]} now"
