"""The walls: what runs in a cell imports the stack alone, the driver never does, and rooms know those above them."""

import ast
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from suite.files import ROOT
from tests.processes import python

STACK = {"jax", "jaxlib", "equinox", "diffrax", "optimistix", "lineax", "jaxtyping", "numpy", "scipy"}
# By the names that they are imported by; a cell has them where it holds them.
STACK |= {"numpyro", "tensorflow_probability", "haiku", "flax", "optax", "blackjax", "e3nn_jax"}
ISSUES = sorted(ROOT.glob("suite/issues/**/*.py"))
BENCHMARKS = sorted(ROOT.glob("benchmarks/**/*.py"))
# What a room imports stands above it. Modules at the top serve all rooms, and know of none but `cell`.
ROOMS = (
    *("cell", "issues", "stack", "judge", "catalogue", "records", "run", "names", "numbers", "check", "bisect"),
    *("programs", "timings", "report", "upkeep"),
)
SUITE = ROOT / "suite"
CELL_SIDE = ("suite.cell", "suite.issues", "benchmarks")
# They call every room.
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
def imports(path: Path) -> frozenset[str]:
    """Every module that a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=module, names=names):
                # A relative one has no package of ours before it, and passes for nothing that is allowed.
                found |= {whole if file_of(whole := f"{module}.{alias.name}") else str(module) for alias in names}
    return frozenset(found)


@cache
def file_of(name: str) -> Path | None:
    """The file of a dotted name, if that is a module or a package of ours."""
    path = ROOT.joinpath(*name.split("."))
    found = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return found if found.exists() else None


def module_of(path: Path) -> str:
    """The dotted name of a file of ours."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def top(name: str) -> str:
    """The package that a module is of."""
    return name.partition(".")[0]


def reached(paths: Iterable[Path]) -> list[Path]:
    """These files of ours, and all that they import, and that those import, with the packages that those are in."""
    found: set[Path] = set()
    todo = [module_of(path) for path in paths]
    while todo:
        name = todo.pop()
        if (path := file_of(name)) and path not in found:
            found.add(path)
            todo += imports(path)
            todo += [name.rpartition(".")[0]] if "." in name else []
    return sorted(found)


PROBE = ROOT / "suite" / "cell" / "probe.py"


@cache
def cell_side() -> list[Path]:
    """Every file that is imported in a cell."""
    return reached([PROBE, *ISSUES, *BENCHMARKS, *ROOT.glob("suite/cell/**/*.py")])


def test_the_cell_side_imports_the_stack_alone() -> None:
    """Cell-side code imports only the standard library, the stack and cell-side code."""
    assert [] == [
        (module_of(path), name)
        for path in cell_side()
        for name in imports(path)
        if not (top(name) in sys.stdlib_module_names or top(name) in STACK or name.startswith(CELL_SIDE))
    ]


def test_the_driver_needs_no_jax() -> None:
    """No module of the driver imports anything of the stack, not even inside a function; NumPy it may use."""
    driver = {*ROOT.glob("suite/**/*.py")} - {*cell_side()}

    assert {ROOT / "suite/judge/verdicts.py", ROOT / "suite/run/cell_run.py", ROOT / "suite/report/write.py"} <= driver
    assert [] == [
        (module_of(path), name) for path in driver for name in imports(path) if top(name) in STACK - {"numpy", "scipy"}
    ]


def test_the_cell_side_needs_only_the_standard_library() -> None:
    """All but benchmarks is imported by an interpreter without packages: the stack is imported inside functions."""
    names = [module_of(path) for path in cell_side() if path not in BENCHMARKS]

    run = python("-I", "-S", "-W", "error", "-c", IMPORT_CELL_SIDE, str(ROOT), *names)

    assert (f"{len(names)}\n", "") == (run.stdout, run.stderr)


def test_a_room_imports_only_rooms_above_it() -> None:
    """No import leads down the list; what stands at the top imports no room but the vocabulary's."""
    down = set()
    for path in SUITE.rglob("*.py"):
        # A module at the top is a room of its own.
        here = path.relative_to(SUITE).parts[0].removesuffix(".py")
        known = ROOMS.index(here) if here in ROOMS else 1
        rooms = {name.split(".")[1] for name in imports(path) if name.startswith("suite.")} & {*ROOMS[known + 1 :]}
        down |= {f"{module_of(path)} imports {room}" for room in rooms if here not in ABOVE_ALL}
    assert set() == down


def test_every_room_is_in_the_list() -> None:
    """A new folder of suite/ has a place in the order."""
    assert {*ROOMS} == {path.parent.name for path in SUITE.glob("*/__init__.py")}
