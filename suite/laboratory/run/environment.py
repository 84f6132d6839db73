"""The environments of cells: virtual environments with exactly the pins of a lock, made by uv.

`.suite/envs/<cell>` is reused while the lock, the interpreter and every installed file stay the same: a changed file
would give wrong evidence about upstream. On a file system without clones, the files are hard links into the suite's
store, so writing to one environment may change others.

An installer's exit status is no evidence about upstream. Its faults are `error`; only a missing interpreter is
`unavailable`.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from filelock import FileLock
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from jax_stack_compat.base.errors import BadFile, Failed
from jax_stack_compat.base.files import STATE, FileModel, dump, read
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.environments import interpreter
from jax_stack_compat.stack import lock, uv_call
from jax_stack_compat.stack.lock import Lock
from jax_stack_compat.stack.plan import Cell
from laboratory.run import sizes

ENVIRONMENTS = STATE / "envs"
# The file in an environment that marks it as finished: Marker.
MARKER = "suite.json"


class Marker(FileModel):
    """The mark of a finished environment.

    `python` is the full version of its interpreter, and `files` a hash of the time and size of each file.
    """

    lock: str
    python: str
    files: str


@dataclass(frozen=True)
class Environment:
    """A finished environment: its interpreter, the interpreter's full version, and the stamp of its files."""

    executable: Path
    python: str
    files: str = ""


class Unprepared(Exception):
    """The reason why an environment is missing: a verdict, a reason code, and a sentence for people."""

    def __init__(self, verdict: Literal["unavailable", "error"], reason: str, detail: str) -> None:
        super().__init__(detail)
        self.verdict: Literal["unavailable", "error"] = verdict
        self.reason = reason
        self.detail = detail


def reserve(cell: str) -> FileLock:
    """Return the reservation of a cell for one run, so that two runs do not mix in its environment or records."""
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    return FileLock(ENVIRONMENTS / f"{cell}.reserved", thread_local=False)


def ready(cell: Cell, pinned: Lock) -> Environment | None:
    """Return the environment of `cell` if it was made from this lock; `prepare` also verifies its files."""
    executable = ENVIRONMENTS / cell.id / "bin" / "python"
    with suppress(BadFile):
        marker = read(Marker, ENVIRONMENTS / cell.id / MARKER)
        if marker.lock == pinned.sha256 and executable.exists():
            return Environment(executable, marker.python, marker.files)
    return None


def prepare(cell: Cell, pinned: Lock) -> Environment:
    """Return the verified environment of `cell`, made if necessary.

    Raises Unprepared, and OSError for a fault of the disk.
    """
    folder = ENVIRONMENTS / cell.id
    if (found := ready(cell, pinned)) is not None:
        if stamp(folder) == found.files:
            return found
        # If files are links, the store has changed as well, and the next environment would also be wrong.
        if changed := sorted({dist.name for dist in _installed(folder) if not _is_whole(dist)}):
            uv_call.run("cache", "clean", *changed)
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    if os.statvfs(ENVIRONMENTS).f_flag & os.ST_NOEXEC:
        where = "is on a file system mounted noexec: set SUITE_STATE to a folder where programs can run"
        raise Unprepared("error", "install.noexec", f"{ENVIRONMENTS} {where}")
    try:
        python, full = interpreter.find(cell.python)
    except interpreter.NoInterpreter as error:
        raise Unprepared("unavailable", "plan.no-interpreter", str(error)) from error
    executable = folder / "bin" / "python"
    _uv("venv", "--quiet", "--clear", "--no-project", "--python", str(python), str(folder))
    _uv("pip", "sync", "--require-hashes", "--only-binary=:all:", "--python", str(executable), str(pinned.path))
    if lacking := "; ".join(_lacking(folder, full)):
        detail = f"{pinned.path.name} is incomplete: {lacking}; `nox -s lock` rewrites it"
        raise Unprepared("error", "install.incomplete", detail)
    made = Marker(lock=pinned.sha256, python=full, files=stamp(folder))
    write(folder / MARKER, dump(made.model_dump()))
    return Environment(executable, full, made.files)


