"""The issues, read from the folder that holds them: each `ISSUE` in a module of `suite.issues`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from packaging.requirements import InvalidRequirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from suite import issues as folder
from suite.cell.issue import Case, Issue
from suite.errors import BadFile, Fault, Misused, nearest
from suite.judge import rules
from suite.judge.verdicts import GIVEN
from suite.stack import releases
from suite.stack.matrix import Runs
from suite.stack.plan import Cell


@dataclass(frozen=True)
class Entry:
    """An issue, the module it is in, and that module's source."""

    issue: Issue
    module: str
    source: Path


@cache
def entries() -> tuple[Entry, ...]:
    """Every issue: row zero first, then by name. Raises BadFile with every fault in the tables."""
    names = sorted(each.name for each in pkgutil.iter_modules(folder.__path__))
    read = [entry(f"{folder.__name__}.{name}") for name in names]
    found = tuple(sorted(read, key=lambda each: not each.issue.row_zero))
    if wrong := [fault for each in found for fault in faults(each)]:
        raise BadFile(wrong)
    return found


def entry(module: str) -> Entry:
    """The issue in `module`."""
    loaded = importlib.import_module(module)
    return Entry(loaded.ISSUE, module, Path(str(loaded.__file__)))


def identified(identifier: str) -> str:
    """The id of an issue, if it is one. Raises Misused with the nearest names, and BadFile."""
    known = [each.issue.id for each in entries()]
    if identifier not in known:
        raise Misused(f"no issue {identifier!r}; {nearest(identifier, known)}")
    return identifier


def select(identifiers: list[str], *, headlines: bool = False) -> tuple[Entry, ...]:
    """The issues with these ids, or all where none is named; with `headlines`, only the first case of each.

    Raises Misused with the nearest names, and BadFile.
    """
    wanted = [identified(each) for each in identifiers]
    chosen = [each for each in entries() if not wanted or each.issue.id in wanted]
    return tuple(narrowed(each, [each.issue.cases[0].id]) if headlines else each for each in chosen)


def narrowed(entry: Entry, identifiers: Collection[str]) -> Entry:
    """The issue as if these of its cases were all that it has."""
    cases = tuple(case for case in entry.issue.cases if case.id in identifiers)
    return replace(entry, issue=replace(entry.issue, cases=cases))


def cases(entry: Entry, cell: Cell) -> tuple[Case, ...]:
    """The cases of an issue that are run in a cell."""
    return tuple(case for case in entry.issue.cases if concerns(cell.runs, case.needs, row_zero=entry.issue.row_zero))


def concerns(runs: Runs, needs: Collection[str], *, row_zero: bool) -> bool:
    """Whether a case with these `needs`, of row zero or not, is run in a cell that runs this.

    Most arms ask about the libraries that they hold: what jax does by itself, its own release's cell shows.
    """
    if runs == "libraries":
        return not {"jax", "jaxlib"}.issuperset(needs)
    return runs == "all" or row_zero


def faults(found: Entry) -> list[Fault]:
    """What is wrong in an issue's tables."""
    issue, wrong = found.issue, []

    def say(key: str, message: str) -> None:
        wrong.append(Fault(found.source, key, message))

    if not issue.cases:
        say("cases", "there are none")
    ids = [case.id for case in issue.cases]
    for twice in sorted({each for each in ids if ids.count(each) > 1}):
        say("cases", f"{twice!r} stands there twice")
    for case in issue.cases:
        for key, message in _of_case(case):
            say(f"{case.id}.{key}", message)
    return wrong


def _of_case(case: Case) -> Iterator[tuple[str, str]]:
    for name in case.signatures:
        if name not in case.behaviours:
            yield "signatures", f"{name!r} is not among the behaviours"
        elif name in GIVEN.values():
            yield "signatures", f"{name!r} is for the probe to give"
    for number, rule in enumerate(case.rules):
        if rule.behaviour not in case.behaviours:
            yield f"rules.{number}", f"{rule.behaviour!r} is not among the behaviours"
        yield from _of_requirements(f"rules.{number}", rule.on)
        if not rule.on and number + 1 < len(case.rules):
            yield f"rules.{number}", "it matches every stack, and there are more behind it"
    if case.workaround is not None:
        if case.workaround.pin and (case.workaround.code or case.workaround.environment):
            yield "workaround", "it is a pin, and code or environment too"
        yield from _of_requirements("workaround.pin", case.workaround.pin)
        for number, on in enumerate(case.workaround.fails):
            yield from _of_requirements(f"workaround.fails.{number}", on)
    for name in case.needs:
        if name not in releases.PACKAGES:
            yield "needs", f"{name!r} is not one of {', '.join(releases.PACKAGES)}"
    try:
        SpecifierSet(case.python)
    except InvalidSpecifier as error:
        yield "python", str(error)


def _of_requirements(key: str, on: str) -> Iterator[tuple[str, str]]:
    try:
        for requirement in rules.requirements(on):
            if requirement.name not in releases.PACKAGES:
                yield key, f"{requirement.name!r} is not of the stack"
    except InvalidRequirement as error:
        yield key, str(error).splitlines()[0]
