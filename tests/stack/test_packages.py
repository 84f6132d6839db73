"""The table of packages: adding a package is one edit."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from jax_stack_compat.base.files import PACKAGES as SOURCES
from jax_stack_compat.cell import probe
from jax_stack_compat.packages import HELD, IMPORTS, MODULES, PACKAGES

NAMES = {*HELD, *MODULES.values()}
# So many of the names are a list.
MANY = 4
EXCEPTIONS = {
    "jax_stack_compat/packages.py": "the table",
    "jax_stack_compat/cell/probe.py": "the copy of the cell side, which is compared with the table",
}


def test_a_package_builds_on_lower_layers() -> None:
    """Imports lead down the layers."""
    down = [PACKAGES[name].layer - PACKAGES[below].layer for name, of in IMPORTS.items() for below in of]

    assert all(steps > 0 for steps in down)


def test_the_probe_has_the_packages_of_the_table() -> None:
    """The probe's copy has all packages of the stack, by layer, each after those that it imports."""
    assert sorted(PACKAGES) == sorted(probe.STACK)
    assert sorted(probe.STACK, key=lambda name: PACKAGES[name].layer) == [*probe.STACK]


def test_adding_a_package_is_one_edit() -> None:
    """No other file of the driver lists packages, not even a script of the pages."""
    assert {*EXCEPTIONS} == {str(path.relative_to(SOURCES)) for path in files() if len({*named(path)} & NAMES) >= MANY}


def files() -> Iterator[Path]:
    """Yield the suite's modules, without the issues, and the scripts of its pages."""
    yield from (path for path in SOURCES.rglob("*.py") if "issues" not in path.parts)
    yield from SOURCES.rglob("*.js")


def named(path: Path) -> Iterator[str]:
    """Yield the words of texts that a file's code has, if they are package names only."""
    code = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        yield from re.findall(r"""["'`]([\w-]+)["'`]""", code)
        return
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAMES.issuperset(node.value.split()):
            yield from node.value.split()
