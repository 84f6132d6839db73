"""An issue run here, in this interpreter, as somebody does who has just installed a stack.

    python -m suite.issues.wraps_lower_bypass

Cell side. Nothing is isolated: what one case does to this process, the next one meets. The probe is the one to believe.
"""

from __future__ import annotations

import os
import shlex
import sys

from suite.cell import machine, parts
from suite.cell.issue import Case, Issue


def main(issue: Issue) -> None:
    """Run every case of `issue`, and print what was seen."""
    # A signature may name a module that JAX leaves out of its tracebacks; it reads this as it is imported.
    os.environ.setdefault("JAX_TRACEBACK_FILTERING", "off")
    print(f"{issue.id}: {issue.title}")
    for case in issue.cases:
        print(f"\n{case.id}: {case.question}")
        if lacking := machine.lacks(case):
            _say("unavailable", lacking)
            continue
        for name in parts.of(case):
            _say("saw" if name == "reproducer" else name, _answer(issue, case, name))
        if case.workaround is not None and case.workaround.pin:
            _say("workaround", f"not run here: install {case.workaround.pin}")


def _say(label: str, answer: str) -> None:
    print(f"  {label:<11} {answer}")


def _answer(issue: Issue, case: Case, name: str) -> str:
    if needed := _not_set(parts.variables(case, name)):
        words = " ".join(f"{key}={shlex.quote(value)}" for key, value in needed.items())
        return f"not run here: {words} python -m {issue.module}"
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
    """Those that this process was not started with."""
    return {
        key: value
        for key, value in variables.items()
        if not (
            set(value.split()) <= set(os.environ.get("XLA_FLAGS", "").split())
            if key == "XLA_FLAGS"
            else os.environ.get(key) == value
        )
    }
