"""What any stack is expected to show, run or not, by a case's rules and by the runs around it. Pure.

The page's rules.js says the same; a test holds the two together.

Where the version of a package is not known, a requirement on it is undetermined: then every rule that might be the
first is a possible outcome, and an answer stands only where all of them agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol

from packaging.version import Version

from suite.judge.rules import IMPORTS, AnyRule, Pins, Run, concerned, first_match, is_there, met, requirements
from suite.judge.specifiers import parsed
from suite.judge.verdicts import goes_wrong
from suite.judge.wording import named
from suite.stack.beside import BESIDE

# An issue's id and a case's.
Name = tuple[str, str]


class AnyCase(Protocol):
    """What a prediction asks of a case, in an issue module or in a report."""

    @property
    def needs(self) -> Sequence[str]:
        """The packages that it imports."""

    @property
    def rules(self) -> Sequence[AnyRule]:
        """Its table."""

    @property
    def behaviours(self) -> Mapping[str, str]:
        """What it can show, and the verdict on it."""

    @property
    def waits_for(self) -> Sequence[str]:
        """The cases without which it cannot work, as `issue/case`."""


@dataclass(frozen=True)
class Prediction:
    """What a stack is expected to show, None where that is unknown; by which runs and rules.

    `run`: they are of this very stack. `by rule`: `rules` say so, and `runs` are the nearest in jax under the same
    rules, at most one on each side. `between`: `runs` are the neighbours in one package, with all else alike.
    """

    behaviour: str | None
    how: Literal["run", "by rule", "between", "unknown"]
    runs: tuple[Run, ...] = ()
    rules: tuple[AnyRule, ...] = ()


def predict(case: AnyCase, versions: Pins, runs: Sequence[Run]) -> Prediction:
    """What `case` is expected to show with these versions: never from a run with another jax, but by a rule."""
    # To what runs are held against: where there are none it does not matter, and thousands are asked for.
    matter = concerned(case.needs, case.rules) if runs else frozenset[str]()
    # What the case needs must be known; what that imports may be what an installer gives beside it.
    known = {"jax", *case.needs} - {"jaxlib"} <= versions.keys()
    here = [run for run in runs if known and _alike(run, versions, matter)]
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
    """The rules that may be the first to match, whatever the unknown versions are; None where it may be none."""
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
    """The requirements on packages with these names, and whether they are all that there are."""
    known = [str(requirement) for requirement in requirements(on) if requirement.name in names]
    return " ".join(known), len(known) == len(requirements(on))


def _alike(run: Run, versions: Pins, matter: Iterable[str]) -> bool:
    """Whether a run had all versions that are known of the packages that matter; beside the stack any will do."""
    if any(is_there(name, run.pins) != is_there(name, versions) for name in BESIDE.intersection(matter)):
        return False
    both = [(run.pins.get(name), versions[name]) for name in matter if name in versions and name not in BESIDE]
    return all(one is not None and parsed(one) == parsed(other) for one, other in both)


def _nearest(runs: Sequence[Run], versions: Pins) -> tuple[Run, ...]:
    """The runs that are nearest in jax, the one below or level and the one above; of those, the most alike."""
    jax = parsed(versions["jax"])
    places = [(parsed(run.pins["jax"]), sum(_alike(run, versions, [name]) for name in versions)) for run in runs]
    below = [(each, run) for each, run in zip(places, runs, strict=True) if each[0] <= jax]
    above = [((each[0], -each[1]), run) for each, run in zip(places, runs, strict=True) if each[0] > jax]
    sides = max(below, key=lambda each: each[0], default=None), min(above, key=lambda each: each[0], default=None)
    return tuple(side[1] for side in sides if side is not None)


def _between(versions: Pins, matter: frozenset[str], runs: Sequence[Run]) -> Prediction | None:
    """What the neighbours on both sides agree on, in the versions of one package and with everything else alike."""
    found: list[Prediction] = []
    for package in sorted(matter & versions.keys() - {"jax"}):
        here = parsed(versions[package])
        beside = [run for run in runs if package in run.pins and _alike(run, versions, matter - {package})]
        places = {parsed(each.pins[package]) for each in beside}
        below = max((place for place in places if place < here), default=None)
        above = min((place for place in places if place > here), default=None)
        sides = [each for each in beside if parsed(each.pins[package]) in (below, above)]
        same = (_alike(side, {**sides[0].pins, package: side.pins[package]}, matter) for side in sides)
        if below is None or above is None or not all(same):
            continue
        if len({side.behaviour for side in sides}) > 1:
            return None
        found.append(Prediction(sides[0].behaviour, "between", tuple(sides)))
    return found[0] if len({each.behaviour for each in found}) == 1 else None


@dataclass(frozen=True)
class Stopped:
    """What blocks a case: packages that it needs do not import, or `case`, which it waits for, goes wrong.

    `prediction` is that of row zero, or of the case.
    """

    packages: tuple[str, ...]
    prediction: Prediction
    case: str = ""


def foresee(
    cases: Mapping[Name, AnyCase], row_zero: Collection[str], versions: Pins, runs: Mapping[Name, Sequence[Run]]
) -> dict[Name, Prediction | Stopped]:
    """What each case is expected to show with these versions; `row_zero` has the issues that ask if a stack works."""
    found: dict[Name, Prediction | Stopped] = {
        name: predict(case, versions, runs.get(name, ())) for name, case in cases.items()
    }
    imports = [each for (issue, _), each in found.items() if issue in row_zero and isinstance(each, Prediction)]
    stops = [Stopped(_broken(imported), imported) for imported in imports if imported.behaviour == "import-error"]
    for name, case in cases.items():
        stop = next((each for each in stops if concerned(case.needs) & set(each.packages)), None)
        if stop is not None and name[0] not in row_zero:
            found[name] = stop
    return {name: _waited(cases[name], each, cases, found) for name, each in found.items()}


def _waited(
    case: AnyCase, own: Prediction | Stopped, cases: Mapping[Name, AnyCase], found: Mapping[Name, Prediction | Stopped]
) -> Prediction | Stopped:
    """Return what a case is expected to show that waits for others: unknown, where one of them is not among `cases`.

    What was run with these very versions counts.
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
    """The packages that do not import, by the rules of row zero's prediction: what builds on JAX, where they name it.

    A rule on JAX and on what JAX imports, a NumPy say, is of JAX itself.
    """
    named = _names(imports) - {"jax", "jaxlib"}
    return tuple(sorted(named & IMPORTS.keys())) or ("jax",) * bool(named)


def _names(known: Prediction) -> set[str]:
    """The packages that the rules of a prediction name."""
    return {requirement.name for rule in known.rules for requirement in requirements(rule.on)}


def how(known: Prediction, versions: Pins) -> str:
    """How a prediction is known, for people; where it is unknown, what stands in its way."""
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
    return f"{runs} contradicts the rule that it is under" if runs else "no rule and no neighbours tell"


def with_jaxlib(versions: Pins, stacks: Iterable[Pins]) -> Pins:
    """A jaxlib goes with its jax: an installer gives the newest of those that `stacks` have beside it."""
    found = [of["jaxlib"] for of in stacks if "jaxlib" in of and of.get("jax") == versions.get("jax", "")]
    return {"jaxlib": max(found, key=Version), **versions} if found else versions
