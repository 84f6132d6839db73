"""Runs all cases of one issue in this interpreter and prints what they show.

    python -m jax_stack_compat.issues wraps-lower-bypass

Cell side: an environment that holds the stack is enough.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import sys
from collections.abc import Sequence

from jax_stack_compat import issues
from jax_stack_compat.cell import machine, standalone
from jax_stack_compat.cell.issue import Issue


def main(words: Sequence[str] | None = None) -> int:
    """Run the issue that `words` name, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m jax_stack_compat.issues", description="Run all cases of one issue in this interpreter."
    )
    parser.add_argument("id", metavar="ID", help="the issue's id, as pages have it: wraps-lower-bypass")
    asked = parser.parse_args(words).id
    modules = {issues.basename(name).replace("_", "-"): name for name in issues.modules()}
    if asked not in modules:
        near = ", ".join(difflib.get_close_matches(asked, modules, cutoff=0.0))
        print(f"error: no issue {asked!r}; the nearest are {near}", file=sys.stderr)
        return 2
    issue: Issue = importlib.import_module(modules[asked]).ISSUE
    if missing := _missing(issue):
        print(f"error: {asked} needs {', '.join(missing)}, which {sys.executable} does not have", file=sys.stderr)
        return 2
    standalone.run(issue)
    return 0


def _missing(issue: Issue) -> list[str]:
    """Return the packages that every case of an issue needs, and that are not installed here."""
    needed = set.intersection(*(set(case.needs) for case in issue.cases))
    found = machine.describe(sorted(needed))["packages"]
    return [name for name, version in found.items() if version is None]


if __name__ == "__main__":
    sys.exit(main())
