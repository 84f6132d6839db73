"""Counts of the host's phases in a cell: `benchmarks._counting`, under callgrind if available."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import LOGS, ROOT
from jax_stack_compat.cell import guard
from jax_stack_compat.environments import probe_call
from jax_stack_compat.stack.plan import Cell
from laboratory.run import environment
from laboratory.timings.counts import BY_PYTHON, HOST, Counted, Unit

# Counts of one lock hardly differ between processes. Two processes of each side show whether this is still true.
PROCESSES = 2
Note = Callable[[str], None]


def callgrind(out: Path, *, by_python: bool) -> tuple[str, ...]:
    """Return the command prefix for callgrind: counting Python's own thread only, or all threads."""
    threads = "yes" if by_python else "no"
    asked = ("--instr-atstart=no", "--dump-line=no", f"--separate-threads={threads}")
    return ("valgrind", "--tool=callgrind", "--quiet", *asked, f"--callgrind-out-file={out}.%p")


def best() -> Unit:
    """Return the most precise unit that this machine can count; callgrind is used on x86-64 only."""
    return "instructions" if shutil.which("valgrind") and platform.machine() == "x86_64" else "calls"


@dataclass(frozen=True)
class Counter:
    """A counter of one unit: calls, or instructions, which take minutes longer."""

    unit: Unit

    def listed(self, cell: Cell, patterns: Sequence[str]) -> dict[str, str]:
        """Return the benchmarks to count that one of `patterns` matches: asv's name → version. Raises Failed."""
        phases = HOST if self.unit == "instructions" else BY_PYTHON
        with environment.held(cell) as made, self._counting(cell, made.executable, ()) as told:
            listed = {key: benchmark.version for key, benchmark in told if phases.search(key)}
        return {key: listed[key] for key in listed if any(re.search(pattern, key) for pattern in patterns)}

    def count(self, cell: Cell, benchmarks: Collection[str], note: Note = lambda name: None) -> dict[str, Counted]:
        """Count these benchmarks; call `note` after each. Raises Failed."""
        by_python = [key for key in benchmarks if BY_PYTHON.search(key)]
        by_compiler = [key for key in benchmarks if not BY_PYTHON.search(key)]
        found = {}
        with environment.held(cell) as made, ExitStack() as both:
            # One process for each kind of phase, at the same time: callgrind has other options, and load does not
            # change a count.
            counting = [self._counting(cell, made.executable, keys) for keys in (by_python, by_compiler) if keys]
            for told in [both.enter_context(each) for each in counting]:
                for key, counted in told:
                    found[key] = counted
                    note(key)
        return found

    @contextmanager
    def _counting(
        self, cell: Cell, python: Path, benchmarks: Collection[str]
    ) -> Iterator[Iterator[tuple[str, Counted]]]:
        command = probe_call.command(python, "benchmarks._counting", *benchmarks, root=ROOT)
        by_python = all(map(BY_PYTHON.search, benchmarks))
        log = LOGS / f"counting-{cell.id}-{'python' if by_python else 'compiler'}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch, log.open("wb") as errors:
            out = Path(scratch, "callgrind")
            if benchmarks and self.unit == "instructions":
                command = [*callgrind(out, by_python=by_python), *command]
            with subprocess.Popen(
                command,
                env={**probe_call.surroundings(), "JAX_PLATFORMS": "cpu", "SUITE_CALLGRIND_OUT": str(out)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
                process_group=0,
                preexec_fn=partial(guard.die_with_parent, signal.SIGKILL),
            ) as process:
                assert process.stdout is not None
                try:
                    lines = map(json.loads, process.stdout)
                    yield ((told.pop("benchmark"), Counted(**told)) for told in lines)
                except BaseException:
                    # Kill the process group: the counting process is a child of valgrind's.
                    os.killpg(process.pid, signal.SIGKILL)
                    raise
        if process.returncode:
            said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise Failed(f"{cell.id}: counting ended with {process.returncode}: {' / '.join(said[-2:])}")
