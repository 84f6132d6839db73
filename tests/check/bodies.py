"""The functions of all cases as programs, and what `check` says of each on the newest release that shows its symptom.

The touches are the tree's; rules and runs are the published ones.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.check.finding import LEVELS, Level
from jax_stack_compat.check.knowledge import Knowledge, KnownCase, KnownIssue
from jax_stack_compat.check.source import lacks
from jax_stack_compat.check.source.conditions import is_dead
from jax_stack_compat.check.source.touched import Concern, methods
from jax_stack_compat.check.source.tree import MARKS, usage
from jax_stack_compat.check.source.uses import Usage, Use
from jax_stack_compat.judge.metadata import parsed
from jax_stack_compat.judge.rules import Run
from jax_stack_compat.judge.verdicts import goes_wrong
from jax_stack_compat.packages import GUESTS, HELD, MODULES
from laboratory.sources import source

GUESTS_MODULES = frozenset(MODULES[name] for name in GUESTS)
PARTS = ("reproducer", "workaround", "control")


@dataclass(frozen=True)
class Body:
    """A function of a case, as a program, and the stack on which `check` is asked about it."""

    area: str
    issue: str
    case: str
    part: str
    code: str
    pins: tuple[tuple[str, str], ...]
    behaviour: str
    touches: tuple[str, ...]
    known: KnownCase = field(compare=False)

    @property
    def name(self) -> str:
        """The ids of its issue and its case."""
        return f"{self.issue}/{self.case}"


def area(entry: Entry) -> str:
    """Return the folder of an issue's module."""
    return entry.source.parent.name


def text_of(entry: Entry) -> str:
    """Return the text of an issue's module."""
    return _text(entry.source)


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def bodies(known: Knowledge) -> Iterator[Body]:
    """Yield the functions of each case that goes wrong somewhere; row zero has none."""
    for entry in catalogue.entries():
        issue = entry.issue
        shared = source.touches(text_of(entry), issue)
        for case in () if issue.row_zero else issue.cases:
            of = known.cases.get((issue.id, case.id))
            run = newest(of) if of else None
            if of is None or run is None:
                continue
            for part, function in zip(PARTS, functions(case), strict=True):
                if function is not None:
                    code = program(text_of(entry), function.__name__, case)
                    there = (*run.pins.items(),), run.behaviour
                    yield Body(area(entry), issue.id, case.id, part, code, *there, case.touches or shared, of)


def functions(case: Case) -> tuple[Callable[..., Any] | None, ...]:
    """Return a case's reproducer, the code of its workaround, and its control. Advice without code has no function."""
    advice = case.workaround.code if case.workaround else None
    return case.reproducer, advice, case.control


def newest(case: KnownCase) -> Run | None:
    """Return the run on the newest stack on which a case goes wrong."""
    bad = [run for run in case.runs if goes_wrong(case.verdict(run.behaviour))]
    return max(bad, key=_age, default=None)


def _age(run: Run) -> list[Any]:
    return [parsed(run.pins.get(name, "0")) for name in HELD]


def program(text: str, name: str, case: Case) -> str:
    """Return the body of a function as a program, below the settings of its case and the helpers that it uses."""
    settings = [f"os.environ[{key!r}] = {value!r}" for key, value in case.environment.items()]
    settings = ["import os", *settings] if settings else []
    if case.x64:
        settings += ["import jax", "jax.config.update('jax_enable_x64', True)"]
    return _program(text, name, "\n".join(settings))


@cache
def _program(text: str, name: str, settings: str) -> str:
    first, above, body = list[str](), list[str](), list[str]()
    for node in _reached(text, name):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            # Without its docstring. The parsed module is shared, so the change is made in a copy.
            body = [ast.unparse(_Ends().visit(each)) for each in deepcopy(node).body[1:]]
        else:
            is_first = isinstance(node, ast.ImportFrom) and node.module == "__future__"
            (first if is_first else above).append(ast.unparse(node))
    return "\n".join([*first, settings, *above, *body]) + "\n"


def _reached(text: str, name: str) -> list[ast.stmt]:
    """Return the definitions that a function uses; those that it only names like a local variable are left out."""
    found = source.reached(text, [name])
    named = {of: node for node in found for of in _defines(node)}
    used, ahead = {name}, [name]
    while ahead:
        inner = [each for each in ast.walk(named[ahead.pop()]) if isinstance(each, ast.Name)]
        stored = {each.id for each in inner if isinstance(each.ctx, ast.Store)}
        new = (({each.id for each in inner} - stored) & named.keys()) - used
        used |= new
        ahead += sorted(new)
    return [node for node in found if not used.isdisjoint(_defines(node)) or isinstance(node, ast.ImportFrom)]


def _defines(node: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(each.asname or each.name).partition(".")[0] for each in node.names]
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]


class _Ends(ast.NodeTransformer):
    """Replaces what a function returns by the end of the program."""

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        said = node.value or ast.Constant(None)
        return ast.Raise(ast.Call(ast.Name("SystemExit", ast.Load()), [said], []), None)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef  # type: ignore[assignment]


def levels(of: Sequence[Body], folder: Path) -> Mapping[Body, Level | None]:
    """Return the worst level at which each body meets its case, or fails for certain; None if `check` is silent."""
    files: dict[str, str] = {}
    for body in of:
        files.setdefault(body.code, f"body_{len(files)}.py")
    for code, name in files.items():
        (folder / name).write_text(code, encoding="utf-8")
    uses: dict[str, list[Use]] = {}
    told = methods(_knowledge(replace(body.known, touches=body.touches) for body in of))
    for use in usage(folder, told).everything:
        uses.setdefault(use.place.path.rpartition("/")[2], []).append(use)
    return {body: _level(body, uses.get(files[body.code], [])) for body in of}


def _level(body: Body, uses: Sequence[Use]) -> Level | None:
    pins = dict(body.pins)
    here = tuple(use for use in uses if not is_dead(use.guards, pins))
    marks = frozenset(MARKS[word] for word in re.findall(r"\w+", body.code) if word in MARKS)
    case = replace(body.known, touches=body.touches)
    plain = tuple(use for use in here if use.how != "method" and use.package not in GUESTS_MODULES)
    names = Usage(plain, (), 1, marks).told
    found: list[Level] = [
        "certain" if met.certain else "likely" if met.likely else "possible"
        for met in Concern(here, names, _knowledge([case])).met(case, body.behaviour)
    ]
    found += [each.level for each in lacks.findings(plain, pins) if each.level == "certain" and not each.guarded]
    return min(found, key=LEVELS.index, default=None)


def _knowledge(cases: Iterable[KnownCase]) -> Knowledge:
    """Return the knowledge of these cases, each in an issue of its own."""
    issues = (KnownIssue(f"{n}", "", "", False, (), (), (case,)) for n, case in enumerate(cases))
    return Knowledge("", {}, tuple(issues))
