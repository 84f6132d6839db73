"""An interpreter, asked what is installed for it; none of that is imported."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from suite.check.inputs import requirements
from suite.check.inputs.stack import Stack
from suite.errors import BadFile, Failed, Misused, shown

_PATIENCE_S = 60
_PLACES = (Path("bin", "python"), Path("Scripts", "python.exe"), Path("python.exe"))
# Runs under Python 3.8, too. On the path, what is first is what is imported.
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
    """The interpreter of an environment in a folder, where there is one."""
    return next((place / each for each in _PLACES if (place / each).is_file()), None)


def ask(python: Path) -> Stack:
    """What is installed for an interpreter, given as its file or the folder of its environment.

    Raises Misused where that is none, and Failed where it does not answer.
    """
    path = interpreter(python) if python.is_dir() else python
    if path is None:
        raise Misused(f"{shown(python)} is no environment: it has no {' and no '.join(map(str, _PLACES))}")
    env = {name: each for name, each in os.environ.items() if not name.startswith("PYTHON")}
    with TemporaryDirectory() as empty, TemporaryDirectory() as beside:
        out, err = Path(beside, "out"), Path(beside, "err")
        out.touch()
        try:
            # Into files: start-up files print, and what they left behind may hold a pipe open for ever.
            with err.open("wb") as complaint:
                run = subprocess.run(
                    [os.path.abspath(path), "-c", _SCRIPT, str(out)],  # noqa: PTH100  a link in it is the environment
                    cwd=empty, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=complaint,
                    check=False, timeout=_PATIENCE_S,
                )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{shown(path)} does not say within {_PATIENCE_S} s what is installed for it") from error
        except (OSError, ValueError) as error:  # none there, none that runs; a NUL in its name
            reason = getattr(error, "strerror", None) or error
            raise Misused(f"{shown(path)} cannot be run as an interpreter: {reason}") from error
        said = out.read_text(encoding="utf-8", errors="replace")
        why = err.read_text(encoding="utf-8", errors="replace").rstrip().rpartition("\n")[2]
    try:
        answered = json.loads(said)
        found, version = answered["found"], answered["python"]
        pins = [requirements.pin(name, each, path, name) for name, each in found.items()]
        stack = requirements.stack(pins, str(path))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, BadFile) as error:
        ended = f"exit status {run.returncode}"
        raise Failed(f"{shown(path)} does not say what is installed for it: {why[:200] or ended}") from error
    return Stack(stack.versions, stack.where, str(version), stack.unsaid)
