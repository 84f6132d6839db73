"""Import rules: cell code imports only the stack, the driver never does, and folders import only those above them."""

import ast
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from jax_stack_compat.base.files import PACKAGES, ROOT
from jax_stack_compat.packages import MODULES

# Import names; only some cells have guests.
STACK = {*MODULES.values()}
ISSUES = sorted(ROOT.glob("suite/jax_stack_compat/issues/**/*.py"))
BENCHMARKS = sorted(ROOT.glob("benchmarks/**/*.py"))
# A room may import only rooms above it; a module beside the rooms is a room of its own.
ROOMS = (
    *("jax_stack_compat", "jax_stack_compat.cell", "jax_stack_compat.issues"),
    *("jax_stack_compat.base", "jax_stack_compat.packages", "jax_stack_compat.stack", "jax_stack_compat.judge"),
    *("jax_stack_compat.catalogue", "jax_stack_compat.names", "jax_stack_compat.numbers"),
    *("jax_stack_compat.environments", "jax_stack_compat.libraries", "jax_stack_compat.check"),
    *("jax_stack_compat.command_table", "jax_stack_compat.command_line", "jax_stack_compat.__main__"),
    *("laboratory", "laboratory.cores", "laboratory.cell", "laboratory.boundaries", "laboratory.sources"),
    *("laboratory.records", "laboratory.run", "laboratory.collect", "laboratory.bisect", "laboratory.programs"),
    *(
        "laboratory.timings",
        "laboratory.orders",
        "laboratory.report",
        "laboratory.upkeep",
        "laboratory.libraries",
        "laboratory.cli",
        "laboratory.__main__",
    ),
)
# Run without site-packages.
IMPORT_CELL_SIDE = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
print(len(sys.argv[2:]))
"""


@cache
def imports(path: Path) -> list[str]:
    """Return every module that a file imports, also inside functions."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                found += [alias.name for alias in names]
            case ast.ImportFrom(module=module, names=names):
                # A relative import names no package of this project, so it counts as not allowed.
                whole = [f"{module}.{alias.name}" for alias in names]
                found += [name if file_of(name) else str(module) for name in whole]
    return found


@cache
def file_of(name: str) -> Path | None:
    """Return the file of a dotted name, if it is a module or package of this project."""
    for folder in (PACKAGES, ROOT):
        path = folder.joinpath(*name.split("."))
        found = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if found.exists():
            return found
    return None


def module_of(path: Path) -> str:
    """Return the dotted name of a file of this project."""
    folder = PACKAGES if path.is_relative_to(PACKAGES) else ROOT
    return ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")


def top(name: str) -> str:
    """Return the package of a module."""
    return name.partition(".")[0]


def reached(paths: Iterable[Path]) -> list[Path]:
    """Return these files, all modules that they import, directly or not, and the packages of these modules."""
    found: set[Path] = set()
    todo = [module_of(path) for path in paths]
    while todo:
        name = todo.pop()
        if (path := file_of(name)) and path not in found:
            found.add(path)
            todo += imports(path)
            todo += [name.rpartition(".")[0]] if "." in name else []
    return sorted(found)


PROBE = PACKAGES / "jax_stack_compat" / "cell" / "probe.py"


@cache
def cell_side() -> list[Path]:
    """Return every file that is imported in a cell."""
    return reached([PROBE, *ISSUES, *BENCHMARKS, *PACKAGES.glob("*/cell/**/*.py")])


def test_the_cell_side_imports_the_stack_alone() -> None:
    """Cell-side code imports only the standard library, the stack and cell-side code."""
    assert [] == [
        (module_of(path), name)
        for path in cell_side()
        for name in imports(path)
        if not (top(name) in sys.stdlib_module_names or top(name) in STACK or file_of(name))
    ]


def test_the_cell_side_is_small() -> None:
    """The probe does not import driver code, directly or not, even code without libraries."""
    helpers = [module_of(path) for path in cell_side() if path not in [*ISSUES, *BENCHMARKS]]

    assert {
        *("jax_stack_compat", "jax_stack_compat.cell", "laboratory", "laboratory.cell"),
    } == {room(each) for each in helpers}


def test_the_driver_needs_no_jax() -> None:
    """No driver module imports the stack, even inside a function, except NumPy."""
    driver = {*ROOT.glob("suite/**/*.py")} - {*cell_side()}

    assert {
        ROOT / "suite/jax_stack_compat/judge/verdicts.py",
        ROOT / "suite/laboratory/run/cell_run.py",
        ROOT / "suite/laboratory/report/folder/write.py",
    } <= driver
    assert [] == [
        (module_of(path), name) for path in driver for name in imports(path) if top(name) in STACK - {"numpy", "scipy"}
    ]


def test_the_cell_side_needs_only_the_standard_library() -> None:
    """All code of cells but the benchmarks is imported by an interpreter that has no packages at all."""
    names = [module_of(path) for path in cell_side() if path not in BENCHMARKS]

    run = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", "-c", IMPORT_CELL_SIDE, str(PACKAGES), *names],
        capture_output=True,
        text=True,
        check=False,
    )

    # A module of the corpus prints as it is imported.
    assert (f"{len(names)}", "") == (run.stdout.splitlines()[-1], run.stderr)


def room(module: str) -> str:
    """Return the room of a module: the first two parts of its name."""
    return ".".join(module.split(".")[:2])


def test_a_room_imports_only_rooms_above_it() -> None:
    """No room imports one below it in the list, so the product never imports the laboratory."""
    down = set()
    for path in PACKAGES.rglob("*.py"):
        here = ROOMS.index(room(module_of(path)))
        there = {room(name) for name in imports(path)} & {*ROOMS[here + 1 :]}
        down |= {f"{module_of(path)} imports {name}" for name in there}
    assert set() == down


def test_every_room_is_in_the_list() -> None:
    """A new room has a place in the order."""
    assert {*ROOMS} == {room(module_of(path)) for path in PACKAGES.rglob("*.py")}
