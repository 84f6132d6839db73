"""Runs all cases of one issue in this interpreter and prints what they show: `python -m jax_stack_compat.issues ID`.

Cell side. The cases are not isolated from each other, and a crash ends them all: the probe is more reliable.
"""

from __future__ import annotations

import os
import shlex
import sys

from jax_stack_compat.cell import elsewhere, machine, parts
from jax_stack_compat.cell.issue import Case, Issue

_LABELS = {"reproducer": "saw", "workaround": "workaround", "control": "control"}


def run(issue: Issue) -> None:
    """Run every case of `issue`, and print what was seen."""
    # Signatures match on modules that JAX filters out of tracebacks. JAX reads this when it is imported.
    os.environ.setdefault("JAX_TRACEBACK_FILTERING", "off")
    print(f"{issue.id}: {issue.title}")
    for case in issue.cases:
        print(f"\n{case.id}: {case.question}")
        if lacking := machine.lacks(case):
            _say("unavailable", lacking)
            continue
        for name in parts.of(case):
            if needed := _not_set(parts.variables(case, name)):
                words = " ".join(f"{key}={shlex.quote(value)}" for key, value in needed.items())
                _say(_LABELS[name], f"to run it: {words} python -m jax_stack_compat.issues {issue.id}")
                if name == "reproducer":
                    break
                continue
            _say(_LABELS[name], _answer(case, name))
            if name == "workaround":
                _say_elsewhere(case)
        if case.workaround is not None and case.workaround.pin:
            _say("workaround", f"to run it, install {case.workaround.pin}")


def _say_elsewhere(case: Case) -> None:
    outcomes = elsewhere.run(case)
    if well := [name for name, told in outcomes.items() if not told]:
        _say("elsewhere", f"holds for {'; '.join(well)}")
    for name, told in outcomes.items():
        if told:
            _say("elsewhere", f"{name}: {told}")


def _say(label: str, answer: str) -> None:
    print(f"  {label:<11} {answer}")


def _answer(case: Case, name: str) -> str:
    said = parts.run(case, name)
    if said.get("exception") == "KeyboardInterrupt":
        sys.exit(130)
    told = said.get("detail", "")
    if said["outcome"] == "raised":
        kind = said["exception"].rpartition(".")[2]
        told = f"{kind}: {told}" if told else kind
    told = " ".join(told.split())[:300]
    if (behaviour := said.get("behaviour")) is not None:
        return f"{behaviour} ({case.behaviours.get(behaviour, 'not among its behaviours')}): {told}"
    return "holds" if said["outcome"] == "returned" else told


def _not_set(variables: dict[str, str]) -> dict[str, str]:
    """The variables that this process does not have yet."""
    return {
        key: value
        for key, value in variables.items()
        if not (
            set(value.split()) <= set(os.environ.get("XLA_FLAGS", "").split())
            if key == "XLA_FLAGS"
            else os.environ.get(key) == value
        )
    }
