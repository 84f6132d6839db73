"""A case's rules, and what any stack is expected to show by them and by the runs around it. Pure.

Rules are read from the top, and the first that matches counts. Where the version of a package is not known, a
requirement on it is undetermined: then every rule that might be the first is a possible outcome, and the answer stands
only where all of them agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol, TypeVar

from packaging.requirements import Requirement
from packaging.version import Version

from suite.cell.issue import Case, Rule

Pins = Mapping[str, str]
How = Literal["run", "by rule", "between", "unknown"]

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


class AnyCase(Protocol):
    """What a prediction asks of a case, in an issue module or in a report."""

    @property
    def needs(self) -> Sequence[str]:
        """The packages that it imports."""

    @property
    def rules(self) -> Sequence[AnyRule]:
        """Its table."""


R = TypeVar("R", bound=AnyRule)


@dataclass(frozen=True)
class Run:
    """What a case did in one cell: one of its behaviours, or its verdict where none was seen."""

    cell: str
    pins: Pins
    behaviour: str


@dataclass(frozen=True)
class Prediction:
    """What a stack is expected to show, and how that is known; `behaviour` is None only where it is unknown.

    `run`: `runs` are of this very stack, and `rules` those that say the same of it. `by rule`: `rules` say so, and
    `runs` are the nearest in jax under the same rules, at most one on each side. `between`: `runs` are the two
    neighbours in `package`, with all else alike.
    """

    behaviour: str | None
    how: How
    runs: tuple[Run, ...] = ()
    rules: tuple[AnyRule, ...] = ()
    package: str = ""


@cache
def requirements(on: str) -> tuple[Requirement, ...]:
    """The requirements of a rule, which stand apart by spaces. Raises InvalidRequirement."""
    return tuple(map(Requirement, on.split()))


def met(on: str, pins: Pins, *, all_known: bool = True) -> bool | None:
    """Whether `pins` meet all requirements of `on`; None where that takes a version that is not known.

    Where `all_known`, a package without a version is not there, and meets none.
    """
    undetermined = False
    for place, requirement in enumerate(requirements(on)):
        version = pins.get(requirement.name)
        if version is None and not all_known:
            undetermined = True
        elif version is None or not _admits(on, place, version):
            return False
    return None if undetermined else True


@cache
def _admits(on: str, place: int, version: str) -> bool:
    return requirements(on)[place].specifier.contains(version, prereleases=True)


@cache
def _version(text: str) -> Version:
    return Version(text)


def first_match(rules: Iterable[R], pins: Pins) -> R | None:
    """The first rule that matches a stack of which every version is known."""
    return next((each for each in rules if met(each.on, pins)), None)


def expected(case: Case, pins: Pins) -> Rule | None:
    """The rule that says what a case is known to show under these pins, if anything is known."""
    return first_match(case.rules, pins)


def possible(rules: Iterable[R], versions: Pins) -> tuple[R | None, ...]:
    """The rules that may be the first to match, whatever the unknown versions are; None where it may be none."""
    found: list[R | None] = []
    for each in rules:
        answer = met(each.on, versions, all_known=False)
        if answer is not False:
            found.append(each)
        if answer:
            return tuple(found)
    return (*found, None)


def concerned(needs: Iterable[str], rules: Iterable[AnyRule] = ()) -> frozenset[str]:
    """The packages whose versions can matter to a case: what it needs, what those import, and what its rules name."""
    named = {requirement.name for each in rules for requirement in requirements(each.on)}
    imported = {each for name in needs for each in (name, *IMPORTS.get(name, ()))}
    return frozenset({"jax", "jaxlib"} | named | imported)


def blocks(imports: Prediction, case: AnyCase) -> bool:
    """Whether row zero's own prediction has a package not import that `case` needs."""
    if imports.behaviour != "import-error":
        return False
    named = {requirement.name for each in imports.rules for requirement in requirements(each.on)} - {"jax", "jaxlib"}
    return bool(named & concerned(case.needs))


def predict(case: AnyCase, versions: Pins, runs: Sequence[Run]) -> Prediction:
    """What `case` is expected to show with these versions, of any packages; what is not among them is not known.

    Never from a run with another jax, unless a rule carries it over.
    """
    matter = concerned(case.needs, case.rules)
    # What the case needs must be known; what that imports may be what an installer gives beside it.
    known = {"jax", *case.needs} - {"jaxlib"} <= versions.keys()
    here = [each for each in runs if known and _alike(each, versions, matter)]
    outcomes = possible(case.rules, versions)
    says = {each and each.behaviour for each in outcomes}
    if len({each.behaviour for each in here}) == 1 and len(says) == 1:
        seen = here[0].behaviour
        said = [first_match(case.rules, each.pins) for each in here]
        same = tuple(each for each in case.rules if each in said and each.behaviour == seen)
        return Prediction(seen, "run", tuple(here), same)
    rules = tuple(each for each in outcomes if each is not None)
    if len(says) == 1 and rules:
        nearest = _nearest(case, rules, versions, runs)
        if all(each.behaviour == rules[0].behaviour for each in nearest):
            return Prediction(rules[0].behaviour, "by rule", nearest, rules)
        return Prediction(None, "unknown", nearest, rules)
    between = _between(versions, matter, runs) if known and not rules else None
    return between or Prediction(None, "unknown", (), rules)


def _alike(run: Run, versions: Pins, matter: Iterable[str]) -> bool:
    """Whether a run had all versions that are known of the packages that matter."""
    return all(_same(run.pins.get(name), versions[name]) for name in matter if name in versions)


def _same(one: str | None, other: str) -> bool:
    return one is not None and _version(one) == _version(other)


def _nearest(case: AnyCase, rules: Sequence[AnyRule], versions: Pins, runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs under the same rules that are nearest in jax, the one below or level and the one above."""
    if "jax" not in versions:
        return ()
    jax = _version(versions["jax"])
    of = [(_version(each.pins["jax"]), each) for each in runs if first_match(case.rules, each.pins) in rules]

    def alike(run: Run) -> int:
        return sum(_same(run.pins.get(name), version) for name, version in versions.items())

    below = max((each for each in of if each[0] <= jax), key=lambda each: (each[0], alike(each[1])), default=None)
    above = min((each for each in of if each[0] > jax), key=lambda each: (each[0], -alike(each[1])), default=None)
    return tuple(each[1] for each in (below, above) if each is not None)


def _between(versions: Pins, matter: frozenset[str], runs: Sequence[Run]) -> Prediction | None:
    """What the neighbours on both sides agree on, in the versions of one package and with everything else alike."""
    found: list[Prediction] = []
    for package in sorted(matter & versions.keys() - {"jax"}):
        here = _version(versions[package])
        beside = [each for each in runs if package in each.pins and _alike(each, versions, matter - {package})]
        places = {_version(each.pins[package]) for each in beside}
        below = max((each for each in places if each < here), default=None)
        above = min((each for each in places if each > here), default=None)
        sides = [each for each in beside if _version(each.pins[package]) in (below, above)]
        alike = (_alike(each, {**sides[0].pins, package: each.pins[package]}, matter) for each in sides)
        if below is None or above is None or not all(alike):
            continue
        if len({each.behaviour for each in sides}) > 1:
            return None
        found.append(Prediction(sides[0].behaviour, "between", tuple(sides), (), package))
    return found[0] if len({each.behaviour for each in found}) == 1 else None
