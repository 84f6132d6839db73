"""Calls of the cell's side of a library: its imports and its task, in an environment that has the library."""

from __future__ import annotations

import json
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from jax_stack_compat.base import guardian
from jax_stack_compat.base.files import OURS
from jax_stack_compat.base.guardian import GuardedProcess
from jax_stack_compat.base.printable import printable
from jax_stack_compat.environments import probe_call

# The limit of one step, an import or the task.
_STEP_SECONDS = 240.0


@dataclass(frozen=True)
class Failure:
    """A module that does not import, or the task: the error, the package that it lacks, and the place that raised."""

    name: str
    error: str
    lacks: str = ""
    place: str = ""


@dataclass
class LibrarySeen:
    """What a library did: how many modules it has, those that do not import, and the failure of the task.

    `ended` is how the process ended if it did not end well, and `during` the step in which it did.
    """

    modules: int = 0
    failures: list[Failure] = field(default_factory=list)
    task: Failure | None = None
    ended: str = ""
    during: str = ""


def observe(environment: Path, module: str, task: str) -> LibrarySeen:
    """Import the public modules of `module` and run `task` with an environment's interpreter; return what was seen.

    Raises OSError.
    """
    executable = environment / "bin" / "python"
    with tempfile.TemporaryDirectory(prefix="library-") as scratch, tempfile.TemporaryFile() as log:
        plain = probe_call.command(executable, "jax_stack_compat.cell.library", module, task)
        command = guardian.command(executable, plain, shut=OURS, opened=[environment, Path(scratch)])
        variables = {**probe_call.surroundings(), "JAX_PLATFORMS": "cpu", "TMPDIR": scratch}
        process = GuardedProcess(command, folder=Path(scratch), variables=variables, log=log)
        try:
            seen = _follow(process)
        finally:
            code = process.close()
    if seen.during:
        seen.ended = process.over or f"exit status {code}"
    return seen


def _follow(process: GuardedProcess) -> LibrarySeen:
    seen, since = LibrarySeen(during="start"), time.monotonic()
    for line in process.lines():
        if line is None:
            if time.monotonic() - since > _STEP_SECONDS:
                process.end(f"not done in {_STEP_SECONDS:g} s")
            continue
        since = time.monotonic()
        # A library may find our channel, and write there.
        with suppress(ValueError, RecursionError):
            _hear(seen, json.loads(line))
    return seen


def _hear(seen: LibrarySeen, told: object) -> None:
    match told:
        case {"failed": str(name), "step": step, "error": str(error), "lacks": str(lacks), "place": str(place)}:
            failure = Failure(*map(printable, (name, error, lacks, place)))
            if step == "task":
                seen.task = failure
            else:
                seen.failures.append(failure)
        case {"step": "end"}:
            seen.during = ""
        case {"step": str(step), "name": str(name)}:
            seen.during = f"{step} {name}"
            seen.modules += step == "import"
