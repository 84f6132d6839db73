"""Hashes of the sources of programs: of the code that compiles and counts, and of each definition.

The first hash belongs to a release, the second to a program: if a workload is new or changed, only its program is
compiled. The code in `benchmarks` is read as text, not imported, since it imports jax.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping

from jax_stack_compat.base.files import ROOT

RECIPE = ("benchmarks/_program.py", "benchmarks/_program_counts.py", "benchmarks/programs/h100.txtpb")
TABLES = ("benchmarks/_program_workloads.py", "benchmarks/_program_cases.py")


def recipe() -> str:
    """Return a hash of the code that compiles and counts programs."""
    return hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in RECIPE)).hexdigest()


def programs() -> dict[str, str]:
    """Return a hash of each program's definition, by name: its row without the title, and everything the row names."""
    return of_tables("\n".join((ROOT / name).read_text(encoding="utf-8") for name in TABLES))


def of_tables(text: str) -> dict[str, str]:
    """Return the same hashes for a text with the tables: `NAME = {"name": Workload(title, …)}`."""
    body = ast.parse(text).body
    named = {name: node for node in body for name in _names(node)}
    tables = [node.value for node in body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)]
    rows: dict[str, list[ast.AST]] = {
        str(key.value): [*row.args[1:], *row.keywords]
        for table in tables
        for key, row in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(row, ast.Call)
    }
    return {name: _hash(text, made, named) for name, made in rows.items()}


def _hash(text: str, made: list[ast.AST], named: Mapping[str, ast.stmt]) -> str:
    """Return a hash of the text of expressions and of everything that they name, directly or not."""
    reached, todo = {}, list(made)
    while todo:
        for each in ast.walk(todo.pop()):
            name = each.id if isinstance(each, ast.Name) else ""
            if name in named and name not in reached:
                reached[name] = named[name]
                todo.append(named[name])
    # The source text, not ast.unparse, whose output differs between Pythons.
    whole = [ast.get_source_segment(text, each) or "" for each in (*made, *(reached[name] for name in sorted(reached)))]
    return hashlib.sha256("\n".join(whole).encode()).hexdigest()[:16]


def _names(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (each.id for each in node.targets if isinstance(each, ast.Name))
