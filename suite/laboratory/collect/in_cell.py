"""Calls of the collectors' code in a cell."""

from __future__ import annotations

import hashlib
import json
import subprocess
from functools import cache
from typing import Any

from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import PACKAGES, STATE
from jax_stack_compat.environments import probe_call
from jax_stack_compat.stack.plan import Cell
from laboratory.run import environment


def answer(cell: Cell, module: str, *words: str, seconds: int, given: str = "", **variables: str) -> dict[str, Any]:
    """Run a module of `laboratory.cell` in a cell, on its CPU; return the JSON that it prints. Raises Failed, BadFile.

    `given` is its input, and `variables` are variables of its environment.
    """
    with environment.held(cell) as made:
        command = probe_call.command(made.executable, f"laboratory.cell.{module}", *words)
        surroundings = {**probe_call.surroundings(), "JAX_PLATFORMS": "cpu", **variables}
        try:
            ran = subprocess.run(
                command,
                input=given,
                env=surroundings,
                cwd=STATE,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{cell.id}: {module} took more than {seconds} s; finished releases are kept") from error
    if ran.returncode:
        raise Failed(f"{cell.id}: {module} ended with {ran.returncode}: {ran.stderr[-500:]}")
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@cache
def code(room: str) -> str:
    """Return the sha256 of the code in a room of `laboratory.cell`."""
    sources = sorted((PACKAGES / "laboratory" / "cell" / room).glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
