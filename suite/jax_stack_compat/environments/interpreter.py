"""A search for a CPython of the version that the cells pin.

The first `python3.12` on PATH may be a version manager's shim that does not run. So every candidate is run, and the
version managers' own folders are searched. uv comes last, since it may download an interpreter.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from jax_stack_compat.base.files import HOME
from jax_stack_compat.stack import uv_call

_ASK = "import platform; print(platform.python_implementation(), platform.python_version())"
# The variables that decide where an interpreter is found.
_DECIDE = (
    *("PATH", "HOME", "PYENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR"),
    *("UV_PYTHON_INSTALL_DIR", "UV_PYTHON_DOWNLOADS", "UV_OFFLINE"),
)


class NoInterpreter(Exception):
    """The machine has no such interpreter and cannot download one; the message names the version and the next step."""


def find(version: str) -> tuple[Path, str]:
    """Return a CPython `version` ("3.12") that runs, and its full version ("3.12.1"). Raises NoInterpreter."""
    found = looked_for(version, tuple(os.environ.get(name) for name in _DECIDE))
    if isinstance(found, str):
        raise NoInterpreter(found)
    return found


@cache
def looked_for(version: str, _surroundings: tuple[str | None, ...]) -> tuple[Path, str] | str:
    """Return the interpreter, or why there is none. Cached, since many cells may lack the same interpreter."""
    for candidate in _candidates(version):
        if (full := _runs(candidate, version)) is not None:
            return candidate, full
    # Without retries: without a network, uv would retry for each cell.
    run = uv_call.run("python", "install", "--quiet", version, UV_HTTP_RETRIES="0")
    found = _uv_find(version)
    if found is not None and (full := _runs(found, version)) is not None:
        return found, full
    why = run.stderr.strip().splitlines()[-1].strip() if run.stderr.strip() else "uv found none to download"
    return (
        f"no CPython {version} on this machine, and none could be downloaded ({why}): install one, by your system's "
        f"package manager or with `uv python install {version}`, and run this again"
    )


def _candidates(version: str) -> Iterator[Path]:
    for name in (f"python{version}", "python3", "python"):
        for folder in os.get_exec_path():
            if found := shutil.which(name, path=folder):
                yield Path(found)
    managers = (
        Path(os.environ.get("PYENV_ROOT", HOME / ".pyenv"), "versions"),
        Path(os.environ.get("ASDF_DATA_DIR", HOME / ".asdf"), "installs", "python"),
        Path(os.environ.get("MISE_DATA_DIR", HOME / ".local/share/mise"), "installs", "python"),
    )
    for manager in managers:
        yield from sorted(manager.glob(f"{version}.*/bin/python"), reverse=True)
    if (found_by_uv := _uv_find(version)) is not None:
        yield found_by_uv


def _uv_find(version: str) -> Path | None:
    # --quiet would hide the answer. Without --system, uv would find an active environment's interpreter.
    run = uv_call.run("python", "find", "--system", "--managed-python", "--no-python-downloads", version)
    return Path(run.stdout.strip()) if run.returncode == 0 and run.stdout.strip() else None


def _runs(candidate: Path, version: str) -> str | None:
    """Return the full version of `candidate` if it is a CPython of this version that runs."""
    # Settings for the Python that runs this process do not apply to the candidate.
    env = uv_call.surroundings()
    try:
        # Isolated and in an empty folder: the current one may be a project with a `platform.py`.
        with TemporaryDirectory() as empty:
            run = subprocess.run(
                [candidate, "-I", "-c", _ASK],
                capture_output=True, text=True, timeout=30, check=False, env=env, cwd=empty,
            )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = run.stdout.split()
    if run.returncode or len(words) != 2 or words[0] != "CPython" or not words[1].startswith(f"{version}."):
        return None
    return words[1]
