"""The optimised HLO of programs that were compiled here, and what differs between those of two releases."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from suite.errors import Misused
from suite.programs import compiling
from suite.programs.targets import Target


def diff(target: Target, before: str, after: str, workload: str) -> Iterator[str]:
    """The lines of a unified diff. Raises Misused where one of the two was not compiled in this state folder."""
    old, new = (_text(target, cell, workload).splitlines() for cell in (before, after))
    names = [f"{cell} {workload} ({target.title})" for cell in (before, after)]
    yield from unified_diff(old, new, names[0], names[1], lineterm="")


def _text(target: Target, cell: str, workload: str) -> str:
    path = compiling.TEXTS / f"{cell}+{target.id}" / f"{workload}.hlo.txt"
    if not path.exists():
        raise Misused(
            f"no program of {workload} on {cell} for {target.device} is kept here: `python -m suite programs {cell} "
            f"--target {target.id} --fresh` compiles it"
        )
    return path.read_text(encoding="utf-8")
