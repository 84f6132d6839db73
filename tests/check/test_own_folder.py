"""Folders for one run: runs at the same time do not disturb each other."""

import subprocess
import sys
from pathlib import Path

from jax_stack_compat.check.trial.own_folder import own_folder
from tests.processes import python

# A run that is killed, with its folder in place.
KILLED = """
import os, sys
from pathlib import Path
from jax_stack_compat.check.trial.own_folder import own_folder
with own_folder(Path(sys.argv[1])) as folder:
    folder.mkdir()
    os.kill(os.getpid(), 9)
"""
# A run that prints its folder, and waits for a line.
WAITING = """
import sys
from pathlib import Path
from jax_stack_compat.check.trial.own_folder import own_folder
with own_folder(Path(sys.argv[1])) as folder:
    folder.mkdir()
    print(folder, flush=True)
    sys.stdin.readline()
    sys.exit(not folder.is_dir())
"""


def test_two_runs_have_a_folder_each(tmp_path: Path) -> None:
    """A folder of a running process stays while other runs begin and end, and is removed at its end."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().strip())
        with own_folder(tmp_path) as mine:
            mine.mkdir()
            assert mine != theirs
        assert theirs.is_dir()
        other.communicate("\n")

    assert 0 == other.returncode
    assert [] == [*tmp_path.iterdir()]


def test_the_folder_of_a_killed_run_is_removed_by_the_next(tmp_path: Path) -> None:
    """A killed run leaves its folder, and the next run removes it."""
    assert python("-c", KILLED, str(tmp_path)).returncode == -9
    assert 2 == len([*tmp_path.iterdir()])

    with own_folder(tmp_path) as mine:
        assert [f"{mine.name}.lock"] == [path.name for path in tmp_path.iterdir()]
