"""Pieces of work on one stack: cases, portions of calls, programs and benchmarks. Each keeps what it has finished."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jax_stack_compat.cell import atomic
from jax_stack_compat.environments import probe_call
from jax_stack_compat.environments.probe_call import Progress, Stop
from laboratory.orders.runner.kept import Json, ResultsFolder, Side, lines

# Of a device's memory, what all processes together may hold.
_SHARE = 0.85
# Sums on a CPU do not depend on the number of its cores.
_ONE_CORE = "--xla_cpu_multi_thread_eigen=false"


@dataclass(frozen=True)
class Bench:
    """What a piece of work needs: the interpreter, the code, the folder of results, and how many run side by side.

    `packages` are another release's, which come before the interpreter's own.
    """

    python: Path
    code: Path
    packages: Path | None
    place: ResultsFolder
    jobs: int

    def variables(self, side: Side) -> dict[str, str]:
        """Return the environment variables of processes that run side by side on a side."""
        if side == "cpu":
            return {**self.alone(), "JAX_PLATFORMS": "cpu"}
        share = f"{_SHARE / self.jobs:.3f}"
        return {
            **self.alone(),
            **{"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_PYTHON_CLIENT_MEM_FRACTION": share},
        }

    def alone(self) -> dict[str, str]:
        """Return the environment variables of a process that has the device alone, and writes nothing elsewhere."""
        scratch = self.place.scratch
        return {
            **{"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(scratch), "CUDA_CACHE_PATH": str(scratch / "cuda")},
            "TF_CPP_MIN_LOG_LEVEL": "2",
            **({"PYTHONPATH": str(self.packages)} if self.packages else {}),
        }

    def command(self, module: str, *words: str) -> list[str]:
        """Return the command line that runs one of our modules with the interpreter."""
        return probe_call.command(self.python, module, *words, root=self.code)


class Piece(ABC):
    """One piece of work."""

    bench: Bench

    @property
    @abstractmethod
    def name(self) -> str:
        """The piece's name, for its log."""

    @abstractmethod
    def is_done(self) -> bool:
        """Return True if the results' folder has all of it."""

    @abstractmethod
    def do(self, stop: Stop) -> None:
        """Do what is left, until `stop` is requested."""

    def log(self) -> Path:
        """Return the file of what its processes print."""
        return self.bench.place.folder / "logs" / f"{self.name}.log"

    def listen(
        self,
        command: Sequence[str],
        variables: Mapping[str, str],
        stop: Stop,
        take: Callable[[Json], None],
        given: str = "",
    ) -> None:
        """Run a process and pass on each line of JSON that it prints. Then end what it has left."""
        self.log().parent.mkdir(parents=True, exist_ok=True)
        environment = {**probe_call.surroundings(), **variables}
        with (
            self.log().open("ab") as errors,
            subprocess.Popen(
                command,
                cwd=self.bench.place.scratch,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
                start_new_session=True,
            ) as process,
        ):
            assert process.stdin is not None
            assert process.stdout is not None
            stop.watch(process)
            with suppress(BrokenPipeError):
                process.stdin.write(given)
                process.stdin.close()
            for line in process.stdout:
                with suppress(ValueError):
                    take(json.loads(line))
            stop.watch(None)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@dataclass(frozen=True)
