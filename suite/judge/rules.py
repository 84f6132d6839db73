"""A case's rules: what a stack is known to show. Read from the top, the first that matches counts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Protocol, TypeVar

from packaging.requirements import Requirement

from suite.cell.issue import Case, Rule
from suite.spelling import plain_requirement
from suite.stack.beside import BESIDE, LISTED

Pins = Mapping[str, str]

# JAX and what builds on it, in the order in which people name them.
STACK = ("jax", "jaxlib", "equinox", "diffrax", "lineax", "optimistix")
# Which packages of the stack import which: what a case needs, it needs with these.
IMPORTS: Mapping[str, tuple[str, ...]] = {
    "diffrax": ("optimistix", "lineax", "equinox", "jax"),
    "optimistix": ("lineax", "equinox", "jax"),
    "lineax": ("equinox", "jax"),
    "equinox": ("jax",),
}


class AnyRule(Protocol):
    """A line of a case's table, in an issue module or in a report."""

    @property
    def behaviour(self) -> str:
        """What it says is shown."""

    @property
    def on(self) -> str:
        """Where: requirements, apart by spaces."""

    @property
    def evidence(self) -> str:
        """How that is known."""


R = TypeVar("R", bound=AnyRule)


@dataclass(frozen=True)
class Run:
    """What a case did in one cell: one of its behaviours, or its verdict where none was seen."""

    cell: str
    pins: Pins
    behaviour: str


@cache
def requirements(on: str) -> tuple[Requirement, ...]:
    """The requirements of a rule, which stand apart by spaces. Raises ValueError."""
    return tuple(map(plain_requirement, on.split()))


def met(on: str, pins: Pins) -> bool:
    """Whether `pins` meet all requirements of `on`; a package that is not there meets none."""
    return all(
        _admits(on, place, pins[name]) if name in pins else is_there(name, pins)
        for place, name in enumerate(_names(on))
    )


def is_there(name: str, pins: Pins) -> bool:
    """True if a stack has a package: where `pins` do not list everything, it has what cells have beside theirs."""
    return name in pins or (name in BESIDE and LISTED not in pins)


@cache
def _names(on: str) -> tuple[str, ...]:
    return tuple(requirement.name for requirement in requirements(on))


@cache
def _admits(on: str, place: int, version: str) -> bool:
    return requirements(on)[place].specifier.contains(version, prereleases=True)


def first_match(rules: Iterable[R], pins: Pins) -> R | None:
    """The first rule that matches a stack of which every version is known."""
    return next((rule for rule in rules if met(rule.on, pins)), None)


def expected(case: Case, pins: Pins) -> Rule | None:
    """The rule that says what a case is known to show under these pins, if anything is known."""
    return first_match(case.rules, pins)


def in_stack_order(names: Iterable[str]) -> list[str]:
    """Return the names, the stack's first and in its order, then the others by name."""
    return sorted(names, key=lambda name: (STACK.index(name) if name in STACK else len(STACK), name))


def concerned(needs: Iterable[str], rules: Iterable[AnyRule] = ()) -> frozenset[str]:
    """The packages whose versions can matter to a case: what it needs, what those import, and what its rules name."""
    named = {requirement.name for rule in rules for requirement in requirements(rule.on)}
    imported = {each for name in needs for each in (name, *IMPORTS.get(name, ()))}
    return frozenset({"jax", "jaxlib"} | named | imported)
