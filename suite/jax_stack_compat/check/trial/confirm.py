"""Confirmation of predictions: the probe runs their reproducers in the user's own interpreter, on its device.

Nothing is installed there. The probe and the issues are copied, because the tool's own packages must stay invisible.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import OURS, PACKAGES, read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.check.answer import Answer, Effect
from jax_stack_compat.environments import probe_call
from jax_stack_compat.environments.probe_call import Ended
from jax_stack_compat.environments.progress import RunProgress
from jax_stack_compat.environments.task import Task
from jax_stack_compat.judge import verdicts
from jax_stack_compat.judge.record import Record
from jax_stack_compat.judge.verdict_table import UNDECIDED
from jax_stack_compat.judge.wording import named

CELL = "own-stack"
_SIDE = ("jax_stack_compat/__init__.py", "jax_stack_compat/cell", "jax_stack_compat/issues")


@dataclass(frozen=True)
class Confirmation:
    """A prediction and its confirmation: `saw` is a behaviour, or the reason why nothing was seen."""

    effect: Effect
    saw: str
    agrees: bool | None


@dataclass(frozen=True)
class Confirmed:
    """All confirmations, and JAX's name for the device."""

    found: tuple[Confirmation, ...]
    device: str

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
            copy = shutil.copytree if (PACKAGES / name).is_dir() else shutil.copy
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            copy(PACKAGES / name, root / name)
        tasks = {
            effect.name: Task(*known[effect.name], effect.behaviour, Path(folder, *effect.name, "record.json"))
            for effect in answer.effects
            if effect.name in known
        }
        ended = _run(python, list(tasks.values()), root, console) if tasks else Ended()
        seen = {name: read(Record, task.record) for name, task in tasks.items() if task.record.exists()}
    found = tuple(_compared(effect, known.get(effect.name), seen.get(effect.name)) for effect in answer.effects)
    if tasks and all(each.agrees is None for each in found):
        why = ended.detail or next(each.saw for each in found if each.effect.name in tasks)
        raise Failed(f"{python} cannot run any of {len(tasks)} reproducers: {why}")
    return Confirmed(found, ended.device)


def _run(python: Path, tasks: Sequence[Task], root: Path, console: Terminal) -> Ended:
    with RunProgress(console) as run:
        progress = run.cell(CELL)
        progress.expect(dict.fromkeys((task.name for task in tasks), 0.0))
        return probe_call.call(
            python, CELL, (), tasks, progress, remake=_refuse, log=root.parent / "probe.log", root=root, shut=OURS
        )


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
