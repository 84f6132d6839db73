"""Extracts from an issue's module: the source that a reader copies, and the upstream names that it uses. Pure.

A reproducer runs if it is pasted below the definitions that it uses, including definitions of the oracle.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

from jax_stack_compat.cell import oracle
from jax_stack_compat.cell.issue import Case, Elsewhere, Issue
from jax_stack_compat.packages import PACKAGES
from laboratory.sources.syntax import is_ours


def reached(text: str, functions: Collection[str]) -> list[ast.stmt]:
    """Return the definitions of `functions`, and of everything in the module and the oracle that they use.

    Statements are sorted by the names that they define, whatever their order in the module.
    """
    own = {*functions, *_reached(text, functions)}
    of_oracle = {name for node in _parsed(text).body if is_ours(node) for name in _defines(node)} & own
    # A `__future__` import changes what the same code does.
    imports = (each for each in _parsed(text).body if isinstance(each, ast.ImportFrom))
    found: list[ast.stmt] = [each for each in imports if each.module == "__future__"]
    found += _defining(text, own - of_oracle)
    found += _defining(_oracle(), of_oracle | _reached(_oracle(), of_oracle))
    # The sort is stable, so two definitions of a name keep their order.
    return sorted(found, key=_defines)


def _defining(text: str, names: Collection[str]) -> list[ast.stmt]:
    return [node for node in _parsed(text).body if not set(names).isdisjoint(_defines(node))]


def reproducer(source: str, case: Case) -> str:
    """Return the reproducer of a case, as written in the module's `source`."""
    return _joined(source, [case.reproducer.__name__])


def workaround(source: str, case: Case) -> str:
    """Return the code of a case's workaround, on its example and elsewhere."""
    return _joined(source, _advice(case))


def control(source: str, case: Case) -> str:
    """Return the control of a case."""
    return _joined(source, [case.control.__name__])


def shared(source: str, issue: Issue) -> str:
    """Return the oracle's and the module's imports and helpers that the cases' functions use, directly or not."""
    used = _reached(source, _names(issue.cases))
    ours = {name for node in _parsed(source).body if is_ours(node) for name in _defines(node)}
    helpers = used & ours
    helpers |= _reached(_oracle(), helpers)
    return "\n\n".join(filter(None, [_joined(_oracle(), helpers), _joined(source, used - ours)]))


def touches(source: str, issue: Issue) -> tuple[str, ...]:
    """Return the names, keywords and areas that an issue concerns: its touches, or else the names in its reproducers.

    For example `jax.numpy.pad`, `jax.numpy.pad(constant_values=)`, `control flow`.
    """
    of_cases = {_bare(each) for case in issue.cases for each in case.touches}
    own = {_bare(each) if " if " in each else each for each in issue.touches}
    named = {_bare(each) for each in issue.touches}
    return tuple(sorted({*own, *(of_cases - named)})) or used(source, issue)


def _bare(touch: str) -> str:
    """Return the name in a touch, without parameters and condition."""
    return touch.partition(" if ")[0].partition("(")[0]


def used(source: str, issue: Issue) -> tuple[str, ...]:
    """Return the names and keywords of the stack that reproducers and their helpers use, qualified and sorted."""
    functions = {each.reproducer.__name__ for each in issue.cases}
    functions |= _reached(source, functions)
    nodes = [node for node in _parsed(source).body if functions & set(_defines(node))]
    return tuple(sorted({each for node in nodes for each in _touched(node)}))


def _touched(node: ast.AST) -> Iterator[str]:
    """Yield the functions of the stack, and their keywords, that a definition names through its imports."""
    known: dict[str, str] = {}
    for each in ast.walk(node):
        if isinstance(each, ast.Import):
            for alias in each.names:
                package = alias.name.partition(".")[0]
                if package in PACKAGES:
                    known[alias.asname or package] = alias.name if alias.asname else package
        elif isinstance(each, ast.ImportFrom) and (each.module or "").partition(".")[0] in PACKAGES:
            known |= {alias.asname or alias.name: f"{each.module}.{alias.name}" for alias in each.names}
    modules = {name for name, whole in known.items() if _is_module(whole)}
    inner = {each.value for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute | ast.Name) and each not in inner:
            whole = _qualified(each, known)
            if whole and not (isinstance(each, ast.Name) and each.id in modules):
                yield whole
        if isinstance(each, ast.Call) and (whole := _qualified(each.func, known)):
            yield from (f"{whole}({keyword.arg}=)" for keyword in each.keywords if keyword.arg)


def _is_module(name: str) -> bool:
    """Return True if an imported name is a module, judged by its spelling."""
    return name in PACKAGES or name in ("jax.numpy", "jax.lax", "jax.random", "jax.scipy", "jax.tree_util")


def _qualified(node: ast.expr, known: dict[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in known:
        return ""
    return ".".join([known[node.id], *reversed(parts)])


@cache
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


@cache
def _oracle() -> str:
    return Path(str(oracle.__file__)).read_text(encoding="utf-8")


def _reached(source: str, names: Collection[str]) -> set[str]:
    """Return the module's other definitions that the definitions `names` use, directly or not."""
    defined = {name: node for node in _parsed(source).body for name in _defines(node)}
    used: set[str] = set()
    ahead = [name for name in names if name in defined]
    while ahead:
        new = (_named(defined[ahead.pop()]) & defined.keys()) - used - set(names)
        used |= new
        ahead += sorted(new)
    return used


@cache
def _named(node: ast.stmt) -> frozenset[str]:
    """Return the names in a statement."""
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _names(cases: Iterable[Case]) -> list[str]:
    """Return the names of the functions that pages show: reproducers, workarounds, controls."""
    names: list[str] = []
    for case in cases:
        names += [case.reproducer.__name__, *_advice(case), case.control.__name__]
    return list(dict.fromkeys(names))


def _advice(case: Case) -> list[str]:
    """Return the names of a workaround's functions. The reference for its inputs is no advice."""
    if case.workaround is None:
        return []
    elsewhere = case.workaround.elsewhere
    applied = elsewhere.function if isinstance(elsewhere, Elsewhere) else elsewhere
    functions = (case.workaround.code, applied)
    return list(dict.fromkeys(each.__name__ for each in functions if each is not None))


def _defines(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(each.asname or each.name).partition(".")[0] for each in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _joined(source: str, names: Collection[str]) -> str:
    """Return the statements of `source` that define one of `names`, in order, spaced as a formatter would."""
    lines = source.splitlines()
    found = ""
    before: ast.stmt | None = None
    for node in _parsed(source).body:
        if not set(names).isdisjoint(_defines(node)):
            tall = any(isinstance(each, ast.FunctionDef | ast.ClassDef) for each in (node, before))
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
            found += ("\n\n" if tall and before else "") + "\n".join(lines[first - 1 : node.end_lineno]) + "\n"
            before = node
    return found
