"""A user's installed stack on a machine with an accelerator: its cell of the line, and its device.

Cells are builds for the CPU. If a user's jax is a build for a GPU or a TPU, asv measures that installation. The results
are filed under the device's name, as the release of the line with the same jax, Equinox and Diffrax.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jax_stack_compat.base.errors import Misused
from jax_stack_compat.base.files import dump
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.environments import probe_call
from jax_stack_compat.packages import ASKED
from jax_stack_compat.stack import lock
from jax_stack_compat.stack.plan import Cell
from laboratory.timings import release_line, results
from laboratory.timings.results import slug

_ASK = """
import importlib.metadata, json, platform, sys, jax
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "missing"
print(json.dumps({
    "versions": {name: version(name) for name in sys.argv[1:]},
    "python": platform.python_version(), "platform": jax.default_backend(),
    "kind": jax.devices()[0].device_kind, "count": jax.local_device_count(),
}))
"""


@dataclass(frozen=True)
class Existing:
    """A user's interpreter: the cell of the line with the same stack, and the device that jax sees."""

    executable: Path
    python: str
    cell: Cell
    versions: Mapping[str, str]
    platform: str
    kind: str
    count: int

    @property
    def name(self) -> str:
        """The machine's name in results: `gpu-nvidia-h200-x1`."""
        return f"{self.platform}-{slug(self.kind)}-x{self.count}"


def find(python: Path) -> Existing:
    """Return an interpreter's stack. Raises Misused if it is not a release of the line, or cannot be measured."""
    told = _asked_of_jax(python, [python, "-c", _ASK, *ASKED, "asv-runner"])
    if told["versions"].pop("asv-runner") == "missing":
        raise Misused(f"asv measures in {python}, and needs its runner there: {python} -m pip install asv-runner")
    return Existing(executable=python, cell=like(told["versions"]), **told)


def _asked_of_jax(python: Path, command: Sequence[str | Path]) -> dict[str, Any]:
    """Run a command that imports jax with a user's interpreter; return the JSON in its last line. Raises Misused."""
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, env=probe_call.surroundings(), timeout=300, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Misused(f"{python} does not run: {error}") from error
    if ran.returncode:
        said = (ran.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise Misused(f"{python} has no working jax: {said}")
    try:
        told = json.loads(ran.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        told = None
    if not isinstance(told, dict):
        raise Misused(f"{python} is not a working Python: it printed {ran.stdout[-100:]!r}")
    return told


def like(versions: Mapping[str, str]) -> Cell:
    """Return the last cell of the line with these versions. Raises Misused with the versions of a similar cell."""
    pins = {cell: lock.load(cell).pins for cell in release_line.cells()}
    same = [cell for cell, of in pins.items() if all(of[name] == versions[name] for name in ASKED)]
    if same:
        return same[-1]
    near = [of for of in pins.values() if of["jax"] == versions["jax"]] or [*pins.values()]
    raise Misused(f"no release of the line has {named(versions)}: one release has {named(near[-1])}")


def named(versions: Mapping[str, str]) -> str:
    """Return the packages that identify a stack, with their versions."""
    return " ".join(f"{name}=={versions[name]}" for name in ASKED)


def keep(made: Path, kept: Path, machine: str, python: str) -> None:
    """Copy asv's results of a machine to the kept results, under a name without private paths. Raises BadFile."""
    for name in ("benchmarks.json", f"{machine}/machine.json"):
        write(kept / name, (made / name).read_text(encoding="utf-8"))
    for path in (made / machine).glob("*-existing*.json"):
        found = results.load(path)
        found |= {"env_name": "existing", "python": python, "params": {**found["params"], "python": python}}
        place = kept / machine / f"{found['commit_hash'][:8]}-existing.json"
        before = results.load(place)
        if before.get("result_columns") == found["result_columns"]:
            found["results"] = {**before["results"], **found["results"]}
        write(place, dump(found))
