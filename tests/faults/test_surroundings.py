"""Odd shells and machines: the same verdicts, or an error that names what is wrong; and tests pass."""

import json
import os
import shlex
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import PACKAGES, ROOT
from tests.faults.surroundings import CASES, SURROUNDINGS
from tests.processes import clone, printed, python, without_pages
from tests.report.on_disk import saved
from tests.report.test_report import observation, report

# Under these, nothing can run, and the sentence says why.
REFUSED = {
    "too-few-files": "32 (ulimit -n)",
    "too-small-files": "0 MiB (ulimit -f)",
    "little-memory": "2048 MiB (ulimit -v)",
    "few-processes": "5 (ulimit -u)",
    "little-time": "1 (ulimit -t)",
}
Outcome = Callable[[str], dict[str, Any]]
# A run that installs nothing: this release was yanked.
RECORD = ("record", "jax-0.4.32", "--issue", "stack-smoke")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Return a function that reads the results of the cases in surroundings, by name."""
    folder = tmp_path_factory.mktemp("surroundings")
    venv.create(folder / "env", with_pip=False, symlinks=True)
    (folder / "modules").mkdir()
    for name in ("json", "sitecustomize", "numpy"):
        (folder / "modules" / f"{name}.py").write_text("raise SystemExit('not the real one')\n", encoding="utf-8")
    printed("-m", "tests.faults.surroundings", str(folder), str(folder / "env" / "bin" / "python"))

    def of(name: str) -> dict[str, Any]:
        said = (folder / f"{name}.json").read_text(encoding="utf-8")
        assert said, (folder / f"{name}.err").read_text(encoding="utf-8")
        found: dict[str, Any] = json.loads(said)
        return found

    return of


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_odd_surroundings_change_no_verdict(outcome: Outcome, name: str) -> None:
    """With odd variables, locales, limits or folders, each case has its usual result, or all have a named error."""
    plain, odd = outcome("plain"), outcome(name)
    count = sum(map(len, CASES.values()))

    assert (count, count, "") == (plain["cases"], len(plain["found"]), plain["reason"])
    if name in REFUSED:
        assert ({}, "run.limits", True) == (odd["found"], odd["reason"], REFUSED[name] in odd["detail"]), odd["detail"]
    else:
        assert plain == odd


# What a shell does before it starts the command, and the expected message; each combines several settings.
SHELLS = {
    "export LC_ALL=C PYTHONUTF8=0 PYTHONIOENCODING=latin-1 HOME=/nowhere TMPDIR=/nowhere PYTHONPATH={root}; umask 777; "
    "mkdir -m 777 gone; cd gone; rmdir ../gone; export SUITE_STATE=/tmp; exec <&-": "",
    "export LC_ALL=xx_YY.banana LANG=tr_TR HOME=/etc/passwd TERM=banana COLUMNS=x TZ=:::Odd JAX_PLATFORMS=banana; "
    "export PYTHONWARNINGS=error XLA_FLAGS=--nonsense OMP_NUM_THREADS=x; ulimit -n 32; ulimit -s 1024": "",
    "export PYTHONOPTIMIZE=2 PYTHONDONTWRITEBYTECODE=1": "error: issues need their docstrings",
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_command_ends_well_or_with_a_sentence(shell: str, tmp_path: Path) -> None:
    """From a shell with odd settings, a plan is printed as usual, or there is a sentence and exit code 2."""
    command = f"{shlex.quote(sys.executable)} -m laboratory compat --plan --issue stack-smoke"
    words = f"{shell.format(root=shlex.quote(str(PACKAGES)))}; exec {command}"
    ran = subprocess.run(
        ["sh", "-c", words],
        cwd=tmp_path if "gone" in shell else ROOT,
        env={**os.environ, "SUITE_STATE": str(tmp_path / "state")},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )

    assert (2 * bool(SHELLS[shell]), True) == (ran.returncode, ran.stderr.startswith(SHELLS[shell])), ran.stderr
    assert ("Traceback" in ran.stderr, "observations: " in ran.stdout) == (False, not SHELLS[shell])


def test_a_state_folder_that_can_be_none_is_a_sentence(tmp_path: Path) -> None:
    """A SUITE_STATE that is a loop of links ends a run with one sentence."""
    (tmp_path / "loop").symlink_to("loop")
    ran = python("-m", "laboratory", *RECORD, env={"SUITE_STATE": str(tmp_path / "loop")})

    assert (Exit.MISUSED, "error: ", 1) == (ran.returncode, ran.stderr[:7], len(ran.stderr.splitlines()))


def test_a_locale_of_few_letters_is_no_error(tmp_path: Path) -> None:
    """Characters that a locale lacks are replaced; JSON stays valid, and `run` ends as usual on a terminal."""
    few = {"PYTHONIOENCODING": "ascii", "SUITE_STATE": str(tmp_path)}
    saved([report(observation(detail="ł ✓")), report(observation(behaviour="✓ ł"))], tmp_path)
    words = ("diff", str(tmp_path / "shard-1"), str(tmp_path / "shard-2"), "--format", "json")
    ran = python("-m", "laboratory", *words, env=few)
    assert ("✓ ł", "") == (json.loads(ran.stdout)["changes"][0]["now"]["behaviour"], ran.stderr)
    ours, theirs = os.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen, os.fdopen(theirs, "wb") as terminal:
        ran = python("-m", "laboratory", "run", *RECORD[1:], stdout=terminal, env=few)
        terminal.close()
        shown = screen.read(65_536)
    assert (Exit.INCOMPLETE, "") == (ran.returncode, ran.stderr)
    assert b"unavailable" in shown


# Apply all at once, since a test that fails under one of them also fails under all.
ODDLY = """
trap "" INT HUP QUIT
umask 077
export LC_ALL=C TZ=Asia/Kathmandu TERM=dumb COLUMNS=40
export PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 PYTHONHASHSEED=1 PYTHONUNBUFFERED=1
unset HOME LANG
exec setsid -w "$@" <&-
"""
# Tests that depend on how they are started: signals, file names, modes, locales, terminals.
SELECTION = (
    "tests/faults/test_faults.py::test_nothing_is_left_of_a_driver_that_was_ended",
    "tests/check/test_locks.py::test_names_of_files_mean_nothing",
    "tests/test_files.py::test_writing_makes_the_folders",
    "tests/test_files.py::test_what_cannot_be_written_is_raised",
    "tests/test_console.py::test_a_bar_shows_names_as_they_are",
)


def test_tests_pass_however_they_are_started(tmp_path: Path) -> None:
    """Deaf to Ctrl-C, in a folder with a space, without terminal, input, home or locale: the same tests pass."""
    started = subprocess.run(
        ["sh", "-c", ODDLY, "sh", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SELECTION],
        cwd=clone(tmp_path / "a checkout", without_pages),
        env={name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "SUITE_"))},
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == started.returncode, started.stdout[-5000:] + started.stderr[-2000:]
    assert " passed" in started.stdout.splitlines()[-1]
