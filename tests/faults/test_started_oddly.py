"""Tests pass however they are started: by a script in the background, with odd settings, in a folder with a space."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import clone, without_pages

# All at once; a test that fails under one of them fails under all of them.
SHELL = """
trap "" INT HUP QUIT
umask 077
export LC_ALL=C TZ=Asia/Kathmandu TERM=dumb COLUMNS=40
export PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 PYTHONOPTIMIZE=1 PYTHONHASHSEED=1 PYTHONUNBUFFERED=1
unset HOME LANG
exec setsid -w "$@" <&-
"""
# Of what depends on how it is started: processes that are signalled, files, names of files, locales, terminals.
SELECTION = (
    "tests/faults/test_faults.py::test_nothing_is_left_of_a_driver_that_was_ended",
    "tests/check/test_locks.py::test_names_of_files_mean_nothing",
    *("tests/test_files.py", "tests/test_console.py", "tests/cell/test_machine.py"),
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the tree in a folder with a space, without what is published of it."""
    return clone(tmp_path / "a checkout", without_pages)


def test_tests_pass_however_they_are_started(checkout: Path) -> None:
    """Deaf to Ctrl-C, without a terminal, input, home or locale, and with settings of Python: the same tests pass."""
    started = subprocess.run(
        ["sh", "-c", SHELL, "sh", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SELECTION],
        cwd=checkout,
        env={name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "SUITE_"))},
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == started.returncode, started.stdout[-5000:] + started.stderr[-2000:]
    assert " passed" in started.stdout.splitlines()[-1]
