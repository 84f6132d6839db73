"""What is predicted → what the user's own interpreter does, on its own device: the reproducers, run there by the probe.

Nothing is installed there. The probe and the issues are copied beside, for the tool's own packages must not be seen.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from suite.cell.issue import Case
from suite.check.answer import Answer, Bite
from suite.console import Terminal
from suite.errors import Failed
from suite.files import ROOT, dump, read
from suite.judge import verdicts
from suite.judge.record import Key, Record
from suite.judge.table import UNDECIDED
from suite.judge.wording import named
from suite.run import catalogue, keys, probe_call
from suite.run.catalogue import Entry
from suite.run.probe_call import Ended, Task
from suite.run.progress import RunProgress
from suite.stack.releases import HELD

CELL = "own-stack"
# What jax and the libraries import besides, and an outcome can turn on.
_BESIDE = ("ml-dtypes", "opt-einsum", "typeguard", "wadler-lindig")
_SIDE = ("suite/__init__.py", "suite/cell", "suite/issues")


@dataclass(frozen=True)
class Confirmation:
    """A prediction, and what came of it: `saw` is a behaviour, or why nothing was seen."""

    bite: Bite
    saw: str
    agrees: bool | None

    @property
    def told(self) -> str:
        """For people, of one that was tried."""
        name = "/".join(self.bite.name)
        if self.agrees:
            return f"{name}: predicted, confirmed: {self.saw}"
        return f"{name}: predicted {self.bite.behaviour}, NOT confirmed: {self.saw}; please report it"


@dataclass(frozen=True)
class Confirmed:
    """All of it, the device that jax named, and the records as they can be sent in, if there are any."""

    found: tuple[Confirmation, ...]
    device: str
    records: str

    @property
    def lines(self) -> list[tuple[str, bool | None]]:
        """For people; predictions that could not be tried are told together, by the reason."""
        untried: dict[str, list[str]] = {}
        for each in self.found:
            if each.agrees is None:
                untried.setdefault(each.saw, []).append("/".join(each.bite.name))
        told: list[tuple[str, bool | None]] = [
            (prediction.told, prediction.agrees) for prediction in self.found if prediction.agrees is not None
        ]
        told += [(f"{len(names)} could not be run: {saw}: {named(names)}", None) for saw, names in untried.items()]
        return told


def confirm(python: Path, answer: Answer, console: Terminal) -> Confirmed:
    """Run the cases that are predicted with this interpreter, each in a process of its own with limits.

    Raises Failed where the interpreter can run none of them; OSError.
    """
    # The probe starts elsewhere; a link in it is the environment.
    python = Path(os.path.abspath(python))  # noqa: PTH100
    known = {(entry.issue.id, case.id): (entry, case) for entry in catalogue.entries() for case in entry.issue.cases}
    with TemporaryDirectory(prefix="jax-stack-compat-") as folder:
        root = Path(folder, "side")
        for name in _SIDE:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            copy(ROOT / name, root / name)
        tasks = {
            name: Task(*known[name], _key(answer, *known[name]), behaviour, Path(folder, *name, "record.json"))
            for name, behaviour in ((bite.name, bite.behaviour) for bite in answer.bites)
            if name in known
        }
        ended = _run(python, answer, list(tasks.values()), root, console) if tasks else Ended()
        seen = {name: read(Record, task.record) for name, task in tasks.items() if task.record.exists()}
    found = tuple(_compared(bite, known.get(bite.name), seen.get(bite.name)) for bite in answer.bites)
    tried = [seen[each.bite.name] for each in found if each.agrees is not None]
    if tasks and not tried:
        why = ended.detail or next(each.saw for each in found if each.bite.name in tasks)
        raise Failed(f"{python} runs none of {len(tasks)} reproducers: {why}")
    told = {
        "schema_version": 1,
        "device": ended.device,
        "records": [each.model_dump(mode="json") for each in tried],
    }
    return Confirmed(found, ended.device, dump(told) if tried else "")


def _run(python: Path, answer: Answer, tasks: Sequence[Task], root: Path, console: Terminal) -> Ended:
    with RunProgress(console) as run:
        progress = run.cell(CELL)
        progress.expect(dict.fromkeys((task.name for task in tasks), 0.0))
        return probe_call.call(python, CELL, _told_of(answer), tasks, progress, remake=_refuse, root=root)


def _key(answer: Answer, entry: Entry, case: Case) -> Key:
    """What this observation depends on: these versions, and the code that whoever it is sent to has to have, too."""
    stack = hashlib.sha256(json.dumps(sorted(answer.versions.items())).encode()).hexdigest()
    return keys.key(entry, case, stack, answer.stack.python or "3")


def _told_of(answer: Answer) -> list[str]:
    """The packages whose versions are written down: what a case may meet, and nothing else of the user's."""
    return sorted(name for name in answer.versions if name in HELD or name.startswith("jax") or name in _BESIDE)


def _refuse() -> Path:
    raise Failed("a case has written into the installed packages of this interpreter, and the others were not run")


def _compared(bite: Bite, known: tuple[Entry, Case] | None, record: Record | None) -> Confirmation:
    if known is None or record is None:
        return Confirmation(
            bite, "its reproducer is not here" if known is None else "the probe did not get to it", None
        )
    judged = verdicts.judge(known[1], record.attempts)
    if judged.verdict in UNDECIDED:
        return Confirmation(bite, f"{judged.verdict}, {judged.detail or judged.reason or ''}", None)
    saw = judged.behaviour or judged.verdict
    return Confirmation(bite, f"{saw}: {judged.detail}", saw == bite.behaviour)
