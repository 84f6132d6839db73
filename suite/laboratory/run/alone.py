"""The cases that cannot run beside others, by their tables and by the results of earlier runs."""

from __future__ import annotations

from jax_stack_compat.catalogue.catalogue import by_rule
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.environments.task import Task
from jax_stack_compat.judge import verdicts
from jax_stack_compat.judge.record import Record
from jax_stack_compat.judge.rules import Pins, expected
from jax_stack_compat.judge.verdicts import GIVEN, agree, workaround_expected

# Outcomes that a busy machine can cause.
_OF_A_BUSY_MACHINE = frozenset({"signal", "timeout", "memory"})


def runs_alone(task: Task) -> bool:
    """Return True if a case must run alone from the start."""
    return bool(task.case.alone) or task.expected == GIVEN["timeout"]


def must_run_again(case: Case, record: Record, pins: Pins) -> bool:
    """Return True if a record does not count because other probes ran at the same time.

    Such a record is not as expected, or has a part that ended by a signal, its time limit or its memory limit. A case
    is expected to be blocked if the rules say that a case it waits for goes wrong. Raises BadFile.
    """
    if record.attempts[0].parts["reproducer"].outcome in ("unavailable", "import-error"):
        # The machine lacks something, or the case runs again in another environment.
        return False
    rule, judged = expected(case, pins), verdicts.judge(case, record.attempts)
    if case.waits_for:
        judged = verdicts.waited(judged, by_rule(case, pins))
    if judged.reason == "run.waits":
        return False
    fails = case.workaround.fails if case.workaround else ()
    return (
        agree(case, judged, rule) != "as-expected"
        or not workaround_expected(judged.workaround, fails, pins)
        or any(part.outcome in _OF_A_BUSY_MACHINE for attempt in record.attempts for part in attempt.parts.values())
    )
