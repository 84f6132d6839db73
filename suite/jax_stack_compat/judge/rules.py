"""A case's rules, which give the expected behaviour of a stack; the first match from the top counts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple, Protocol, TypeVar

from packaging.requirements import Requirement

from jax_stack_compat.base.spelling import plain_requirement
from jax_stack_compat.cell.issue import Case, Rule
from jax_stack_compat.packages import BESIDE, IMPORTS, LISTED, STACK

Pins = Mapping[str, str]

_PLACES = {name: place for place, name in enumerate(STACK)}


class AnyRule(Protocol):
    """A rule of an issue module or of a report."""

    @property
    def behaviour(self) -> str:
        """The behaviour that the rule expects."""

    @property
    def on(self) -> str:
        """The requirements under which the rule matches, separated by spaces."""

    @property
    def evidence(self) -> str:
        """The evidence for the rule."""


R = TypeVar("R", bound=AnyRule)


class Run(NamedTuple):
    """A case's behaviour in one cell, or its verdict if it showed none of its behaviours.

    A tuple is created fast, and `check` creates tens of thousands.
    """

    cell: str
    pins: Pins
    behaviour: str


@cache
def requirements(on: str) -> tuple[Requirement, ...]:
    """Parse the requirements of a rule, which are separated by spaces. Raises ValueError."""
    return tuple(map(plain_requirement, on.split()))


def met(on: str, pins: Pins) -> bool:
    """Return True if `pins` meet all requirements in `on`; an absent package meets none."""
    return all(
        _admits(on, place, pins[name]) if name in pins else is_there(name, pins)
        for place, name in enumerate(_names(on))
    )


def is_there(name: str, pins: Pins) -> bool:
    """Return True if a stack has a package; an incomplete list of pins counts as having absl-py and flatbuffers."""
    return name in pins or (name in BESIDE and LISTED not in pins)


@cache
def _names(on: str) -> tuple[str, ...]:
    return tuple(requirement.name for requirement in requirements(on))


@cache
def _admits(on: str, place: int, version: str) -> bool:
    return requirements(on)[place].specifier.contains(version, prereleases=True)


def first_match(rules: Iterable[R], pins: Pins) -> R | None:
    """Return the first rule that matches a stack whose versions are all known, or None."""
    return next((rule for rule in rules if met(rule.on, pins)), None)


def expected(case: Case, pins: Pins) -> Rule | None:
    """Return the rule that matches a case under these pins, or None."""
    return first_match(case.rules, pins)


def in_stack_order(names: Iterable[str]) -> list[str]:
    """Return the names: the stack's, in its order, then the others, sorted."""
    return sorted(names, key=lambda name: (_PLACES.get(name, len(_PLACES)), name))


def concerned(needs: Iterable[str], rules: Iterable[AnyRule] = ()) -> frozenset[str]:
    """Return the packages that can matter to a case: its needs, their imports, and the packages that its rules name."""
    named = {requirement.name for rule in rules for requirement in requirements(rule.on)}
    imported = {each for name in needs for each in (name, *IMPORTS.get(name, ()))}
    return frozenset({"jax", "jaxlib"} | named | imported)
