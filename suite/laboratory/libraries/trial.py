"""The run of a library in its stack: an environment with the stack's pins, and the library's imports and task in it."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jax_stack_compat.base import guardian
from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import OURS, STATE
from jax_stack_compat.base.guardian import GuardedProcess
from jax_stack_compat.environments import interpreter, probe_call
from jax_stack_compat.stack import uv_call
from laboratory.libraries import table
from laboratory.libraries.records import Failure, Record, key
from laboratory.libraries.stacks import Pair, Unresolvable, as_of, excluded, python, resolve

# The limit of one step, an import or the task.
_STEP_SECONDS = 240.0
_TAIL = 400


class Bench:
    """An environment for the stacks of one release of a library, changed from each stack to the next."""

    def __init__(self, folder: Path, version: str) -> None:
        self.folder = folder
        self.executable = folder / "bin" / "python"
        python, _ = interpreter.find(version)
        _uv("venv", "--quiet", "--clear", "--no-project", "--python", str(python), str(folder))

    def install(self, pins: Mapping[str, str]) -> None:
        """Install exactly these pins. Raises Failed."""
        with tempfile.NamedTemporaryFile("w", suffix=".txt", dir=self.folder) as file:
            file.write("".join(f"{name}=={version}\n" for name, version in pins.items()))
            file.flush()
            _uv("pip", "sync", "--only-binary=:all:", "--python", str(self.executable), file.name)


@contextmanager
def bench(library: str, release: str) -> Iterator[Bench]:
    """Make an environment for the stacks of a library's release, and remove it afterwards. Raises Failed, BadFile."""
    STATE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"library-{library}-", dir=STATE))
    try:
        yield Bench(folder, python(library, release))
    except interpreter.NoInterpreter as error:
        raise Failed(str(error)) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def carry_out(pair: Pair, bench: Bench) -> Record:
    """Run a pair, and return what was seen. Raises Failed, BadFile, OSError."""
    head = {"key": key(pair), **vars(pair), "as_of": as_of(pair)}
    if conflict := excluded(pair):
        return Record(**head, conflict=conflict)
    try:
        pins = resolve(pair)
    except Unresolvable as error:
        return Record(**head, conflict=str(error)[:_TAIL])
    bench.install(pins)
    seen = _observe(bench, pair.library)
    return Record(
        **head,
        pins=pins,
        modules=seen.modules,
        failures=tuple(seen.failures),
        task=seen.task,
        ended=seen.ended,
        during=seen.during,
    )


@dataclass
class _Seen:
    modules: int = 0
    failures: list[Failure] = field(default_factory=list)
    task: Failure | None = None
    ended: str = ""
    during: str = ""


def _observe(bench: Bench, library: str) -> _Seen:
    """Run the cell's side, and return what it announced."""
    with tempfile.TemporaryDirectory(prefix="library-") as scratch, tempfile.TemporaryFile() as log:
        words = (table.module(library), table.load()[library].task)
        plain = probe_call.command(bench.executable, "laboratory.cell.library", *words)
        command = guardian.command(bench.executable, plain, shut=OURS, opened=[bench.folder, Path(scratch)])
        variables = {**probe_call.surroundings(), "JAX_PLATFORMS": "cpu", "TMPDIR": scratch}
        process = GuardedProcess(command, folder=Path(scratch), variables=variables, log=log)
        try:
            seen = _follow(process)
        finally:
            code = process.close()
    if seen.during:
        seen.ended = process.over or f"exit status {code}"
    return seen


def _follow(process: GuardedProcess) -> _Seen:
    seen, since = _Seen(during="start"), time.monotonic()
    for line in process.lines():
        if line is None:
            if time.monotonic() - since > _STEP_SECONDS:
                process.end(f"not done in {_STEP_SECONDS:g} s")
            continue
        since = time.monotonic()
        _hear(seen, json.loads(line))
    return seen


def _hear(seen: _Seen, told: Mapping[str, Any]) -> None:
    match told:
        case {"failed": name, "step": step, "error": error, "lacks": lacks, "place": place}:
            failure = Failure(name=name, error=error, lacks=lacks, place=place)
            if step == "task":
                seen.task = failure
            else:
                seen.failures.append(failure)
        case {"step": "end"}:
            seen.during = ""
        case {"step": step, "name": name}:
            seen.during = f"{step} {name}"
            seen.modules += step == "import"


def _uv(*words: str) -> None:
    run = uv_call.run(*words)
    if run.returncode:
        raise Failed(f"uv {' '.join(words[:2])}: {run.stderr.strip()[-_TAIL:]}")
