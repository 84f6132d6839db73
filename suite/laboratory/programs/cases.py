"""Device cases, which look for an issue's behaviour in a program compiled for a device. Pure.

Nothing is run. A verdict is about the compiler's output, which no device has run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from jax_stack_compat.judge.verdict_table import GOOD, Verdict
from laboratory.programs.model import ReleasePrograms

# A behaviour and its evidence: the line of the program that shows it, or a note on what is missing.
Seen = tuple[str, str]
Role = Literal["case", "workaround", "control"]


@dataclass(frozen=True, eq=False)
class DeviceCase:
    """A program of `benchmarks/_program_cases.py`, and how it decides a case of an issue.

    `role` says whose program it is: the case's, its workaround's, or its control's. `look` examines the optimised HLO
    and the counts for `looked_for`, a sentence. `verdicts` are by behaviour. If jax refused to compile, `refusals` map
    a part of its message to a behaviour.
    """

    program: str
    issue: str
    case: str
    role: Role
    looked_for: str
    look: Callable[[str, Mapping[str, int]], Seen]
    verdicts: Mapping[str, Verdict]
    refusals: tuple[tuple[str, str], ...] = ()


def _on_host(text: str, counts: Mapping[str, int]) -> Seen:
    """Look for computations that run on the host, in the thread that XLA calls "host"."""
    if called := _line(text, r'custom_call_target="HostExecute"'):
        return "on-host", called
    return "on-device", _line(text, r" multiply\(") or "no multiplication"


def _offloaded(text: str, counts: Mapping[str, int]) -> Seen:
    """Look for arrays in the host's memory, which XLA calls space 5."""
    there = _line(text, r"S\(5\)")
    return ("offloaded", there) if there else ("kept", "nothing of it is in memory space 5")


def _called(targets: Mapping[str, str]) -> Callable[[str, Mapping[str, int]], Seen]:
    """Return a function that looks for a kernel call; `targets` maps a part of the call's target to a behaviour."""

    def look(text: str, counts: Mapping[str, int]) -> Seen:
        called = re.search(r'custom_call_target="[^"]*"', text)
        if called is None:
            return "no-call", "the program calls no kernel"
        return next(((behaviour, called[0]) for part, behaviour in targets.items() if part in called[0]), ("", ""))

    return look


def _copies(shape: str) -> Callable[[str, Mapping[str, int]], Seen]:
    """Return a function that looks for a copy of an array of this shape in a loop; copies in the entry do not count."""

    def look(text: str, counts: Mapping[str, int]) -> Seen:
        if not counts.get("while_loops"):
            return "no-loop", "the program has no loop"
        computations = re.split(r"\n(?=\S.*\{\n)", text)
        inside = "\n".join(each for each in computations if not each.startswith(("ENTRY ", "HloModule ")))
        copied = _line(inside, rf"= \(?{re.escape(shape)}.* copy(-start)?\(")
        return ("copies", copied) if copied else ("in-place", f"no copy of {shape} in the loop")

    return look


def _beside(size: int) -> Callable[[str, Mapping[str, int]], Seen]:
    """Return a function that looks for a temporary buffer of this size in a program that donates its argument."""

    def look(text: str, counts: Mapping[str, int]) -> Seen:
        head = text.partition("\n")[0]
        alias = re.search(r"input_output_alias=\{ .*? \}", head)
        if not alias:
            return "not-aliased", "the result has no place of an argument's"
        if "temporary_bytes" not in counts:
            return "untold", "the bytes of temporaries are not told"
        found = counts["temporary_bytes"]
        return ("copy" if found >= size else "in-place"), f"{found:,} bytes of temporaries, {alias[0]}"

    return look


def _line(text: str, pattern: str) -> str:
    """Return the first line that matches the pattern, cut to 200 characters."""
    found = next((line.strip() for line in text.splitlines() if re.search(pattern, line)), "")
    return found if len(found) <= 200 else f"{found[:199]}…"


