"""A cell → counts of what its host's phases take: `benchmarks._counting`, run in it, under callgrind where that is."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from suite.errors import Failed
from suite.run import environment, probe_call
from suite.stack import lock
from suite.stack.plan import Cell
from suite.timings.counts import Counted, Unit

# Of one lock the counts of two processes differ by so little that two of each side show whether that is so today.
PROCESSES = 2
_CALLGRIND = ("valgrind", "--tool=callgrind", "--quiet", "--instr-atstart=no", "--separate-threads=yes")
Note = Callable[[str], None]


def best() -> Unit:
    """The best that this machine can count: it is known of x86-64 alone how to have callgrind start and stop."""
    return "instructions" if shutil.which("valgrind") and platform.machine() == "x86_64" else "calls"


@dataclass(frozen=True)
class Counter:
    """Counts in cells; `unit` says whether instructions are counted, too, which takes minutes where calls take none."""

    unit: Unit

    def listed(self, cell: Cell, patterns: Sequence[str]) -> dict[str, str]:
        """The traces and lowerings that one of `patterns` finds: asv's name → version. Raises Failed."""
        listed = {key: each.version for key, each in self._run(cell, ())}
        return {key: listed[key] for key in listed if any(re.search(pattern, key) for pattern in patterns)}

    def count(self, cell: Cell, benchmarks: Collection[str], note: Note = lambda name: None) -> dict[str, Counted]:
        """Count each of these in a process of its own; `note` is told of each that is done. Raises Failed."""
        found = {}
        for key, counted in self._run(cell, benchmarks) if benchmarks else ():
            found[key] = counted
            note(key)
        return found

    def _run(self, cell: Cell, benchmarks: Collection[str]) -> Iterator[tuple[str, Counted]]:
        with tempfile.TemporaryDirectory() as scratch, environment.reserve(cell):
            try:
                executable = environment.prepare(cell, lock.load(cell)).executable
            except environment.Unprepared as error:
                raise Failed(f"{cell.id}: {error.detail}") from error
            command = probe_call.command(executable, "benchmarks._counting", *benchmarks)
            out = Path(scratch, "callgrind")
            if benchmarks and self.unit == "instructions":
                # Python keeps small objects in arenas of its own, and their addresses go into hashes.
                fixed = ("setarch", "-R") if shutil.which("setarch") else ()
                command = [*fixed, *_CALLGRIND, f"--callgrind-out-file={out}.%p", *command]
            probe_call.LOGS.mkdir(parents=True, exist_ok=True)
            log = probe_call.LOGS / f"counting-{cell.id}.log"
            with (
                log.open("wb") as errors,
                subprocess.Popen(
                    command,
                    env={**probe_call.surroundings(), "JAX_PLATFORMS": "cpu", "SUITE_CALLGRIND_OUT": str(out)},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    encoding="utf-8",
                ) as process,
            ):
                assert process.stdout is not None
                try:
                    for line in process.stdout:
                        told = json.loads(line)
                        yield told.pop("benchmark"), Counted(**told)
                except BaseException:
                    process.kill()
                    raise
            if process.returncode:
                said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
                raise Failed(f"{cell.id}: counting ended with {process.returncode}: {' / '.join(said[-2:])}")
