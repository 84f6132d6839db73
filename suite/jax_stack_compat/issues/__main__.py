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
from jax_stack_compat.cell import standalone


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
    standalone.run(importlib.import_module(modules[asked]).ISSUE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
