"""The run of a library in its stack: an environment with the stack's pins, and the library's imports and task in it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import STATE
from jax_stack_compat.environments import interpreter, library_call
from jax_stack_compat.stack import uv_call
from laboratory.libraries import table
from laboratory.libraries.records import LibraryRecord, key
from laboratory.libraries.stacks import LibraryPair, NoStack, as_of, excluded, python, resolve

_TAIL = 400


class LibraryBench:
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
def bench(library: str, release: str) -> Iterator[LibraryBench]:
    """Make an environment for the stacks of a library's release, and remove it afterwards. Raises Failed, BadFile."""
    STATE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"library-{library}-", dir=STATE))
    try:
        yield LibraryBench(folder, python(library, release))
    except interpreter.NoInterpreter as error:
        raise Failed(str(error)) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def carry_out(pair: LibraryPair, bench: LibraryBench, kept: Mapping[str, str] | None = None) -> LibraryRecord:
    """Run a pair, and return what was seen; other packages stay at the versions in `kept`, if they are given.

    Raises Failed, BadFile, OSError.
    """
    held = kept is not None
    head = {"key": key(pair, held=held), **vars(pair), "as_of": as_of(pair), "held": held}
    if conflict := excluded(pair):
        return LibraryRecord.model_validate({**head, "conflict": conflict})
    try:
        pins = resolve(pair, kept or {})
    except NoStack as error:
        return LibraryRecord.model_validate({**head, "conflict": str(error)[:_TAIL]})
    bench.install(pins)
    seen = library_call.observe(bench.folder, table.module(pair.library), table.load()[pair.library].task)
    return LibraryRecord.model_validate({**head, "pins": pins, **asdict(seen)})


def _uv(*words: str) -> None:
    run = uv_call.run(*words)
    if run.returncode:
        raise Failed(f"uv {' '.join(words[:2])}: {run.stderr.strip()[-_TAIL:]}")
