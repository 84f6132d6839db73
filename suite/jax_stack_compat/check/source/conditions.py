"""Conditions of code on a release, such as `hasattr(jax, "shard_map")`, and their values on a release."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypeAlias

from packaging.version import Version

from jax_stack_compat.names import query

Kind: TypeAlias = Literal["text", "numbers", "version"]


class Holds(Enum):
    """A condition's value on a release: `FREE` if it does not depend on the release, `UNKNOWN` if not followed.

    A value is also a condition: one with the same value on all releases.
    """

    YES = True
    NO = False
    FREE = "free"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Has:
    """`hasattr` of one of these modules and a name."""

    of: tuple[str, ...]
    name: str


@dataclass(frozen=True)
class VersionTest:
    """A package's version, compared as text, as a tuple of numbers, or as a version."""

    package: str
    kind: Kind
    sign: str
    to: str | tuple[int, ...]


@dataclass(frozen=True)
class Not:
    """The negation of a condition."""

    of: Condition


@dataclass(frozen=True)
class All:
    """Several conditions, joined by `and`."""

    of: tuple[Condition, ...]


@dataclass(frozen=True)
class AnyOf:
    """Several conditions, joined by `or`."""

    of: tuple[Condition, ...]


@dataclass(frozen=True)
class Mixed:
    """Conditions in an expression that is not followed."""

    of: tuple[Condition, ...]


@dataclass(frozen=True)
class Named:
    """A condition that another module of the project names."""

    origin: str


Condition: TypeAlias = Holds | Has | VersionTest | Not | All | AnyOf | Mixed | Named
FREE, UNKNOWN, NEVER = Holds.FREE, Holds.UNKNOWN, Holds.NO
SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}


def holds(condition: Condition, versions: Mapping[str, str]) -> Holds:
    """Return the value of a condition on a stack of these versions. Raises BadFile."""
    match condition:
        case Has(of, name):
            return _has(of, name, versions)
        case VersionTest(package):
            return _compared(condition, versions[package]) if package in versions else Holds.UNKNOWN
        case Holds():
            return condition
        case Not(of):
            return {Holds.YES: Holds.NO, Holds.NO: Holds.YES}.get(value := holds(of, versions), value)
        case All(of):
            return _first(of, versions, (Holds.NO, Holds.UNKNOWN, Holds.FREE, Holds.YES))
        case AnyOf(of):
            return _first(of, versions, (Holds.YES, Holds.UNKNOWN, Holds.FREE, Holds.NO))
        case Mixed(of):
            return Holds.UNKNOWN if any(holds(each, versions) is not Holds.FREE for each in of) else Holds.FREE
        case Named():
            return Holds.FREE


def excludes(guards: Sequence[Condition], versions: Mapping[str, str]) -> bool:
    """Return True if code under these conditions does not, or may not, run on a release. Raises BadFile."""
    return any(holds(guard, versions) in (Holds.NO, Holds.UNKNOWN) for guard in guards)


def is_dead(guards: Sequence[Condition], versions: Mapping[str, str]) -> bool:
    """Return True if code under these conditions is known not to run on a release. Raises BadFile."""
    return any(holds(guard, versions) is Holds.NO for guard in guards)


def asks(condition: Condition) -> bool:
    """Return True if a condition depends on the release."""
    match condition:
        case Holds():
            return condition is not FREE
        case Not(of):
            return asks(of)
        case All(of) | AnyOf(of) | Mixed(of):
            return any(map(asks, of))
    return True


def _first(of: Sequence[Condition], versions: Mapping[str, str], order: Sequence[Holds]) -> Holds:
    return min((holds(each, versions) for each in of), key=order.index)


def _has(of: Sequence[str], name: str, versions: Mapping[str, str]) -> Holds:
    found = set()
    for module in of:
        package = module.partition(".")[0]
        known = query.has(f"{module}.{name}", versions[package]) if package in versions else None
        found.add({True: Holds.YES, False: Holds.NO, None: Holds.UNKNOWN}[known])
    return found.pop() if len(found) == 1 else Holds.UNKNOWN


def _compared(condition: VersionTest, version: str) -> Holds:
    here: object = version
    to: object = condition.to
    if condition.kind == "version":
        here, to = Version(version), Version(str(condition.to))
    elif condition.kind == "numbers":
        here = Version(version).release
    return Holds(SIGNS[condition.sign](here, to))
