"""An issue's module → what of its source a reader copies: each case's own functions, and what those share."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from suite.cell.issue import Case, Issue


def of_case(source: str, case: Case) -> str:
    """The reproducer of a case and its workaround, as they stand in the module's `source`."""
    return _joined(source, _names([case]))


def shared(source: str, issue: Issue) -> str:
    """What the cases' functions use of the module's own: its imports, and helpers, however deep."""
    tree = ast.parse(source)
    own = _names(issue.cases)
    defined = {name: node for node in tree.body for name in _defines(node)}
    used: set[str] = set()
    ahead = [name for name in own if name in defined]
    while ahead:
        found = {each.id for each in ast.walk(defined[ahead.pop()]) if isinstance(each, ast.Name)}
        new = (found & defined.keys()) - used - set(own)
        used |= new
        ahead += sorted(new)
    return _joined(source, used)


def _names(cases: Iterable[Case]) -> list[str]:
    codes = [(case.reproducer, case.workaround.code if case.workaround else None) for case in cases]
    functions = [each for both in codes for each in both if each is not None]
    return list(dict.fromkeys(each.__name__ for each in functions))


def _defines(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(each.asname or each.name).partition(".")[0] for each in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _joined(source: str, names: Collection[str]) -> str:
    """The statements of `source` that define one of `names`, in its order, apart as a formatter has them."""
    lines = source.splitlines()
    found = ""
    before: ast.stmt | None = None
    for node in ast.parse(source).body:
        if not set(names).isdisjoint(_defines(node)):
            tall = any(isinstance(each, ast.FunctionDef | ast.ClassDef) for each in (node, before))
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
            found += ("\n\n" if tall and before else "") + "\n".join(lines[first - 1 : node.end_lineno]) + "\n"
            before = node
    return found
