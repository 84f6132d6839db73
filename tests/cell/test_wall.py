"""Import rules: cell code imports only the stack, the driver never does, and folders import only those above them."""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from suite.files import ROOT
from suite.stack.packages import MODULES

# Import names; only some cells have guests.
STACK = {*MODULES.values()}
ISSUES = sorted(ROOT.glob("suite/issues/**/*.py"))
BENCHMARKS = sorted(ROOT.glob("benchmarks/**/*.py"))
# A folder may import only folders above it. Top-level modules serve all folders, and import only `cell`.
ROOMS = (
    *("cell", "issues", "stack", "judge", "catalogue", "records", "run", "names", "numbers", "check", "bisect"),
    *("programs", "timings", "report", "upkeep"),
)
SUITE = ROOT / "suite"
# These call every folder.
ABOVE_ALL = {"__main__", "commands"}
# Run without site-packages.
IMPORT_CELL_SIDE = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
print(len(sys.argv[2:]))
"""


@cache
def imports(path: Path) -> tuple[tuple[str, bool], ...]:
    """Yield every module that a file imports, and True if the import is inside a function."""

    def walk(node: ast.AST, inside: bool) -> Iterator[tuple[str, bool]]:
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, inside) for alias in names)
            case ast.ImportFrom(module=module, names=names):
                # A relative import names no package of this project, so it counts as not allowed.
                for whole in (f"{module}.{alias.name}" for alias in names):
                    yield (whole if file_of(whole) else str(module)), inside
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                inside = True
        for child in ast.iter_child_nodes(node):
            yield from walk(child, inside)

    return tuple(walk(ast.parse(path.read_text(encoding="utf-8")), inside=False))


@cache
def file_of(name: str) -> Path | None:
    """Return the file of a dotted name, if it is a module or package of this project."""
    path = ROOT.joinpath(*name.split("."))
    found = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return found if found.exists() else None


def module_of(path: Path) -> str:
    """Return the dotted name of a file of this project."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


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
            todo += [each for each, _ in imports(path)]
            todo += [name.rpartition(".")[0]] if "." in name else []
    return sorted(found)


PROBE = ROOT / "suite" / "cell" / "probe.py"


@cache
def cell_side() -> list[Path]:
    """Return every file that is imported in a cell."""
    return reached([PROBE, *ISSUES, *BENCHMARKS, *ROOT.glob("suite/cell/**/*.py")])


def test_the_cell_side_imports_the_stack_alone() -> None:
    """Cell-side code imports only the standard library, the stack and cell-side code."""
    assert [] == [
        (module_of(path), name)
        for path in cell_side()
        for name, _ in imports(path)
        if not (top(name) in sys.stdlib_module_names or top(name) in STACK or file_of(name))
    ]


def test_the_stack_is_imported_inside_functions() -> None:
    """Reading an issue module does not import the stack, so the driver can read its tables."""
    assert [] == [
        (module_of(path), name)
        for path in cell_side()
        if path not in BENCHMARKS
        for name, inside in imports(path)
        if top(name) in STACK and not inside
    ]


def test_the_cell_side_is_small() -> None:
    """The probe does not import driver code, directly or not, even code without libraries."""
    helpers = [module_of(path) for path in cell_side() if path not in [*ISSUES, *BENCHMARKS]]

    assert {"suite", "suite.cell"} == {".".join(each.split(".")[:2]) for each in helpers}


def test_the_driver_needs_no_jax() -> None:
    """No driver module imports the stack, even inside a function, except NumPy."""
    driver = {*ROOT.glob("suite/**/*.py")} - {*cell_side()}

    assert {ROOT / "suite/judge/verdicts.py", ROOT / "suite/run/cell_run.py", ROOT / "suite/report/write.py"} <= driver
    assert [] == [
        (module_of(path), name)
        for path in driver
        for name, _ in imports(path)
        if top(name) in STACK - {"numpy", "scipy"}
    ]


def test_the_cell_side_needs_only_the_standard_library() -> None:
    """The probe and the issues are imported by an interpreter that has no packages at all."""
    names = [module_of(path) for path in reached([PROBE, *ISSUES])]

    run = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", "-c", IMPORT_CELL_SIDE, str(ROOT), *names],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (f"{len(names)}\n", "") == (run.stdout, run.stderr)


def test_a_room_imports_only_rooms_above_it() -> None:
    """No folder imports one below it in the list; top-level modules import only `cell`."""
    down = set()
    for path in SUITE.rglob("*.py"):
        # A top-level module counts as a folder of its own.
        here = path.relative_to(SUITE).parts[0].removesuffix(".py")
        known = ROOMS.index(here) if here in ROOMS else 1
        rooms = {name.split(".")[1] for name, _ in imports(path) if name.startswith("suite.")} & {*ROOMS[known + 1 :]}
        down |= {f"{module_of(path)} imports {room}" for room in rooms if here not in ABOVE_ALL}
    assert set() == down


def test_every_room_is_in_the_list() -> None:
    """A new folder of suite/ has a place in the order."""
    assert {*ROOMS} == {path.parent.name for path in SUITE.glob("*/__init__.py")}