@contextmanager
def held(cell: Cell) -> Iterator[Environment]:
    """Make the environment of a planned cell, and keep the cell reserved meanwhile. Raises Failed, BadFile."""
    with reserve(cell.id):
        try:
            made = prepare(cell, lock.load(cell))
        except Unprepared as error:
            raise Failed(f"{cell.id}: {error.detail}") from error
        yield made


def _packages(folder: Path) -> Path:
    return next(folder.glob("lib/python*/site-packages"), folder)


def stamp(folder: Path) -> str:
    """Return a hash of the time and size of each installed file, without Python's bytecode."""
    found, packages = [], _packages(folder)
    for place, names, files in os.walk(packages):
        names[:] = [name for name in names if name != "__pycache__"]
        for name in files:
            path = Path(place, name)
            stat = path.lstat()
            found.append(f"{path.relative_to(packages)} {stat.st_mtime_ns} {stat.st_size}")
    return hashlib.sha256("\n".join(sorted(found)).encode(errors="surrogateescape")).hexdigest()


def _installed(folder: Path) -> list[Distribution]:
    return list(distributions(path=[str(_packages(folder))]))


def _is_whole(dist: Distribution) -> bool:
    """Return True if every file of a distribution matches its RECORD."""
    for file in dist.files or ():
        path = Path(str(dist.locate_file(file)))
        if not path.is_file():
            return False
        if file.hash is not None:
            found = hashlib.new(file.hash.mode, path.read_bytes()).digest()
            if base64.urlsafe_b64encode(found).rstrip(b"=").decode() != file.hash.value:
                return False
    return True


def _lacking(folder: Path, python: str) -> Iterator[str]:
    """Yield requirements without any installed version.

    It does not matter if metadata excludes the installed version.
    """
    there = _installed(folder)
    names = {canonicalize_name(dist.name) for dist in there}
    where = {"python_version": ".".join(python.split(".")[:2]), "python_full_version": python, "extra": ""}
    for dist in there:
        for wanted in map(Requirement, dist.requires or ()):
            needed = wanted.marker is None or wanted.marker.evaluate(where)
            if needed and canonicalize_name(wanted.name) not in names:
                yield f"{dist.name} {dist.version} requires {wanted.name}"


def forget(cell: Cell) -> None:
    """Mark the environment of `cell` so that its next use makes it again."""
    (ENVIRONMENTS / cell.id / MARKER).unlink(missing_ok=True)


def to_fetch(absent: list[tuple[Cell, Lock]], new: Mapping[str, int] = MappingProxyType({})) -> int:
    """Return the bytes of the wheels that absent environments need, each wheel once; uv's cache may have some.

    `new` has sizes that are not in the tree yet.
    """
    known = {**sizes.load(), **new}
    wheels = {wheel: pin for _, pinned in absent for wheel, pin in pinned.wheels.items()}
    return sum(known.get(pin, 0) for pin in wheels.values())


def _uv(*words: str) -> None:
    run = uv_call.run(*words)
    if run.returncode:
        said = run.stderr[max(run.stderr.find("error:"), 0) :].strip()
        reason = next((reason for reason, pattern in _REASONS if re.search(pattern, said)), "install.failed")
        hint = "; the index lacks a pinned release: is it a login page, or an incomplete mirror?"
        raise Unprepared("error", reason, f"uv {' '.join(words[:2])}: {said[-1500:]}{hint * (reason == _NOT_OFFERED)}")


_NOT_OFFERED = "install.no-release"
# Reason codes for the reader; the verdict is `error` in any case.
_REASONS = (
    (_NOT_OFFERED, r"there is no version of|was not found in the package registry"),
    ("install.hash", r"[Hh]ash mismatch"),
    ("install.disk", r"No space left on device|os error 28|Disk quota"),
    ("install.network", r"dns error|error sending request|[Cc]onnect|timed out|[Nn]etwork"),
    (
        "install.no-wheel",
        r"no wheels? with a matching|has no usable wheels|doesn't have a (source distribution or )?wheel",
    ),
)
