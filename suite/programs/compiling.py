"""An environment → what was counted there: runs `benchmarks._program`, again where a program ended the compiler."""

from __future__ import annotations

import hashlib
import json
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals
from typing import Any

from suite.files import ROOT, STATE
from suite.programs.model import Program, Workload
from suite.run import probe_call

# Who ends a compiler so is the machine or somebody, and not the program: nothing follows for the release.
_FROM_OUTSIDE = (-Signals.SIGTERM, -Signals.SIGKILL, -Signals.SIGINT, -Signals.SIGHUP)
# What is compiled, and what counts it.
SOURCES = (
    *("benchmarks/_program.py", "benchmarks/_program_counts.py", "benchmarks/_program_workloads.py"),
    "benchmarks/programs/h100.txtpb",
)
TEXTS = STATE / "programs" / "texts"
LOGS = STATE / "logs"
# Without a word for so long, a compiler is given up.
SECONDS = 1200.0


class Ended(Exception):
    """The compiler was ended from outside, or did not answer: that is this machine's, and recorded of no release."""


@dataclass
class Compiled:
    """What came of it: the programs, what they are of, and why there are none where there are not."""

    workloads: dict[str, Workload] = field(default_factory=dict)
    programs: list[Program] = field(default_factory=list)
    reason: str = ""


def source() -> str:
    """A hash of what is compiled and of what counts."""
    return hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in SOURCES)).hexdigest()


def compile(executable: Path, cell: str, target: str, note: Callable[[int, int, str], None]) -> Compiled:
    """Compile every workload for `target` with this interpreter; `note` is told how far it is. Raises Ended."""
    found = Compiled()
    while True:
        done = [each.workload for each in found.programs]
        left = [name for name in found.workloads if name not in done]
        doing, how = _once(executable, cell, target, left, found, note)
        if found.reason or len(found.programs) == len(found.workloads) > 0:
            return found
        if not doing:
            log = (LOGS / f"program-{cell}.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
            found.reason = f"it ended before the first program ({how}): {' / '.join(log[-1:]) or 'without a word'}"
            return found
        found.programs.append(Program(workload=doing, reason=f"the compiler was ended by it: {how}"))


def _once(
    executable: Path,
    cell: str,
    target: str,
    wanted: Sequence[str],
    found: Compiled,
    note: Callable[[int, int, str], None],
) -> tuple[str, str]:
    """One process, to its end: the workload that it was in when it ended, if any, and how it ended. Raises Ended."""
    LOGS.mkdir(parents=True, exist_ok=True)
    doing, late = "", False
    command = probe_call.command(executable, "benchmarks._program", target, str(TEXTS / cell), *wanted)
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
                note(len(found.programs), len(found.workloads), doing)
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
    code = process.returncode
    how = next((each.name for each in Signals if each.value == -code), f"exit status {code}")
    if late:
        raise Ended(f"no answer in {SECONDS:g} s, while it compiled {doing or 'nothing yet'}")
    if code in _FROM_OUTSIDE:
        raise Ended(f"the compiler was ended by {how}, by somebody or for want of memory, in {doing or 'its start'}")
    return doing, how


def _take(line: bytes, found: Compiled, doing: str) -> str:
    """Keep what a line tells; the workload that is being compiled."""
    try:
        told: dict[str, Any] = json.loads(line)
    except ValueError:  # jax itself may print there
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
