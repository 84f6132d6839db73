"""Verdicts on a case and its workaround, from its attempts, and their agreement with the rules. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from jax_stack_compat.cell.issue import Case, Rule
from jax_stack_compat.cell.signatures import contains
from jax_stack_compat.judge.record import Attempt, Outcome, Part
from jax_stack_compat.judge.rules import Pins, met, requirements
from jax_stack_compat.judge.verdict_table import GOOD, UNDECIDED, Verdict
from jax_stack_compat.judge.wording import explain, tidy

WorkaroundWord = Literal["holds", "fails", "not-needed", "none"]
Agreement = Literal["as-expected", "regressed", "fixed", "changed", "new", "undecided"]

# The verdict and reason code of an attempt that shows none of its case's behaviours.
_ENDINGS: Mapping[Outcome, tuple[Verdict, str]] = {
    "returned": ("error", "run.unknown-behaviour"),
    "raised": ("different", "run.exception"),
    "import-error": ("blocked", "import.exception"),
    "import-signal": ("blocked", "import.signal"),
    "import-timeout": ("blocked", "import.timeout"),
    "probe-ended": ("error", "run.probe"),
    "unavailable": ("unavailable", "plan.no-cpu-feature"),
    "signal": ("crashed", "run.signal"),
    "timeout": ("hung", "run.timeout"),
    "memory": ("error", "run.memory"),
    "output": ("different", "run.output"),
    "exit": ("different", "run.exit"),
    "no-result": ("different", "run.no-result"),
    "garbled": ("error", "run.garbled"),
}
# Behaviours that the probe itself reports; a case may list one as its documented symptom.
GIVEN: Mapping[Outcome, str] = {"signal": "crashed", "timeout": "hung", "import-error": "import-error"}
# Verdicts on an import that ends its process, if the case is about imports.
_OF_IMPORTS: Mapping[Outcome, Verdict] = {"import-signal": "crashed", "import-timeout": "hung"}
# Errors of the machine, by the start of their message.
_OF_MACHINE = {
    **{"[Errno 12]": "run.memory", "[Errno 28]": "run.disk", "[Errno 122]": "run.disk"},
    **{"[Errno 24]": "run.handles", "[Errno 30]": "run.read-only"},
}
# Messages of imports that fail because the machine lacks a library, a permission or an instruction.
_NOT_LOADED = re.compile(
    r"cannot open shared object file|failed to map segment|version `[\w.]+' not found|ELF (class|header)|"
    r"cannot enable executable stack|your CPU|\[Errno (5|12|13|23|24|28|30|116|122)\]"
)
# Errors for a missing package that jax does not declare (`jax_stack_compat.stack.beside`).
_NOT_INSTALLED = (
    ("ModuleNotFoundError", "No module named 'absl'"),
    ("ModuleNotFoundError", "No module named 'flatbuffers'"),
    ("ImportError", "Please install 'flatbuffers' in order to use Exported serialization"),
)
# A workaround addresses the documented symptom, so it says nothing about other faults.
_TELLS_OF_A_WORKAROUND: frozenset[Verdict] = frozenset({"affected", "guarded", "documented", "clear"})


class Judged(NamedTuple):
    """A verdict with its reasons. `behaviour` is None if no behaviour of the case was seen, `reason` if it is clear."""

    verdict: Verdict
    behaviour: str | None
    reason: str | None
    detail: str
    workaround: WorkaroundWord = "none"


def judge(case: Case, attempts: Sequence[Attempt]) -> Judged:
    """Return the verdict on all attempts of a case in one cell; `flaky`, with counts, if the attempts disagree."""
    judged = [judge_attempt(case, attempt) for attempt in attempts]
    kinds = {(each.verdict, each.behaviour) for each in judged}
    # A workaround holds only if it helps in every attempt.
    telling = next((each for each in judged if each.workaround == "fails"), judged[-1])
    if len(kinds) == 1:
        return telling
    told = [each.behaviour or each.verdict for each in judged]
    counts = ", ".join(f"{told.count(name)} of {len(told)} {name}" for name in sorted(set(told)))
    return Judged("flaky", None, "run.flaky", counts, telling.workaround)


def judge_attempt(case: Case, attempt: Attempt) -> Judged:
    """Return the verdict on one attempt."""
    control = attempt.parts.get("control")
    part = attempt.parts["reproducer"]
    # A package that the control and the reproducer both lack is not a fault of the machine.
    if control is not None and control.outcome != "returned" and not (_is_lacking(control) and _is_lacking(part)):
        return Judged("error", None, "run.control", tidy(f"the control failed: {explain(control)}"))
    verdict, reason = _ending(part)
    detail = part.detail if part.outcome in ("returned", "unavailable") else explain(part)
    if part.outcome == "returned":
        seen = part.behaviour
    elif part.outcome == "raised":
        seen = _recognised(case, part)
    else:
        seen = GIVEN.get(part.outcome) if verdict != "error" else None
    if seen is not None and seen in case.behaviours:
        verdict = case.behaviours[seen]
        reason = reason if part.outcome in GIVEN else f"run.{seen}"
    else:
        detail = f"{seen!r} is not among the behaviours of {case.id}" if part.outcome == "returned" else detail
        seen = None
        if GIVEN["import-error"] in case.behaviours:
            verdict = _OF_IMPORTS.get(part.outcome, verdict)
    why = None if verdict == "clear" else reason
    return Judged(verdict, seen, why, tidy(detail), _workaround(case, attempt, verdict))


def waited(judged: Judged, awaited: Mapping[str, Verdict]) -> Judged:
    """Return the verdict on a case that waits for others: blocked if it raised and one of the others goes wrong."""
    wrong = [f"{name} is {verdict}" for name, verdict in awaited.items() if goes_wrong(verdict)]
    if not wrong or (judged.verdict, judged.reason) != ("different", "run.exception"):
        return judged
    return Judged("blocked", None, "run.waits", tidy(f"{' and '.join(wrong)}: {judged.detail}"))


def _recognised(case: Case, part: Part) -> str | None:
    """Return the behaviour whose signature, in today's table, matches the exception.

    The probe used the table of the day of the run. The record keeps the exception, so nothing is run again.
    """
    kind, modules = (part.exception or "").rpartition(".")[2], (part.traceback or "").replace("/", ".")
    for name, some in case.signatures.items():
        for signature in some if isinstance(some, tuple) else (some,):
            # The record keeps only the end of a traceback; the probe saw all of it.
            through = not signature.module or name == part.behaviour or signature.module in modules
            if signature.type == kind and contains(part.detail, signature.message) and through:
                return name
    return "not-installed" if _is_lacking(part) else None


def _is_lacking(part: Part) -> bool:
    """Return True if a part failed because a package is missing that jax does not declare."""
    return (part.exception, part.detail) in _NOT_INSTALLED


def goes_wrong(verdict: str) -> bool:
    """Return True if a verdict is decided and bad."""
    return verdict not in GOOD and verdict not in UNDECIDED


def is_affected(verdict: Verdict) -> bool | None:
    """Return True if a release with this verdict shows the issue's symptom; None if the verdict decides nothing."""
    if verdict in ("affected", "documented"):
        return True
    return False if verdict in GOOD else None


