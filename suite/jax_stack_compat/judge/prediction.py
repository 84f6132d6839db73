"""Predictions for any stack, by a case's rules and the nearest runs. Pure.

The page's rules.js does the same; a test compares the two.

If the version of a package is unknown, a requirement on it is undetermined. Then every rule that might match first is a
possible outcome, and the prediction is unknown unless all outcomes agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol

from packaging.version import Version

from jax_stack_compat.judge.metadata import parsed
from jax_stack_compat.judge.rules import AnyRule, Pins, Run, concerned, first_match, is_there, met, requirements
from jax_stack_compat.judge.verdicts import goes_wrong
from jax_stack_compat.judge.wording import named
from jax_stack_compat.packages import BESIDE, IMPORTS

# The ids of an issue and of a case.
Name = tuple[str, str]


class AnyCase(Protocol):
    """A case of an issue module or of a report, as far as predictions need it."""

    @property
    def needs(self) -> Sequence[str]:
        """The packages that the case imports."""

    @property
    def rules(self) -> Sequence[AnyRule]:
        """The case's table of rules."""

    @property
    def behaviours(self) -> Mapping[str, str]:
        """The verdict on each behaviour that the case can show."""

    @property
    def waits_for(self) -> Sequence[str]:
        """The cases that must be clear first, as `issue/case`."""


@dataclass(frozen=True)
class Prediction:
    """The behaviour that a stack is expected to show, None if unknown, with its runs and rules.

    `run`: `runs` are of this stack. `by rule`: `rules` decide, and `runs` have the nearest versions of jax under the
    same rules, at most one on each side. `between`: `runs` are the neighbours in one package, with all other packages
    alike.
    """

    behaviour: str | None
    how: Literal["run", "by rule", "between", "unknown"]
    runs: tuple[Run, ...] = ()
    rules: tuple[AnyRule, ...] = ()


def predict(case: AnyCase, versions: Pins, runs: Sequence[Run]) -> Prediction:
    """Return the expected behaviour of `case`. Runs with another jax never decide, but rules do."""
    # Without runs, skip the comparison: this function is called thousands of times.
    matter = concerned(case.needs, case.rules) if runs else frozenset[str]()
    # The case's needs must have known versions; an installer may choose the packages that these import.
    known = {"jax", *case.needs} - {"jaxlib"} <= versions.keys()
    here = _alike(runs, versions, matter) if known else []
    outcomes = _possible(case.rules, versions)
    says = {outcome and outcome.behaviour for outcome in outcomes}
    if len({each.behaviour for each in here}) == 1 and len(says) == 1:
        seen = here[0].behaviour
        said = [first_match(case.rules, each.pins) for each in here]
        same = tuple(rule for rule in case.rules if rule in said and rule.behaviour == seen)
        return Prediction(seen, "run", tuple(here), same)
    rules = tuple(outcome for outcome in outcomes if outcome is not None)
    if len(says) == 1 and rules:
        under = [run for run in runs if first_match(case.rules, run.pins) in rules]
        near = _nearest(under, versions) if under and "jax" in versions else ()
        if all(each.behaviour == rules[0].behaviour for each in near):
            return Prediction(rules[0].behaviour, "by rule", near, rules)
        return Prediction(None, "unknown", near, rules)
    found = _between(versions, matter, runs) if known and not rules else None
    return found or Prediction(None, "unknown", (), rules)


def _possible(rules: Iterable[AnyRule], versions: Pins) -> list[AnyRule | None]:
    """Return the rules that may be the first match if some versions are unknown; None means that no rule matches."""
    found: list[AnyRule | None] = []
    names = BESIDE.union(versions)
    for rule in rules:
        known, is_whole = _known(rule.on, names)
        if met(known, versions):
            found.append(rule)
            if is_whole:
                return found
    return [*found, None]


@cache
def _known(on: str, names: frozenset[str]) -> tuple[str, bool]:
    """Return the rule's requirements on these packages, and True if it has no other requirements."""
    known = [str(requirement) for requirement in requirements(on) if requirement.name in names]
    return " ".join(known), len(known) == len(requirements(on))


def _alike(runs: Iterable[Run], versions: Pins, matter: Iterable[str]) -> list[Run]:
    """Return the runs that agree with `versions` in every package that matters and whose version is known."""
    found = list(runs)
    # Filter by jax first: most runs differ in it.
    for name in sorted(matter, key=lambda each: each != "jax"):
        found = [run for run in found if _agree(name, run.pins, versions)]
    return found


def _agree(name: str, pins: Pins, versions: Pins) -> bool:
    """Return True if a run had the known version of a package; outside the stack, its presence is enough."""
    if name in BESIDE:
        return is_there(name, pins) == is_there(name, versions)
    return name not in versions or (name in pins and _same(pins[name], versions[name]))


@cache
def _same(one: str, other: str) -> bool:
    return parsed(one) == parsed(other)


