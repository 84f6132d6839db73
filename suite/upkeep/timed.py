"""Sessions of nox, timed, and tables of what was measured."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from suite.errors import Failed
from suite.files import ROOT, STATE


def session(name: str, *options: str, made: Path, tree: Path = ROOT, state: Path = STATE) -> float:
    """The seconds that a session took.

    Raises Failed where it did not write the file `made` anew, as it would have at its end.
    """
    command = [sys.executable, "-m", "nox", "-s", name, "--", *options]
    before = made.stat().st_mtime_ns if made.exists() else None
    started = time.monotonic()
    ended = subprocess.run(
        command,
        cwd=tree,
        env={**os.environ, "SUITE_STATE": str(state), "NOX_SCRIPT_MODE": "none"},
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    seconds = time.monotonic() - started
    if not made.exists() or made.stat().st_mtime_ns == before:
        last = "\n".join((ended.stdout + ended.stderr).splitlines()[-5:])
        raise Failed(f"{' '.join(command[1:])} did not come to its end, so its time says nothing: {last}")
    return seconds


def table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Columns of numbers to the right, and the first, which says what they are of, to the left where it has no name."""
    made = Table(title=title, title_justify="left")
    for name in names:
        made.add_column(name, justify="right" if name else "left")
    for row in rows:
        made.add_row(*row)
    return made
