"""Runs the workarounds of cases on other inputs in this interpreter, and prints what came of them.

    echo '[["jax_stack_compat.issues.numpy.cumsum_dtype_bool", "cumsum"]]' | python -m laboratory.cell.elsewhere

Cell side. Each case has a process of its own, in which no call was made before.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import warnings
from collections.abc import Sequence

from jax_stack_compat.cell import elsewhere
from jax_stack_compat.cell.issue import Case, Issue


def main() -> int:
    """Print, by module and case, what came of each input: "" if the workaround helps."""
    asked: list[tuple[str, str]] = json.load(sys.stdin)
    # What imports print is no part of the answer.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    import jax  # noqa: F401  before the forks: once

    found = [[module, case, _apart(_case(module, case))] for module, case in asked]
    json.dump({"outcomes": found}, out)
    out.close()
    return 0


def _case(module: str, name: str) -> Case:
    issue: Issue = importlib.import_module(module).ISSUE
    return next(case for case in issue.cases if case.id == name)


def _apart(case: Case) -> dict[str, str]:
    """Run a case's workaround in a process of its own; how that ended counts for all of its inputs."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.close(read)
        signal.setitimer(signal.ITIMER_REAL, case.seconds)
        with os.fdopen(write, "w", encoding="utf-8") as out:
            json.dump(elsewhere.run(case), out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as answer:
        told = answer.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        found: dict[str, str] = json.loads(told)
        return found
    return dict.fromkeys(_inputs(case), f"ended with {signal.Signals(-code).name if code < 0 else f'exit {code}'}")


def _inputs(case: Case) -> Sequence[str]:
    within = case.workaround.elsewhere if case.workaround else None
    return getattr(within, "inputs", ("program",))


if __name__ == "__main__":
    sys.exit(main())
