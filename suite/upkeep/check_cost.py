"""What an answer of `check` costs: from a lock, and with the source of jax itself for the code that is looked through.

Each is a process of its own, as a user starts it. Noise only adds, so the least of several is told; the bare
interpreter stands beside them, as the part that is nobody's doing.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console

from suite.errors import Failed, Misused
from suite.files import ROOT
from suite.run import environment
from suite.stack import lock, plan
from suite.upkeep import timed

_TIMES = 5
_CHECK = "import sys; from suite.check.words import main; main(sys.argv[1:])"


def measure(console: Console) -> None:
    """Time them, and print what they took. Raises Misused where the newest default cell has no environment; Failed."""
    newest = plan.tagged("default")[-1]
    pinned = lock.load(newest)
    if (made := environment.ready(newest, pinned)) is None:
        raise Misused(
            f"the source of jax is read in the environment of {newest.id}: `nox -s 'cell({newest.id})'` first"
        )
    (source,) = made.executable.parent.parent.glob("lib/python*/site-packages/jax")
    lines = sum(len(each.read_bytes().splitlines()) for each in source.rglob("*.py"))
    asked = ("check", "--lock", str(pinned.path))
    bare, start, of_lock = (_least(*words) for words in (("pass",), (_CHECK, "--help"), (_CHECK, *asked)))
    of_source = _least(_CHECK, *asked, "--source", str(source), times=1) * 100_000 / lines
    rows = [
        ("the interpreter alone", f"least of {_TIMES}", bare, ""),
        ("--help", f"least of {_TIMES}", start, "≤ 0.3"),
        (f"check --lock {pinned.path.name}", f"least of {_TIMES}", of_lock, "≤ 0.5"),
        (f"and --source, jax's {lines:,} lines: of 100,000", "once", of_source, "≤ 10"),
    ]
    console.print(
        timed.table(
            "check, a process each",
            ("", "measured", "seconds", "× the interpreter", "wanted"),
            [(what, how, f"{took:.2f}", f"{took / bare:.1f}", wanted) for what, how, took, wanted in rows],
        )
    )


def _least(code: str, *words: str, times: int = _TIMES) -> float:
    command = [sys.executable, "-c", code, *words]

    def once() -> float:
        started = time.monotonic()
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True)
        # That something bites is an answer, too.
        if ended.returncode not in (0, 1):
            raise Failed(f"{Path(sys.executable).name} -c … {' '.join(words)}: {ended.stderr.strip()[-500:]}")
        return time.monotonic() - started

    return min(once() for _ in range(times))