def _nearest(runs: Sequence[Run], versions: Pins) -> tuple[Run, ...]:
    """Return the runs with the nearest jax: one at or below this version, one above; among equals, the most similar."""
    jax = parsed(versions["jax"])
    places = {run.pins["jax"]: parsed(run.pins["jax"]) for run in runs}.values()
    below = max((place for place in places if place <= jax), default=None)
    above = min((place for place in places if place > jax), default=None)
    return tuple(
        max(
            (run for run in runs if parsed(run.pins["jax"]) == side),
            key=lambda run: sum(_agree(name, run.pins, versions) for name in versions),
        )
        for side in (below, above)
        if side is not None
    )


def _between(versions: Pins, matter: frozenset[str], runs: Sequence[Run]) -> Prediction | None:
    """Return the behaviour shared by the neighbours on both sides, which differ in the version of one package only."""
    found: list[Prediction] = []
    for package in sorted(matter & versions.keys() - {"jax"}):
        here = parsed(versions[package])
        beside = [run for run in _alike(runs, versions, matter - {package}) if package in run.pins]
        places = {parsed(each.pins[package]) for each in beside}
        below = max((place for place in places if place < here), default=None)
        above = min((place for place in places if place > here), default=None)
        sides = [each for each in beside if parsed(each.pins[package]) in (below, above)]
        if below is None or above is None or sides != _alike(sides, sides[0].pins, matter - {package}):
            continue
        if len({side.behaviour for side in sides}) > 1:
            return None
        found.append(Prediction(sides[0].behaviour, "between", tuple(sides)))
    return found[0] if len({each.behaviour for each in found}) == 1 else None


@dataclass(frozen=True)
class Stopped:
    """A block: packages that a case needs do not import, or `case`, for which it waits, goes wrong.

    `prediction` is about row zero, or about `case`.
    """

    packages: tuple[str, ...]
    prediction: Prediction
    case: str = ""


def foresee(
    cases: Mapping[Name, AnyCase], row_zero: Collection[str], versions: Pins, runs: Mapping[Name, Sequence[Run]]
) -> dict[Name, Prediction | Stopped]:
    """Return a prediction for each case; `row_zero` are the issues that test if a stack works at all."""
    found: dict[Name, Prediction | Stopped] = {
        name: predict(case, versions, runs.get(name, ())) for name, case in cases.items()
    }
    stops = stopped(found[name] for name in cases if name[0] in row_zero)
    for name, case in cases.items():
        stop = next((each for each in stops if concerned(case.needs) & set(each.packages)), None)
        if stop is not None and name[0] not in row_zero:
            found[name] = stop
    return {name: _waited(cases[name], each, cases, found) for name, each in found.items()}


def stopped(row_zero: Iterable[Prediction | Stopped]) -> list[Stopped]:
    """Return the packages that do not import, by the predictions for row zero."""
    imports = [each for each in row_zero if isinstance(each, Prediction) and each.behaviour == "import-error"]
    return [Stopped(_broken(imported), imported) for imported in imports]


def _waited(
    case: AnyCase, own: Prediction | Stopped, cases: Mapping[Name, AnyCase], found: Mapping[Name, Prediction | Stopped]
) -> Prediction | Stopped:
    """Return a case's prediction after its `waits_for` cases; unknown if one of these is not in `cases`.

    If a run has these versions, it decides alone.
    """
    if isinstance(own, Stopped) or own.how == "run":
        return own
    for awaited in case.waits_for:
        issue, _, id = awaited.partition("/")
        if (issue, id) not in cases:
            return Prediction(None, "unknown")
        known = found[issue, id]
        if isinstance(known, Prediction) and known.behaviour is not None:
            means = cases[issue, id].behaviours.get(known.behaviour, known.behaviour)
            if goes_wrong(means):
                return Stopped((), known, awaited)
    return own


def _broken(imports: Prediction) -> tuple[str, ...]:
    """Return the packages that do not import, by the rules of row zero's prediction.

    These are packages that build on JAX. A rule that names only JAX and packages that JAX imports, such as NumPy, means
    JAX itself.
    """
    named = _names(imports) - {"jax", "jaxlib"}
    return tuple(sorted(named & IMPORTS.keys())) or ("jax",) * bool(named)


def _names(known: Prediction) -> set[str]:
    """Return the packages that the rules of a prediction name."""
    return {requirement.name for rule in known.rules for requirement in requirements(rule.on)}


def how(known: Prediction, versions: Pins) -> str:
    """Return how a prediction is known, for people, or the reason why it is unknown."""
    runs = named([run.cell for run in known.runs])
    evidence = "".join(f": {rule.evidence}" for rule in known.rules if len(known.rules) == 1 and rule.evidence)
    match known.how:
        case "run":
            return f"run as {runs}"
        case "by rule":
            return f"by rule{evidence}" + (f"; nearest: {runs}" if runs else "")
        case "between":
            return f"between {runs}"
    if missing := sorted(_names(known) - BESIDE - versions.keys()):
        return f"it depends on {', '.join(missing)}"
    return f"{runs} contradicts its rule" if runs else "no rule and no neighbours tell"


def with_jaxlib(versions: Pins, stacks: Iterable[Pins]) -> Pins:
    """Add the jaxlib that an installer gives with a jax: the newest one beside this jax in `stacks`."""
    found = [of["jaxlib"] for of in stacks if "jaxlib" in of and of.get("jax") == versions.get("jax", "")]
    return {"jaxlib": max(found, key=Version), **versions} if found else versions
