"""`nox -s numbers`: make the calls on releases in their cells, each release once, and write what they return."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from packaging.version import Version

from suite.cell.atomic import write
from suite.cell.machine import cores
from suite.console import Terminal
from suite.errors import Failed
from suite.files import ROOT, STATE, replace_all
from suite.numbers import outcomes, table
from suite.numbers.model import FOLDER
from suite.numbers.outcomes import PATH, PUBLISHED, Outcomes
from suite.run import environment, probe_call
from suite.stack import lock, plan
from suite.stack.plan import Cell

WALKS = STATE / "numbers"
# A quiet core needs three to six minutes.
_SECONDS = 3600
_ONE_CORE = "--xla_cpu_multi_thread_eigen=false"


def publish(cells: Sequence[Cell], *, fresh: bool, console: Terminal) -> None:
    """Make the calls in `cells`, or on every release, and write the files; with `fresh` also where that was done.

    Raises Failed, BadFile, OSError.
    """
    known = Outcomes((), (), {}) if fresh else outcomes.load()
    walks = outcomes.split(known)
    features = set(known.features)
    todo = [cell for cell in cells or wanted() if _release(cell) not in walks]
    with ThreadPoolExecutor(cores()) as pool:
        for number, (cell, walk) in enumerate(zip(todo, pool.map(_walked, todo), strict=True), 1):
            console.print(f"{number}/{len(todo)} {cell.id}: {len(walk['outcomes'])} calls", soft_wrap=True)
            walks[_release(cell)] = walk["outcomes"]
            features.add(" ".join(walk["machine"]["cpu_features"]))
    if len(features) > 1:
        raise Failed("the releases were measured on CPUs with other features: measure all of them here with `--fresh`")
    made = outcomes.join(walks, sorted(features))
    tables = {f"{FOLDER.name}/{name}": text for name, text in table.texts(made).items()}
    replace_all(PUBLISHED, {PATH.name: outcomes.packed(made), **tables})
    console.print(f"{len(made.calls)} calls on {len(made.releases)} releases of jax, {len(todo)} of them measured now")


def wanted() -> list[Cell]:
    """Return the cells of jax's releases, newest first. Raises BadFile."""
    line = [cell for cell in plan.tagged("line") if cell.unavailable is None and cell.moves == "jax"]
    return sorted(line, key=lambda cell: Version(_release(cell)), reverse=True)


def _release(cell: Cell) -> str:
    return lock.load(cell).pins["jax"]


def _walked(cell: Cell) -> Mapping[str, Any]:
    """Return what a release's calls return, from a file if they were made with the same code."""
    path = WALKS / f"{cell.id}.json"
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if found["caller"] == caller():
            return found
    except (OSError, ValueError, KeyError):
        pass
    made = {**_made(cell), "caller": caller()}
    write(path, json.dumps(made, separators=(",", ":")))
    return made


def _made(cell: Cell) -> dict[str, Any]:
    with environment.held(cell) as there:
        command = probe_call.command(there.executable, "suite.cell.numbers.call")
        surroundings = {**probe_call.surroundings(), "JAX_PLATFORMS": "cpu", "XLA_FLAGS": _ONE_CORE}
        try:
            ran = subprocess.run(
                command, env=surroundings, cwd=STATE, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{cell.id}: the calls took more than {_SECONDS} s; finished releases are kept") from error
    if ran.returncode:
        raise Failed(f"{cell.id}: the calls ended with {ran.returncode}: {ran.stderr[-500:]}")
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@cache
def caller() -> str:
    """Return the sha256 of the code that makes the calls, its recipes and inputs."""
    sources = sorted((ROOT / "suite" / "cell" / "numbers").glob("*.*"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
