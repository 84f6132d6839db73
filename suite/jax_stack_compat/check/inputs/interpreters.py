"""The packages installed for an interpreter; they are listed, not imported."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from jax_stack_compat.base.errors import BadFile, Failed, Misused, shown
from jax_stack_compat.base.places import is_file, is_folder
from jax_stack_compat.check.inputs import foreign, requirements
from jax_stack_compat.check.inputs.stack import Stack

_PATIENCE_S = 60
_PLACES = (Path("bin", "python"), Path("Scripts", "python.exe"), Path("python.exe"))
_INSTALLED = ("lib/python*/site-packages/*.dist-info", "Lib/site-packages/*.dist-info")
# The standard library, uv and virtualenv name it differently.
_VERSION = re.compile(r"^version(?:_info)?[ ]?=[ ]?(\d{1,3}(?:\.\d{1,5}){1,2})", re.MULTILINE)
# This program also runs under Python 3.8. The first distribution on the path is the one imported.
_SCRIPT = """
import json, re, sys
from importlib import metadata
found = {}
for each in metadata.distributions():
    try:
        said = each.metadata
        name, version = said["Name"], said["Version"]
        if isinstance(name, str) and isinstance(version, str):
            found.setdefault(re.sub("[-_.]+", "-", name).lower(), version)
    except Exception:
        pass
with open(sys.argv[1], "w") as stream:
    json.dump({"python": "%d.%d.%d" % sys.version_info[:3], "found": found}, stream)
"""


def interpreter(place: Path) -> Path | None:
    """Return the interpreter of an environment in a folder, if there is one."""
    return next((place / each for each in _PLACES if is_file(place / each)), None)


def listed(folder: Path) -> Stack:
    """Return what is installed in an environment of a project, by the names of folders: nothing in it runs.

    A pull request can bring an environment along, and with it any interpreter. Raises BadFile.
    """
    # An environment may be a link to a folder elsewhere. No text of its files is shown.
    place = Path(os.path.realpath(folder))
    named = [path.stem.partition("-") for pattern in _INSTALLED for path in sorted(place.glob(pattern))]
    pins = [requirements.pin(name, version, folder, name) for name, _, version in named]
    settings = place / "pyvenv.cfg"
    python = _VERSION.search(foreign.text(settings)) if is_file(settings) else None
    return replace(requirements.stack(pins, str(folder)), python=python[1] if python else "")


def ask(python: Path) -> Stack:
    """Return what is installed for an interpreter, given as its file or its environment's folder.

    Raises Misused if it is not an interpreter, and Failed if it does not answer.
    """
    path = interpreter(python) if is_folder(python) else python
    if path is None:
        raise Misused(f"{shown(python)} is not an environment: it has no {' and no '.join(map(str, _PLACES))}")
    env = {name: each for name, each in os.environ.items() if not name.startswith("PYTHON")}
    with TemporaryDirectory() as empty, TemporaryDirectory() as beside:
        out, err = Path(beside, "out"), Path(beside, "err")
        out.touch()
        try:
            # Use files, not pipes: start-up code may print, or leave a process that holds a pipe open for ever.
            with err.open("wb") as complaint:
                run = subprocess.run(
                    [os.path.abspath(path), "-c", _SCRIPT, str(out)],  # noqa: PTH100  resolving a link would leave the environment
                    cwd=empty, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=complaint,
                    check=False, timeout=_PATIENCE_S,
                )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{shown(path)} did not list its packages within {_PATIENCE_S} s") from error
        except (OSError, ValueError) as error:  # missing, or not executable; a NUL in its name
            reason = getattr(error, "strerror", None) or error
            raise Misused(f"{shown(path)} cannot be run as an interpreter: {reason}") from error
        said = out.read_text(encoding="utf-8", errors="replace")
        why = err.read_text(encoding="utf-8", errors="replace").rstrip().rpartition("\n")[2]
    try:
        answered = json.loads(said)
        found, version = answered["found"], answered["python"]
        pins = [requirements.pin(name, each, path, name) for name, each in found.items()]
        return replace(requirements.stack(pins, str(path)), python=str(version))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, BadFile) as error:
        ended = f"exit status {run.returncode}"
        raise Failed(f"{shown(path)} did not list its packages: {why[:200] or ended}") from error
