"""The issues, read from the folder that holds them: each `ISSUE` in a module of `suite.issues`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from packaging.requirements import InvalidRequirement, Requirement

from suite import issues as folder
from suite.cell.issue import Case, Issue
from suite.errors import BadFile, Fault, Misused, nearest
from suite.stack import releases
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
    names = [each.name for each in pkgutil.iter_modules(folder.__path__)]
    names.sort(key=lambda name: (name != "stack_smoke", name))
    found = tuple(entry(f"{folder.__name__}.{name}") for name in names)
    if wrong := [fault for each in found for fault in faults(each)]:
        raise BadFile(wrong)
    return found


def entry(module: str) -> Entry:
    """The issue in `module`."""
    loaded = importlib.import_module(module)
    return Entry(loaded.ISSUE, module, Path(str(loaded.__file__)))


def select(identifiers: list[str], *, headlines: bool = False) -> tuple[Entry, ...]:
    """The issues with these ids, or all where none is named; with `headlines`, only the first case of each.

    Raises Misused with the nearest names, and BadFile.
    """
    known = {each.issue.id: each for each in entries()}
    for identifier in identifiers:
        if identifier not in known:
            raise Misused(f"no issue {identifier!r}; {nearest(identifier, known)}")
    chosen = [each for each in known.values() if not identifiers or each.issue.id in identifiers]
    return tuple(narrowed(each, [each.issue.cases[0].id]) if headlines else each for each in chosen)


def narrowed(entry: Entry, identifiers: Collection[str]) -> Entry:
    """The issue as if these of its cases were all that it has."""
    cases = tuple(case for case in entry.issue.cases if case.id in identifiers)
    return replace(entry, issue=replace(entry.issue, cases=cases))


def cases(entry: Entry, cell: Cell) -> tuple[Case, ...]:
    """The cases of an issue that are run in a cell."""
    return tuple(case for case in entry.issue.cases if concerns(cell.kind, case.needs))


def concerns(kind: Literal["line", "arm"], needs: Collection[str]) -> bool:
    """Whether a case with these `needs` is run in a cell of this kind.

    An arm asks about the libraries that it holds: what jax does by itself, its own release's cell shows.
    """
    return kind == "line" or not {"jax", "jaxlib"}.issuperset(needs)


def faults(found: Entry) -> list[Fault]:
    """What is wrong in an issue's tables."""
    issue, wrong = found.issue, []

    def say(key: str, message: str) -> None:
        wrong.append(Fault(found.source, key, message))

    if issue.id.replace("-", "_") != found.source.stem:
        say("id", f"{issue.id!r} does not go with the file's name")
    if not issue.cases:
        say("cases", "there are none")
    ids = [case.id for case in issue.cases]
    for twice in sorted({each for each in ids if ids.count(each) > 1}):
        say("cases", f"{twice!r} stands there twice")
    for case in issue.cases:
        for number, expectation in enumerate(case.expectations):
            key = f"{case.id}.expectations.{number}"
            if expectation.behaviour not in case.behaviours:
                say(key, f"{expectation.behaviour!r} is not among the behaviours")
            for text in expectation.on:
                try:
                    requirement = Requirement(text)
                except InvalidRequirement as error:
                    say(key, str(error).splitlines()[0])
                    continue
                if requirement.name not in (*releases.STACK, *releases.PULLED_IN):
                    say(key, f"{requirement.name!r} is not of the stack")
        for name in case.needs:
            if name not in releases.STACK:
                say(f"{case.id}.needs", f"{name!r} is not one of {', '.join(releases.STACK)}")
    return wrong
