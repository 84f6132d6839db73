"""Confirmation of predictions: the probe runs their reproducers in the user's own interpreter, on its device.

Nothing is installed there. The probe and the issues are copied, because the tool's own packages must stay invisible.
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

from suite.catalogue import catalogue
from suite.catalogue.catalogue import Entry
from suite.cell.issue import Case
from suite.check.answer import Answer, Effect
from suite.console import Terminal
from suite.errors import Failed
from suite.files import ROOT, dump, read
from suite.judge import verdicts
from suite.judge.record import Key, Record
from suite.judge.table import UNDECIDED
from suite.judge.wording import named
from suite.records import keys
from suite.records.work import Task
from suite.run import probe_call
from suite.run.probe_call import Ended
from suite.run.progress import RunProgress
from suite.stack.packages import HELD

CELL = "own-stack"
# Other packages that jax and the libraries import, and that can change a result.
_BESIDE = ("ml-dtypes", "opt-einsum", "typeguard", "wadler-lindig")
_SIDE = ("suite/__init__.py", "suite/cell", "suite/issues")


@dataclass(frozen=True)
class Confirmation:
    """A prediction and its confirmation: `saw` is a behaviour, or the reason why nothing was seen."""

    effect: Effect
    saw: str
    agrees: bool | None


@dataclass(frozen=True)
class Confirmed:
    """All confirmations, JAX's name for the device, and the records for a report, if any."""

    found: tuple[Confirmation, ...]
    device: str
    records: str

    @property
    def lines(self) -> list[tuple[str, bool | None]]:
        """The lines for people; predictions that could not be tried are grouped by reason."""
        untried: dict[str, list[str]] = {}
        told: list[tuple[str, bool | None]] = []
        for each in self.found:
            name = "/".join(each.effect.name)
            if each.agrees is None:
                untried.setdefault(each.saw, []).append(name)
            elif each.agrees:
                told.append((f"{name}: confirmed as predicted: {each.saw}", True))
            else:
                line = f"{name}: predicted {each.effect.behaviour}, but observed: {each.saw}; please report it"
                told.append((line, False))
        told += [(f"{len(names)} could not be run: {saw}: {named(names)}", None) for saw, names in untried.items()]
        return told


def confirm(python: Path, answer: Answer, console: Terminal) -> Confirmed:
    """Run the predicted cases with this interpreter, each in a limited process of its own.

    Raises Failed if the interpreter cannot run any of them; OSError.
    """
    # The probe starts in another folder; resolving a link would leave the environment.
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
            for name, behaviour in ((effect.name, effect.behaviour) for effect in answer.effects)
            if name in known
        }
        ended = _run(python, answer, list(tasks.values()), root, console) if tasks else Ended()
        seen = {name: read(Record, task.record) for name, task in tasks.items() if task.record.exists()}
    found = tuple(_compared(effect, known.get(effect.name), seen.get(effect.name)) for effect in answer.effects)
    tried = [seen[each.effect.name] for each in found if each.agrees is not None]
    if tasks and not tried:
        why = ended.detail or next(each.saw for each in found if each.effect.name in tasks)
        raise Failed(f"{python} cannot run any of {len(tasks)} reproducers: {why}")
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
        # The versions of packages that cannot matter to a case are not recorded.
        names = sorted(name for name in answer.versions if name in HELD or name.startswith("jax") or name in _BESIDE)
        return probe_call.call(python, CELL, names, tasks, progress, remake=_refuse, root=root)


def _key(answer: Answer, entry: Entry, case: Case) -> Key:
    """Return the key of an observation: these versions and the code of the suite."""
    stack = hashlib.sha256(json.dumps(sorted(answer.versions.items())).encode()).hexdigest()
    return keys.key(entry, case, stack, answer.stack.python or "3")


def _refuse() -> Path:
    raise Failed("a case wrote into the installed packages of this interpreter, so the others were not run")


def _compared(effect: Effect, known: tuple[Entry, Case] | None, record: Record | None) -> Confirmation:
    if known is None or record is None:
        return Confirmation(
            effect, "its reproducer is missing" if known is None else "the probe did not reach it", None
        )
    judged = verdicts.judge(known[1], record.attempts)
    if judged.verdict in UNDECIDED:
        return Confirmation(effect, f"{judged.verdict}, {judged.detail or judged.reason or ''}", None)
    saw = judged.behaviour or judged.verdict
    return Confirmation(effect, f"{saw}: {judged.detail}", saw == effect.behaviour)
