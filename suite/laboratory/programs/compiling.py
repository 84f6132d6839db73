"""Counts of the programs in an environment, by `benchmarks._program`, which restarts if a program ends the compiler."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals
from typing import Any

from jax_stack_compat.base.files import LOGS, ROOT, STATE
from jax_stack_compat.environments import probe_call
from laboratory.programs.model import Program, Workload

# Signals from the machine or a user, which say nothing about the release.
_FROM_OUTSIDE = (-Signals.SIGTERM, -Signals.SIGKILL, -Signals.SIGINT, -Signals.SIGHUP)
TEXTS = STATE / "programs" / "texts"
# Seconds without output after which a compiler is killed.
SECONDS = 1200.0


class CompilerEnded(Exception):
    """The compiler was killed or did not answer. The machine is at fault, so no release gets a record."""


@dataclass
class Compiled:
    """The compiled programs and their workloads, or the reason why there are none."""

    workloads: dict[str, Workload] = field(default_factory=dict)
    programs: list[Program] = field(default_factory=list)
    reason: str = ""


def compile(
    executable: Path,
    cell: str,
    target: str,
    wanted: Sequence[str],
    note: Callable[[int, str], None],
) -> Compiled:
    """Compile these workloads for `target` with this interpreter; `note` gets progress. Raises CompilerEnded."""
    found = Compiled()
    while left := _left(wanted, found):
        command = probe_call.command(executable, "benchmarks._program", target, str(TEXTS / cell), *left, root=ROOT)
        doing, how = _once(command, cell, found, lambda doing: note(len(found.programs), doing))
        if found.reason:
            break
        if doing:
            found.programs.append(Program(workload=doing, reason=f"the program ended the compiler: {how}"))
        elif _left(wanted, found) == left:
            log = (LOGS / f"program-{cell}.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
            found.reason = f"it ended before the first program ({how}): {' / '.join(log[-1:]) or 'without a message'}"
            break
    return found


def _left(wanted: Sequence[str], found: Compiled) -> list[str]:
    done = {each.workload for each in found.programs}
    return [name for name in wanted if name not in done]


def _once(command: Sequence[str], cell: str, found: Compiled, note: Callable[[str], None]) -> tuple[str, str]:
    """Run one process; return the workload that it was compiling at its end, if any, and how it ended.

    Raises CompilerEnded.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    doing, late = "", False
    with (
        (LOGS / f"program-{cell}.log").open("wb") as errors,
        subprocess.Popen(
            command, env=probe_call.surroundings(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
        ) as process,
    ):
        assert process.stdout is not None

        def give_up() -> None:
            nonlocal late
            late = True
            process.kill()

        try:
            timer = threading.Timer(SECONDS, give_up)
            timer.start()
            for line in process.stdout:
                timer.cancel()
                timer = threading.Timer(SECONDS, give_up)
                timer.start()
                doing = _take(line, found, doing)
                note(doing)
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
    code = process.returncode
    how = next((each.name for each in Signals if each.value == -code), f"exit status {code}")
    if late:
        raise CompilerEnded(f"no answer in {SECONDS:g} s, while compiling {doing or 'nothing yet'}")
    if code in _FROM_OUTSIDE:
        raise CompilerEnded(
            f"the compiler was ended by {how}, by somebody or for lack of memory, in {doing or 'its start'}"
        )
    return doing, how


def _take(line: bytes, found: Compiled, doing: str) -> str:
    """Store a line's result, and return the workload that is now being compiled."""
    try:
        told: dict[str, Any] = json.loads(line)
    except ValueError:  # jax itself may print lines
        return doing
    match told:
        case {"workloads": dict(workloads)}:
            found.workloads = {name: Workload(**each) for name, each in workloads.items()}
            found.reason = str(told.get("absent", ""))
        case {"starts": str(name)}:
            return name
        case {"workload": str()}:
            found.programs.append(Program(**told))
            return ""
    return doing