_MARKED = "a computation that XLA has the host run (HostExecute)"
_KEEPS = "a copy of the loop's array of 4096 numbers in its body or in a branch"
_DONATED = "temporary buffers of the donated array's size, 1 MiB, beside it"
_HOST: Mapping[str, Verdict] = {"on-host": "clear", "on-device": "affected", "attribute-error": "guarded"}
_DEVICE: Mapping[str, Verdict] = {"on-device": "clear"}
_LOOP: Mapping[str, Verdict] = {"in-place": "clear", "copies": "affected"}
_BYTES: Mapping[str, Verdict] = {"in-place": "clear", "copy": "affected", "not-aliased": "affected", "untold": "absent"}
# Up to 0.8.3, jax knows no memory spaces of an absent GPU, and lowers no move between them. A value that stays on the
# device then says nothing about a real GPU.
_MEMORY: Mapping[str, Verdict] = {"offloaded": "clear", "kept": "absent"}
_KEPT: Mapping[str, Verdict] = {"kept": "clear"}
_KERNEL: Mapping[str, Verdict] = {"triton": "clear", "mosaic": "documented", "wants-a-gpu": "affected"}
_COMPUTE_ON, _MEMORIES = "compute-on-aot", "host-memory-asked-for-within-jit"
_CONDITION, _COPY = "conditional-in-a-loop-copies-what-it-keeps", "donated-array-with-a-copy-beside-it"
_PALLAS = "pallas-kernels-of-older-releases"
_SPACE = "an array in the host's memory, which XLA writes as S(5)"
_CALL = "a call of the kernel, by Triton's name or Mosaic's"
_TPU_CALL = "a call of the kernel, tpu_custom_call"
_WANTS_A_GPU = (("No supported GPU devices found", "wants-a-gpu"),)
_NO_LOWER = (("has no attribute 'lower'", "attribute-error"),)
_GPU, _TPU = _called({"triton": "triton", "mosaic": "mosaic"}), _called({"tpu_custom_call": "lowered"})
_4096, _MIB = _copies("f32[4096]"), _beside(2**20)

CASES: tuple[DeviceCase, ...] = (
    DeviceCase("host-around-jit", _COMPUTE_ON, "decorator-outside", "case", _MARKED, _on_host, _HOST, _NO_LOWER),
    DeviceCase("host-within-jit", _COMPUTE_ON, "decorator-inside", "case", _MARKED, _on_host, _HOST),
    DeviceCase("nothing-on-the-host", _COMPUTE_ON, "decorator-inside", "control", _MARKED, _on_host, _DEVICE),
    DeviceCase("kept-where-true", _CONDITION, "kept-where-true", "case", _KEEPS, _4096, _LOOP),
    DeviceCase("kept-where-false", _CONDITION, "kept-where-true", "workaround", _KEEPS, _4096, _LOOP),
    DeviceCase("kept-where-last", _CONDITION, "kept-where-last", "case", _KEEPS, _4096, _LOOP),
    DeviceCase("updated-in-both", _CONDITION, "kept-where-true", "control", _KEEPS, _4096, _LOOP),
    DeviceCase("without-a-condition", _CONDITION, "kept-where-true", "control", _KEEPS, _4096, _LOOP),
    DeviceCase("donated-read-by-a-loop", _COPY, "read-by-a-loop", "case", _DONATED, _MIB, _BYTES),
    DeviceCase("donated-read-by-a-sum", _COPY, "read-by-a-sum", "case", _DONATED, _MIB, _BYTES),
    DeviceCase("donated-read-by-nothing", _COPY, "read-by-a-sum", "control", _DONATED, _MIB, _BYTES),
    DeviceCase("activations-on-the-host", _MEMORIES, "offloaded-activations", "case", _SPACE, _offloaded, _MEMORY),
    DeviceCase("activations-on-the-device", _MEMORIES, "offloaded-activations", "control", _SPACE, _offloaded, _KEPT),
    DeviceCase("kernel-for-a-gpu", _PALLAS, "lowered-for-a-gpu", "case", _CALL, _GPU, _KERNEL, _WANTS_A_GPU),
    DeviceCase("kernel-for-an-h100", _PALLAS, "lowered-for-a-gpu", "workaround", _CALL, _GPU, _KERNEL, _WANTS_A_GPU),
    DeviceCase("without-a-kernel", _PALLAS, "lowered-for-a-gpu", "control", _CALL, _GPU, {"no-call": "clear"}),
    DeviceCase("kernel-for-a-tpu", _PALLAS, "lowered-for-a-tpu", "case", _TPU_CALL, _TPU, {"lowered": "clear"}),
)
BY_PROGRAM: Mapping[str, DeviceCase] = {each.program: each for each in CASES}


def seen(program: str, text: str, counts: Mapping[str, int], reason: str) -> Seen:
    """Return a program's behaviour, and the line that shows it; empty without a case or a decision."""
    case = BY_PROGRAM.get(program)
    if case is None:
        return "", ""
    if reason:
        return next(((behaviour, reason) for part, behaviour in case.refusals if part in reason), ("", ""))
    return case.look(text, counts) if text else ("", "")


def verdicts(release: ReleasePrograms) -> dict[str, Verdict]:
    """Return the verdict on each program that decides a case; `error` if the issue's control fails."""
    told = {
        case: case.verdicts.get(program.seen, "different")
        for case in CASES
        if (program := release.program(case.program)) and program.seen
    }
    wrong = {case.issue for case, verdict in told.items() if case.role == "control" and verdict not in GOOD}
    return {
        case.program: "error" if case.issue in wrong and case.role != "control" else verdict
        for case, verdict in told.items()
    }