def confirmed(attempts: Sequence[Attempt]) -> bool:
    """Return True if a verdict rests on several attempts, or if the probe makes only one for it."""
    outcome = attempts[0].parts["reproducer"].outcome
    return len(attempts) > 1 or outcome == "unavailable" or outcome.startswith("import-")


def agree(case: Case, judged: Judged, rule: Rule | None) -> Agreement:
    """Return how a verdict agrees with the behaviour that a rule expects."""
    if judged.verdict in UNDECIDED:
        return "undecided"
    if rule is None:
        return "new"
    if judged.behaviour == rule.behaviour:
        return "as-expected"
    was = case.behaviours.get(rule.behaviour, "different")
    if (was in GOOD) != (judged.verdict in GOOD):
        return "fixed" if judged.verdict in GOOD else "regressed"
    return "changed"


def workaround_expected(word: WorkaroundWord, fails: Iterable[str], pins: Pins) -> bool:
    """Return True if a workaround did as expected: it helps, except on the stacks that `fails` lists."""
    known = "fails" if any(met(on, pins) for on in fails) else "holds"
    return word in (known, "not-needed", "none")


def by_pin(pin: str, verdict: Verdict, pins: Pins, others: Iterable[tuple[Pins, Verdict]]) -> WorkaroundWord:
    """Return the result of a workaround that is a pin, for a `verdict` under `pins`.

    `others` are the case's verdicts elsewhere. A stack counts if it meets `pin` and has the other packages in `pins`.
    """
    if verdict not in _TELLS_OF_A_WORKAROUND or met(pin, pins):
        return "none"
    names = {requirement.name for requirement in requirements(pin)}
    there = {
        other_verdict
        for other, other_verdict in others
        if met(pin, other) and all(pins.get(name) == other.get(name) for name in {*pins, *other} - names)
    }
    if not (told := there - UNDECIDED):
        return "none"
    return _word(told == {"clear"}, verdict)


def _ending(part: Part) -> tuple[Verdict, str]:
    if part.outcome == "signal" and part.detail == "SIGKILL":
        # Programs do not send themselves SIGKILL: memory ran out, or a person killed the process.
        return "error", "run.killed"
    if part.outcome == "import-error" and _NOT_LOADED.search(part.detail):
        return "error", "import.machine"
    if part.outcome == "import-signal" and re.search(r": SIG(ILL|KILL|BUS)\b", part.detail):
        # The processor lacks an instruction, or memory or the disk under a mapped file ran out.
        return "error", "import.machine"
    if part.outcome == "raised" and part.exception in ("OSError", "MemoryError"):
        known = next((each for text, each in _OF_MACHINE.items() if part.detail.startswith(text)), None)
        if known or part.exception == "MemoryError":
            return "error", known or "run.memory"
    if part.outcome == "unavailable" and "needs Python" in part.detail:
        return "unavailable", "plan.no-python"
    return _ENDINGS[part.outcome]


def _workaround(case: Case, attempt: Attempt, verdict: Verdict) -> WorkaroundWord:
    part = attempt.parts.get("workaround")
    if case.workaround is None or part is None or verdict not in _TELLS_OF_A_WORKAROUND:
        return "none"
    if case.workaround.code is None:
        # An environment reruns the reproducer, so any behaviour is possible.
        helps = case.behaviours.get(part.behaviour or "") == "clear"
    else:
        helps = part.outcome == "returned"
    # A fault of the machine or a missing package says nothing about the workaround.
    ended = part.outcome != "returned" and _ending(part)[0] == "error"
    return "none" if ended or _is_lacking(part) else _word(helps, verdict)


def _word(helps: bool, verdict: Verdict) -> WorkaroundWord:
    if not helps:
        return "fails"
    return "not-needed" if verdict == "clear" else "holds"
