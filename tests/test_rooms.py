"""The rooms of suite/, in the order in which they may know of each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from suite.files import ROOT

# What a room imports stands above it. Modules at the top serve all rooms, and know of none but `cell`.
ORDER = (
    *("cell", "issues", "stack", "judge", "catalogue", "records", "run", "names", "check", "bisect"),
    *("programs", "timings", "report", "upkeep"),
)
SUITE = ROOT / "suite"
# They call every room.
ABOVE_ALL = {"__main__", "commands"}


def room(path: Path) -> str:
    """Return the room that a module is in; a module at the top is one of its own."""
    return path.relative_to(SUITE).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """Yield the rooms that a module imports, at its top or in a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("suite."))


def test_a_room_imports_only_rooms_above_it() -> None:
    """No import leads down the list; what stands at the top imports no room but the vocabulary's."""
    down = set()
    for path in SUITE.rglob("*.py"):
        here = room(path)
        for other in imported(path):
            known = ORDER.index(here) if here in ORDER else 1
            if here not in ABOVE_ALL and other in ORDER and ORDER.index(other) > known:
                down.add(f"{path.relative_to(ROOT)} imports {other}")
    assert set() == down


def test_every_room_is_in_the_list() -> None:
    """A new folder of suite/ has a place in the order."""
    assert set(ORDER) == {path.parent.name for path in SUITE.glob("*/__init__.py")}
