"""Lock → cell environment: a virtual environment that holds exactly what the lock pins, made by uv.

`.suite/envs/<cell>`, reused for as long as the lock and the interpreter stay the same. The installer's exit status
says nothing about upstream: whatever goes wrong here is `error`, and only a missing interpreter is `unavailable`.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import uv
from filelock import FileLock

from suite.cell.atomic import write
from suite.errors import BadFile
from suite.files import STATE, FileModel, dump, read
from suite.run import interpreter
from suite.stack import lock
from suite.stack.lock import Lock
from suite.stack.plan import Cell

ENVIRONMENTS = STATE / "envs"


class Marker(FileModel):
    """What stands in an environment that was finished. `python` is the full version of its interpreter."""

    lock: str
    python: str


@dataclass(frozen=True)
class Environment:
    """An environment ready to run: its interpreter, and that interpreter's full version."""

    executable: Path
    python: str


class Unprepared(Exception):
    """No environment: the verdict that follows, its reason code, and a sentence for people."""

    def __init__(self, verdict: Literal["unavailable", "error"], reason: str, detail: str) -> None:
        super().__init__(detail)
        self.verdict: Literal["unavailable", "error"] = verdict
        self.reason = reason
        self.detail = detail


def reserve(cell: Cell) -> FileLock:
    """The lock that one run holds on a cell, so that two runs at once do not mix in its environment or records."""
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    return FileLock(ENVIRONMENTS / f"{cell.id}.reserved")


def ready(cell: Cell, pinned: Lock) -> Environment | None:
    """The environment of `cell`, if it is there and holds what the lock pins."""
    folder = ENVIRONMENTS / cell.id
    executable = folder / "bin" / "python"
    try:
        marker = read(Marker, folder / "suite.json")
    except BadFile:
        return None
    if marker.lock != pinned.sha256 or not executable.exists():
        return None
    return Environment(executable, marker.python)


def prepare(cell: Cell, pinned: Lock) -> Environment:
    """The environment of `cell`, made if need be. Raises Unprepared; OSError where the disk refuses."""
    if (found := ready(cell, pinned)) is not None:
        return found
    try:
        python, full = interpreter.find(cell.python)
    except interpreter.NoInterpreter as error:
        raise Unprepared("unavailable", "plan.no-interpreter", str(error)) from error
    folder = ENVIRONMENTS / cell.id
    executable = folder / "bin" / "python"
    _uv("venv", "--quiet", "--clear", "--no-project", "--python", str(python), str(folder))
    _uv("pip", "sync", "--require-hashes", "--only-binary=:all:", "--python", str(executable), str(pinned.path))
    write(folder / "suite.json", dump(Marker(lock=pinned.sha256, python=full).model_dump()))
    return Environment(executable, full)


def forget(cell: Cell) -> None:
    """Have the environment of `cell` made anew when it is next needed."""
    (ENVIRONMENTS / cell.id / "suite.json").unlink(missing_ok=True)


def to_fetch(needed: list[tuple[Cell, Lock]]) -> int:
    """How many bytes of wheels the environments that are not there hold, each wheel once: what uv's cache may save."""
    sizes = lock.sizes()
    pins = {
        f"{name}=={version}" for cell, each in needed if not ready(cell, each) for name, version in each.pins.items()
    }
    return sum(sizes.get(pin, 0) for pin in pins)


def _uv(*words: str) -> None:
    run = subprocess.run([uv.find_uv_bin(), *words], capture_output=True, text=True, check=False)
    if run.returncode:
        said = run.stderr[max(run.stderr.find("error:"), 0) :].strip()
        raise Unprepared("error", _reason(said), f"uv {' '.join(words[:2])}: {said[-1500:]}")


# Only to tell the reader where to look; whichever it is, the verdict is `error`.
_REASONS = (
    ("install.hash", r"[Hh]ash mismatch"),
    ("install.disk", r"No space left on device|os error 28|Disk quota"),
    ("install.network", r"dns error|error sending request|[Cc]onnect|timed out|[Nn]etwork"),
    (
        "install.no-wheel",
        r"no wheels? with a matching|has no usable wheels|doesn't have a (source distribution or )?wheel",
    ),
)


def _reason(said: str) -> str:
    return next((reason for reason, pattern in _REASONS if re.search(pattern, said)), "install.failed")
