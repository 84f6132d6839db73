"""Code as text that changes only if the code does, for the keys of observations.

Formatting, comments, docstrings and imports of our own modules do not count. This module uses the standard library
alone.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator

_OURS = ("jax_stack_compat", "laboratory")
# Fields that differ between Pythons, or that do not change how code runs.
_IGNORED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


def canonical(node: object) -> str:
    """Return a syntax tree as text, the same for every Python and every formatting."""
    if isinstance(node, ast.Constant):
        value = node.value
        # The escapes of `repr` depend on Python's Unicode version.
        return f"{type(value).__name__} {json.dumps(value) if isinstance(value, str) else repr(value)}"
    if isinstance(node, ast.AST):
        return f"({type(node).__name__}{''.join(_canonical_fields(node))})"
    if isinstance(node, list):
        return f"[{' '.join(canonical(each) for each in node)}]"
    return repr(node)


def _canonical_fields(node: ast.AST) -> Iterator[str]:
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(value, list):
            value = _body(node, value)
        # A field that another Python lacks, such as `type_params`, is empty.
        if name not in _IGNORED and value is not None and value != []:
            yield f" {name}={canonical(value)}"


def _body(node: ast.AST, statements: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements that run, without a docstring and without imports of our own modules."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
        statements = statements[1:]
    return [each for each in statements if not (is_ours(each) or isinstance(each, ast.Pass))]


def is_ours(node: ast.stmt) -> bool:
    """Return True if a statement imports from our own modules."""
    return isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _OURS
