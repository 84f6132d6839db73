"""The command `nox -s names`: list the names of each release once, in its cell, and write their spans."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from packaging.version import Version

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import STATE, replace_all
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.cell.machine import cores
from jax_stack_compat.names import spans, store
from jax_stack_compat.names.model import FOLDER
from jax_stack_compat.packages import ON_JAX, WALKED
from jax_stack_compat.stack import lock, plan
from jax_stack_compat.stack.plan import Cell
from laboratory.collect import in_cell, released

# Packages whose names are listed in other packages' cells.
_BESIDE = [name for name in WALKED if name not in ON_JAX]
WALKS = STATE / "names"
_SECONDS = 600
Walk = Mapping[str, Any]


def wanted() -> dict[Cell, list[str]]:
    """Return the cells to walk, each with the packages whose version no earlier cell has. Raises BadFile."""
    line = [cell for cell in plan.tagged("line") if cell.unavailable is None]
    found: dict[Cell, list[str]] = {cell: [cell.moves] for cell in line}
    seen = set()
    for cell in line:
        pins = lock.load(cell).pins
        for package in _BESIDE:
            if package in pins and (package, pins[package]) not in seen:
                seen.add((package, pins[package]))
                found[cell].append(package)
    return found


def publish(*, fresh: bool, console: Terminal) -> None:
    """Walk the missing releases, or all with `fresh`, and write the files of names and of needed names.

    Raises Failed, BadFile, OSError.
    """
    is_known = (FOLDER / store.DETAILS).exists() and not fresh
    known = {package: spans.split(names) for package, names in store.detailed().items()} if is_known else {}
    new = collect({package: tuple(walks) for package, walks in known.items()}, console)
    joined = [spans.join(package, {**known.get(package, {}), **new[package]}) for package in WALKED]
    for package, names in zip(WALKED, joined, strict=True):
        count, first, last = len(names.releases), names.releases[0], names.releases[-1]
        told = f"{count} releases, {first} to {last}, {len(new[package])} of them walked now"
        console.print(f"{package}: {told}", soft_wrap=True)
    replace_all(FOLDER, store.files(joined))
    released.publish(console=console)


def collect(known: Mapping[str, tuple[str, ...]], console: Terminal) -> dict[str, dict[str, Walk]]:
    """Return the walks of releases that are not `known`, by package and version. Raises Failed, BadFile.

    Earlier walks on this machine are reused if the walker's code is the same.
    """
    # A cell's packages are walked together, since importing one can add names to another.
    todo = [
        (cell, packages)
        for cell, packages in wanted().items()
        if any(lock.load(cell).pins[each] not in known.get(each, ()) for each in packages)
    ]
    found: dict[str, dict[str, Walk]] = {package: {} for package in WALKED}
    with ThreadPoolExecutor(cores()) as pool:
        for number, walked in enumerate(pool.map(lambda each: _walked(*each), todo), 1):
            cell, packages = todo[number - 1]
            console.print(f"{number}/{len(todo)} {cell.id}: {', '.join(packages)}", soft_wrap=True)
            for package, walk in walked:
                if walk["version"] not in known.get(package, ()):
                    found[package][walk["version"]] = walk
    return {package: dict(sorted(walks.items(), key=lambda each: Version(each[0]))) for package, walks in found.items()}


def _walked(cell: Cell, packages: list[str]) -> list[tuple[str, Walk]]:
    pinned = lock.load(cell)
    paths = {package: WALKS / f"{package}-{pinned.pins[package]}.json" for package in packages}
    if not all(map(_is_current, paths.values())):
        for package, walk in _walk(cell, packages).items():
            write(
                paths[package],
                json.dumps({**walk, "walker": in_cell.code("names")}, separators=(",", ":"), sort_keys=True),
            )
    return [(package, json.loads(path.read_text(encoding="utf-8"))) for package, path in paths.items()]


def _walk(cell: Cell, packages: list[str]) -> dict[str, Walk]:
    found: dict[str, Walk] = in_cell.answer(cell, "names.walk", *packages, seconds=_SECONDS)
    if failed := [f"{package} {walk['fails']}" for package, walk in found.items() if "fails" in walk]:
        raise Failed(f"{cell.id}: cannot walk names: {', '.join(failed)}")
    return found


def _is_current(path: Path) -> bool:
    try:
        found: bool = json.loads(path.read_text(encoding="utf-8"))["walker"] == in_cell.code("names")
    except (OSError, ValueError, KeyError):
        return False
    return found
