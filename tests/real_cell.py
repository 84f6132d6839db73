"""The one real cell of the tests, the newest of the default ones, and the issue that is run in it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jax_stack_compat.base.files import ROOT
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.stack import lock, plan
from laboratory.records import records
from laboratory.run import cell_run, environment
from laboratory.run.schedule import slots
from tests.processes import default_signals

CELL = plan.tagged("default")[-1]
ISSUE = "wraps-lower-bypass"
RECORD = ["record", CELL.id, "--issue", ISSUE]
# Do not use `select`, which reads all issues: every test run imports this module.
COUNT = len(catalogue.entry("jax_stack_compat.issues.transforms.wraps_lower_bypass").issue.cases)


def keep_in(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Make this process keep its state in `folder`, as SUITE_STATE does for another process."""
    patch.setattr(records, "RECORDS", folder / "records")
    patch.setattr(environment, "ENVIRONMENTS", folder / "envs")
    patch.setattr(cell_run, "LOGS", folder / "logs")
    patch.setattr(slots, "FOLDER", folder / "slots")
    patch.setattr(lock, "ASKED_FOR", folder / "locks")


def started(state: Path, *words: str) -> subprocess.Popen[str]:
    """A run of the cell in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "laboratory", *RECORD, *words],
        cwd=ROOT,
        env={**os.environ, "SUITE_STATE": str(state), "CORPUS_FOLDER": str(state), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals,
    )
