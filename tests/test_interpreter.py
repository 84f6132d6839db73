"""Finding a CPython for the cells on a machine that hides it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite import interpreter
from suite.interpreter import NoInterpreter

# A version that nobody has, so that only what a test puts there can be found.
NONE = "3.99"


def program(path: Path, *lines: str) -> Path:
    """Put a shell script at `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)
    return path


def says(path: Path, answer: str) -> Path:
    """Put an interpreter at `path` that answers this to whatever it is asked."""
    return program(path, f"echo '{answer}'")


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine with version managers that are empty, and no network; its first folder on PATH, which is empty too."""
    for name in ("PYENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    first = tmp_path / "first"
    first.mkdir()
    monkeypatch.setenv("PATH", str(first), prepend=os.pathsep)
    interpreter.find.cache_clear()
    yield first
    interpreter.find.cache_clear()


def test_an_interpreter_is_found_behind_a_shim(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the first `python3.12` on PATH is a shim that does not run, one that does is found all the same."""
    shim = program(machine / "python3.12", "echo 'pyenv: python3.12: command not found' >&2", "exit 127")
    for name in ("PYENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR", "UV_OFFLINE", "UV_PYTHON_DOWNLOADS"):
        monkeypatch.delenv(name)

    found, full = interpreter.find("3.12")

    asked = [str(found), "-c", "import platform; print(platform.python_implementation(), platform.python_version())"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert found != shim
    assert f"CPython {full}\n" == answer
    assert full.startswith("3.12.")


def test_the_driver_finds_itself(machine: Path) -> None:
    """An interpreter that is first on PATH and runs is the one that is taken."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    mine = program(machine / f"python{version}", f'exec "{sys.executable}" "$@"')

    assert (mine, ".".join(map(str, sys.version_info[:3]))) == interpreter.find(version)


@pytest.mark.parametrize(
    "lines",
    [
        ["exit 1"],
        ["echo 'CPython 3.99.1'; exit 1"],
        ["echo 'CPython 3.98.1'"],
        ["echo 'CPython 3.9.9'"],
        ["echo 'CPython 3.990.1'"],
        ["echo 'PyPy 3.99.1'"],
        ["echo 'CPython'"],
        ["echo 'welcome to CPython 3.99.1'"],
        [""],
        ["kill -9 $$"],
    ],
)
def test_what_is_no_such_cpython_is_not_believed(machine: Path, lines: list[str]) -> None:
    """A program of the right name that fails, or is another version or implementation, is passed over for the next."""
    program(machine / f"python{NONE}", *lines)
    good = says(Path(os.environ["PYENV_ROOT"]) / "versions" / f"{NONE}.1" / "bin" / "python", f"CPython {NONE}.1")

    assert (good, f"{NONE}.1") == interpreter.find(NONE)


def test_a_file_that_cannot_be_run_is_passed_over(machine: Path) -> None:
    """A candidate that the system refuses to start is passed over for the next."""
    broken = machine / f"python{NONE}"
    broken.write_bytes(b"\x7fELF of another machine")
    broken.chmod(0o755)
    good = says(Path(os.environ["PYENV_ROOT"]) / "versions" / f"{NONE}.1" / "bin" / "python", f"CPython {NONE}.1")

    assert (good, f"{NONE}.1") == interpreter.find(NONE)


@pytest.mark.parametrize(
    "folder", [("PYENV_ROOT", "versions"), ("ASDF_DATA_DIR", "installs/python"), ("MISE_DATA_DIR", "installs/python")]
)
def test_version_managers_are_looked_through(folder: tuple[str, str]) -> None:
    """An interpreter that only a version manager's folder holds is found, the first of several that runs."""
    manager, versions = folder
    home = Path(os.environ[manager], versions)
    program(home / f"{NONE}.2" / "bin" / "python", "exit 1")
    good = says(home / f"{NONE}.1" / "bin" / "python", f"CPython {NONE}.1")
    says(home / "3.9.1" / "bin" / "python", "CPython 3.9.1")

    assert (good, f"{NONE}.1") == interpreter.find(NONE)


def test_a_machine_without_it_gets_one_sentence() -> None:
    """Where there is none and none can be downloaded, one line names the version, the reason and what to do."""
    with pytest.raises(NoInterpreter) as caught:
        interpreter.find(NONE)

    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"no CPython {NONE} on this machine, and none could be downloaded (")
    assert f"`uv python install {NONE}`" in line