class OrderedCase:
    """A case of the orders, and the file of its record."""

    module: str
    issue: str
    case: str
    key: Mapping[str, str]
    record: Path

    @property
    def name(self) -> tuple[str, str]:
        """The ids of the issue and the case."""
        return self.issue, self.case

    def ordered(self, ended: str) -> dict[str, Any]:
        """Return the case as the probe reads it. No behaviour is expected, so the probe makes every attempt."""
        return {
            **{"module": self.module, "issue": self.issue, "case": self.case, "expected": None},
            **{"key": self.key, "record": str(self.record), "ended": ended, "shared": []},
        }

    def is_done(self, attempts: int) -> bool:
        """Return True if its record has this key and so many attempts."""
        try:
            record = json.loads(self.record.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return record["key"] == self.key and len(record["attempts"]) >= attempts


@dataclass(frozen=True)
class CasePiece(Piece):
    """Cases that one probe runs, on one side."""

    bench: Bench
    side: Side
    cases: tuple[OrderedCase, ...]
    number: int
    attempts: int = 1

    @property
    def name(self) -> str:
        """The piece's name, for its log."""
        return f"cases-{self.side}-{self.number:03}"

    def left(self) -> list[OrderedCase]:
        """Return the cases without a record."""
        return [case for case in self.cases if not case.is_done(self.attempts)]

    def is_done(self) -> bool:
        """Return True if the results' folder has all of it."""
        return not self.left()

    def do(self, stop: Stop) -> None:
        """Run the cases left, in a probe."""
        stack = self.bench.place.stack
        ended = probe_call.call(
            self.bench.python,
            stack.cell if self.side == "device" else f"{stack.cell}+on-cpu",
            list(stack.packages),
            self.left(),
            Progress(),
            remake=lambda: self.bench.python,
            log=self.log(),
            shut=[self.bench.code, self.bench.place.folder / self.side],
            variables=self.bench.variables(self.side),
            most_attempts=self.attempts,
            root=self.bench.code,
            stop=stop,
        )
        if ended.reason:
            print(f"{self.name}: {ended.detail}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class CallPiece(Piece):
    """A portion of the calls of numerical functions, on one side."""

    bench: Bench
    side: Side
    keys: tuple[str, ...]
    number: int

    @property
    def name(self) -> str:
        """The piece's name, for its log."""
        return f"numbers-{self.side}-{self.number:04}"

    def is_done(self) -> bool:
        """Return True if the results' folder has all of it."""
        return self.bench.place.calls(self.side, self.number).exists()

    def do(self, stop: Stop) -> None:
        """Make the calls; they are kept if all were made."""

        def keep(told: Json) -> None:
            atomic.write(self.bench.place.calls(self.side, self.number), json.dumps(told))

        command = self.bench.command("laboratory.cell.numbers.call")
        variables = self.bench.variables(self.side)
        if self.side == "cpu":
            variables["XLA_FLAGS"] = _ONE_CORE
        self.listen(command, variables, stop, keep, json.dumps(self.keys))


@dataclass(frozen=True)
class ProgramPiece(Piece):
    """The programs that are compiled for the device, by the device."""

    bench: Bench
    target: str
    wanted: tuple[str, ...]

    @property
    def name(self) -> str:
        """The piece's name, for its log."""
        return "programs"

    def left(self) -> list[str]:
        """Return the programs without counts."""
        done = {each["workload"] for each in lines(self._counts)}
        return [name for name in self.wanted if name not in done]

    def is_done(self) -> bool:
        """Return True if the results' folder has all of it."""
        return not self.left()

    @property
    def _counts(self) -> Path:
        return self.bench.place.programs / "counts.jsonl"

    def do(self, stop: Stop) -> None:
        """Compile what is left, in one process after another while each finishes some."""
        self.bench.place.programs.mkdir(parents=True, exist_ok=True)

        def keep(told: Json) -> None:
            if "workload" in told:
                _append(self._counts, told)

        before: list[str] = []
        while (left := self.left()) and left != before and not stop.requested:
            before = left
            words = (self.target, str(self.bench.place.programs), *left)
            command = self.bench.command("benchmarks._program_here", *words)
            self.listen(command, self.bench.variables("device"), stop, keep)


@dataclass(frozen=True)
class TimingPiece(Piece):
    """The benchmarks, on the device, one at a time."""

    bench: Bench
    wanted: Mapping[str, str]

    @property
    def name(self) -> str:
        """The piece's name, for its log."""
        return "timings"

    def left(self) -> list[str]:
        """Return the benchmarks without a result of their version."""
        done = {(each["benchmark"], each["version"]) for each in self.bench.place.timed()}
        return [key for key, version in self.wanted.items() if (key, version) not in done]

    def is_done(self) -> bool:
        """Return True if the results' folder has all of it."""
        return not self.left()

    def do(self, stop: Stop) -> None:
        """Time what is left."""

        def keep(told: Json) -> None:
            _append(self.bench.place.timings, told)

        self.listen(self.bench.command("benchmarks._timing", *self.left()), self.bench.alone(), stop, keep)


def _append(path: Path, told: Json) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(told) + "\n")
