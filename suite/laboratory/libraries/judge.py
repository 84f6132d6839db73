"""What the runs of a library show, by release: works, does not import, or is without some of its modules. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from packaging.utils import canonicalize_name

from laboratory.libraries.records import Failure, Record

Behaviour = Literal["works", "does-not-import", "without-modules", "task-fails", "crashes", "excluded"]
# An attribute that a module lacks, a name that cannot be imported from it, a missing module, and a removed name.
_NEEDS = (
    re.compile(r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'"),
    re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'"),
    re.compile(r"No module named '(?P<module>[\w.]+)'"),
    re.compile(r": (?P<module>[a-z]\w*(?:\.\w+)*)\.(?P<name>\w+) (?:was|is|has been) (?:deprecated|removed)"),
)
_MOST_MODULES = 5


@dataclass(frozen=True)
class Shown:
    """What a library did beside a release of a package.

    `error` is the first failure, `needs` the name that it lacks, `place` the line of code that raised, and `by` the
    other package that has this line. `modules` are the modules that do not import.
    """

    behaviour: Behaviour
    error: str = ""
    needs: str = ""
    place: str = ""
    by: str = ""
    modules: tuple[str, ...] = ()


def shown(records: Sequence[Record], module: str) -> Mapping[tuple[str, str], Shown]:
    """Return what the records of one release of a library show, by package and version.

    A module that imports nowhere, or a task that works nowhere, tells nothing about the stack, and does not count.
    """
    whole = [record for record in records if _imports(record, module)]
    never = frozenset.intersection(*(_broken(record) for record in whole)) if whole else frozenset()
    has_task = any(record.task is None and not record.ended for record in whole)
    return {(record.package, record.version): _shown(record, module, never, has_task=has_task) for record in records}


def _shown(record: Record, module: str, never: frozenset[str], *, has_task: bool) -> Shown:
    if record.conflict:
        return Shown("excluded", error=record.conflict)
    is_part = record.during.startswith("import ") and record.during != f"import {module}"
    if record.ended and not is_part:
        return Shown("crashes", error=f"{record.ended}, in {record.during}")
    if record.failures and record.failures[0].name == module:
        return _failed("does-not-import", record, record.failures[0])
    if record.task and has_task:
        return _failed("task-fails", record, record.task)
    broken = [one for one in record.failures if one.name in _broken(record) - never]
    if broken:
        return _failed("without-modules", record, broken[0], [one.name for one in broken])
    return Shown("works")


def _imports(record: Record, module: str) -> bool:
    is_root = bool(record.failures) and record.failures[0].name == module
    return not record.conflict and not is_root and record.during != f"import {module}"


def _broken(record: Record) -> frozenset[str]:
    """Return the modules that do not import, unless for a package that is not installed."""
    return frozenset(failure.name for failure in record.failures if not failure.lacks)


def _failed(behaviour: Behaviour, record: Record, failure: Failure, modules: Iterable[str] = ()) -> Shown:
    return Shown(
        behaviour,
        error=failure.error,
        needs=needed(failure.error),
        place=failure.place,
        by=_by(record, failure.place),
        modules=tuple(modules)[:_MOST_MODULES],
    )


def needed(error: str) -> str:
    """Return the name that an error says is missing, as `jax.core.Effects`; empty if it says none."""
    for pattern in _NEEDS:
        if match := pattern.search(error):
            found = match.groupdict()
            return ".".join(filter(None, (found["module"], found.get("name"))))
    return ""


def _by(record: Record, place: str) -> str:
    """Return the other package with the line that raised, as `distrax 0.1.5`; empty for the library's own code."""
    package = canonicalize_name(place.partition("/")[0])
    if package == record.library or package not in record.pins:
        return ""
    return f"{package} {record.pins[package]}"
