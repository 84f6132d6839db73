"""Move records from an earlier commit's probe to this tree's probe, if the change of the probe changes no observation.

A record is moved if its case's own code is the code of this tree, and its probe is the earlier commit's. Other records
stay, and do not count. Then random records are run again in new environments, and every difference is printed.
"""

from __future__ import annotations

import json
import random
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from pathlib import Path

from jax_stack_compat.base.console import OUT
from jax_stack_compat.base.errors import Exit, Failed
from jax_stack_compat.base.files import LOGS, OURS, ROOT, read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell import machine
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.environments import probe_call
from jax_stack_compat.environments.progress import RunProgress
from jax_stack_compat.judge import verdicts
from jax_stack_compat.judge.record import Key, Record
from jax_stack_compat.stack import lock, plan, uv_call
from jax_stack_compat.stack.plan import Cell
from laboratory.records import archive, keys, records
from laboratory.records.work import Work, orders
from laboratory.run import environment
from laboratory.run.schedule import costs

_OF_A_CELL = 8
# What happens to a record.
HAD, MOVED, LEFT = "already had this tree's key", "moved", "had another case or probe and were left alone"


@dataclass(frozen=True)
class _Moved:
    """A record with its new key."""

    cell: Cell
    entry: Entry
    case: Case
    record: Record


def rekey(commit: str, draw: int) -> Exit:
    """Give the records of the probe of `commit` this tree's keys, pack them, and run `draw` of them again.

    Raises Failed, BadFile, OSError.
    """
    probe = earlier_probe(commit)
    archive.unpack()
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
            now = keys.key(entry, case, pinned.sha256, cell.python, record.key.platform)
            how = standing(record.key, now, probe)
            told[how] += 1
            if how == MOVED:
                raw = json.loads(path.read_text(encoding="utf-8"))
                write(path, json.dumps({**raw, "key": now.model_dump()}, indent=1) + "\n")
            if how != LEFT:
                held.append(_Moved(cell, entry, case, record))
    OUT.print(", ".join(f"{count:,} {what}" for what, count in told.items()) or "no records")
    packed = archive.pack(plan.tagged("full"))
    OUT.print(f"{packed:,} records packed into {archive.FOLDER.name}/")
    return _run_again(_drawn(held, draw, keys.probe_sha256())) if draw else Exit.AS_EXPECTED


def standing(key: Key, now: Key, probe: str) -> str:
    """Return what happens to a record: it is moved to the key `now` if only the probe differs, and was `probe`."""
    if key == now:
        return HAD
    return MOVED if key == now.model_copy(update={"probe": probe}) else LEFT


def earlier_probe(commit: str) -> str:
    """Return the hash of a commit's probe. Raises Failed if git cannot show it."""

    def text(path: Path) -> str:
        command = ["git", "show", f"{commit}:{path.relative_to(ROOT).as_posix()}"]
        shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if shown.returncode:
            raise Failed(f"git cannot show the probe of {commit}: {shown.stderr.strip()}")
        return shown.stdout

    return keys.probe_of(text)


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
                shut = [*OURS, environment.ENVIRONMENTS, uv_call.STORE]
                probe_call.call(
                    *(made.executable, cell.id, list(pinned.pins), tasks, progress),
                    remake=lambda: environment.prepare(cell, pinned).executable,
                    log=LOGS / f"{cell.id}.log",
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
