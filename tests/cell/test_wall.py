"""The walls: what runs in a cell imports the stack alone, the driver never does, and rooms know those above them."""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from suite.files import ROOT

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
def imports(path: Path) -> tuple[tuple[str, bool], ...]:
    """Every module that a file imports, and whether it does so inside a function."""

    def walk(node: ast.AST, inside: bool) -> Iterator[tuple[str, bool]]:
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, inside) for alias in names)
            case ast.ImportFrom(module=module, names=names):
                # A relative one has no package of ours before it, and passes for nothing that is allowed.
                for whole in (f"{module}.{alias.name}" for alias in names):
                    yield (whole if file_of(whole) else str(module)), inside
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                inside = True
        for child in ast.iter_child_nodes(node):
            yield from walk(child, inside)

    return tuple(walk(ast.parse(path.read_text(encoding="utf-8")), inside=False))


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
            todo += [each for each, _ in imports(path)]
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
        for name, _ in imports(path)
        if not (top(name) in sys.stdlib_module_names or top(name) in STACK or file_of(name))
    ]


def test_the_stack_is_imported_inside_functions() -> None:
    """Nothing of the stack is imported as a module is read, so that the driver can read an issue's tables."""
    assert [] == [
        (module_of(path), name)
        for path in cell_side()
        if path not in BENCHMARKS
        for name, inside in imports(path)
        if top(name) in STACK and not inside
    ]


def test_the_cell_side_is_small() -> None:
    """The probe reaches nothing of the driver, not even such of it as needs no library."""
    helpers = [module_of(path) for path in cell_side() if path not in [*ISSUES, *BENCHMARKS]]

    assert {"suite", "suite.cell"} == {".".join(each.split(".")[:2]) for each in helpers}


def test_the_driver_needs_no_jax() -> None:
    """No module of the driver imports anything of the stack, not even inside a function; NumPy it may use."""
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
    """No import leads down the list; what stands at the top imports no room but the vocabulary's."""
    down = set()
    for path in SUITE.rglob("*.py"):
        # A module at the top is a room of its own.
        here = path.relative_to(SUITE).parts[0].removesuffix(".py")
        known = ROOMS.index(here) if here in ROOMS else 1
        rooms = {name.split(".")[1] for name, _ in imports(path) if name.startswith("suite.")} & {*ROOMS[known + 1 :]}
        down |= {f"{module_of(path)} imports {room}" for room in rooms if here not in ABOVE_ALL}
    assert set() == down


def test_every_room_is_in_the_list() -> None:
    """A new folder of suite/ has a place in the order."""
    assert {*ROOMS} == {path.parent.name for path in SUITE.glob("*/__init__.py")}
