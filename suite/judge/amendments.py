"""Which package should require what, so that metadata agrees with the runs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from suite.judge.attribution import Blame, Grounds, blame, moves, told
from suite.judge.metadata import reached, requires
from suite.judge.rules import AnyRule, Pins, Run, first_match, requirements
from suite.judge.specifiers import lower_bound, reconciled, simplest, upper_bound
from suite.stack.releases import Packages, exclusion

Tables = Mapping[str, Sequence[AnyRule]]


@dataclass(frozen=True)
class Trial:
    """One cell of an arm's row: what row zero's cases showed there, and which of them do not work."""

    cell: str
    pins: Pins
    shown: Mapping[str, str]
    fails: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Amendment:
    """A requirement that would agree with the runs, and the package whose metadata should carry it.

    `lacks`: `package` allows what does not work, and `specifier` of `dependency` is what it lacks. `over-tight`: it
    excludes what works, and `specifier` is what would do. Where no `package` is named, the release is broken by itself,
    for all that need it; or, `grounds` being "together", what else moved may be to blame: `came_with`, in words.
    """

    kind: Literal["lacks", "over-tight"]
    package: str | None
    version: str
    dependency: str
    declared: str
    specifier: str
    grounds: Grounds
    cells: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    came_with: str = ""

    @property
    def requirement(self) -> str:
        """As metadata would have it: `optimistix<0.1.0`."""
        return f"{self.dependency}{self.specifier}"

    def __str__(self) -> str:
        """For people: diffrax 0.7.0 lacks optimistix<0.1.0."""
        if self.grounds == "together":
            return f"{self.requirement} works; the rest came with {self.came_with}"
        if self.package is None:
            return f"what needs {self.dependency} lacks {self.requirement}"
        if self.kind == "lacks":
            return f"{self.package} {self.version} lacks {self.requirement}"
        return f"{self.package} {self.version} says {self.dependency}{self.declared}; {self.requirement} works"


def amendments(
    trials: Sequence[Trial], along: str, tables: Tables, offered: Packages, python: str
) -> tuple[Amendment, ...]:
    """Who should require what, by a row of an arm: `trials` in the order of the versions of `along`.

    `tables` are the rules of row zero's cases. Each failing cell is put down to a pair of packages, one of which
    requires the other, by the rule that knows the failure; what cannot be is a bound on `along`, with all that moved.
    """
    row = _Row(trials, along, tables, offered, python)
    pairs: dict[tuple[str, str, str], _Pair] = {}
    rest: list[Trial] = []
    for trial in trials:
        for case in sorted(trial.fails):
            cause = row.cause(trial, case)
            if (cause is None or cause[0] == cause[1]) and exclusion(trial.pins, offered, python):
                # Metadata says so already.
                continue
            if cause is None:
                rest += [trial] if trial not in rest else []
                continue
            dependent, dependency, rule, grounds = cause
            pair = pairs.setdefault((dependent, trial.pins.get(dependent, ""), dependency), _Pair())
            pair.add(trial, rule, grounds)
    found = [each for key, pair in pairs.items() if (each := row.lacking(*key, pair))]
    merged = {(each.package, each.version, each.requirement): each for each in found}
    return (*merged.values(), *row.too_tight(), *row.bound(rest))


@dataclass
class _Pair:
    """The failures that are put down to one pair of packages."""

    trials: list[Trial] = field(default_factory=list)
    rules: list[AnyRule] = field(default_factory=list)
    grounds: set[Grounds] = field(default_factory=set)

    def add(self, trial: Trial, rule: AnyRule, grounds: Grounds) -> None:
        self.trials += [trial] if trial not in self.trials else []
        self.rules += [rule] if rule not in self.rules else []
        self.grounds.add(grounds)


@dataclass(frozen=True)
class _Row:
    """The cells of a row, and what is recorded of their packages."""

    trials: Sequence[Trial]
    along: str
    tables: Tables
    offered: Packages
    python: str

    def cause(self, trial: Trial, case: str) -> tuple[str, str, AnyRule, Grounds] | None:
        """The dependent and the dependency that do not go together, the same name twice where one is broken alone."""
        rule = first_match(self.tables.get(case, ()), trial.pins)
        if rule is None or rule.behaviour != trial.shown.get(case) or not rule.on:
            return None
        names = {each.name: each.specifier for each in requirements(rule.on)}
        if len(names) == 1:
            (name,) = names
            return name, name, rule, "rule"
        found = self.blame(trial, case)
        pairs = [
            (one, other)
            for one in names
            for other in names
            if one != other and other in reached([one], trial.pins, self.offered, self.python)
        ]
        if len(names) > 2:
            pairs = [(one, other) for one, other in pairs if _opposed(names[one], names[other])]
        if len(pairs) > 1 and found is not None and found.package is not None:
            pairs = [each for each in pairs if found.package in each]
        if len(pairs) != 1:
            return None
        by_run = found is not None and found.grounds == "run" and found.package in pairs[0]
        return *pairs[0], rule, "run" if by_run else "rule"

    def blame(self, trial: Trial, case: str) -> Blame | None:
        """What the failure is put down to, against the nearest cell of the row in which the case works."""
        place = self.trials.index(trial)
        others = [*reversed(self.trials[:place]), *self.trials[place + 1 :]]
        before = next((each for each in others if case in each.shown and case not in each.fails), None)
        if before is None:
            return None
        runs = [Run(each.cell, each.pins, each.shown[case]) for each in self.trials if case in each.shown]
        one, other = (Run(each.cell, each.pins, each.shown[case]) for each in (before, trial))
        return blame(one, other, self.tables.get(case, ()), runs)

    def lacking(self, dependent: str, version: str, dependency: str, pair: _Pair) -> Amendment | None:
        """What the dependent release lacks; None where it says so already."""
        cells, evidence = tuple(each.cell for each in pair.trials), tuple(each.evidence for each in pair.rules)
        grounds: Grounds = "run" if "run" in pair.grounds else "rule"
        if dependent == dependency:
            return Amendment("lacks", None, version, dependent, "", f"!={version}", grounds, cells, evidence)
        works = {
            each.pins[dependency]
            for each in self.trials
            if not each.fails and each.pins.get(dependent) == version and dependency in each.pins
        }
        declared = requires(dependent, {dependent: version}, self.offered, self.python).get(dependency, SpecifierSet())
        fails = {each.pins[dependency] for each in pair.trials if declared.contains(each.pins[dependency], True)}
        if not fails:
            return None
        # What is told of a release is the same in every row: the first of the other's that any rule keeps it from.
        rules = [rule for table in self.tables.values() for rule in table]
        known = [rule for rule in rules if _names(rule, dependent, version, dependency)]
        specifier = _from_rules(known, dependency, works, fails)
        if specifier is not None and not (works and _decided(specifier, fails)):
            # That the two do not go together was run; where that begins, the rule says.
            grounds = "rule"
        evidence = tuple(dict.fromkeys((*evidence, *_saying(known, dependency, specifier))))
        if specifier is None:
            tried = {**dict.fromkeys(works, True), **dict.fromkeys(fails - works, False)}
            specifier = reconciled(tried, "") or ",".join(f"!={each}" for each in sorted(fails, key=Version))
        both = declared & SpecifierSet(specifier)
        there = self.offered.get(dependency, {})
        if there and not any(both.contains(each, True) for each in there):
            # Nothing is left that it could be installed with: the release itself is what is broken.
            return Amendment("lacks", None, version, dependent, "", f"!={version}", grounds, cells, evidence)
        said = simplest([declared])
        return Amendment("lacks", dependent, version, dependency, said, specifier, grounds, cells, evidence)

    def too_tight(self) -> list[Amendment]:
        """What excludes cells that work."""
        excluded: dict[tuple[str, str, str], list[str]] = {}
        for trial in self.trials:
            for name in () if trial.fails else trial.pins:
                for wanted, says in requires(name, trial.pins, self.offered, self.python).items():
                    if wanted in trial.pins and not says.contains(trial.pins[wanted], prereleases=True):
                        excluded.setdefault((name, trial.pins[name], wanted), []).append(trial.cell)
        found = []
        for (name, version, wanted), cells in excluded.items():
            declared = simplest([requires(name, {name: version}, self.offered, self.python)[wanted]])
            works = [each for each in self.trials if each.pins.get(name) == version and not each.fails]
            would_do = reconciled({each.pins[wanted]: True for each in works}, declared) or ""
            found.append(Amendment("over-tight", name, version, wanted, declared, would_do, "run", tuple(cells)))
        return found

    def bound(self, rest: Sequence[Trial]) -> list[Amendment]:
        """The bound on what moves in this row, for failures whose cause is not known."""
        works = {each.pins[self.along]: True for each in self.trials if not each.fails}
        fails = {each.pins[self.along]: False for each in rest}
        specifier = reconciled({**works, **fails}, "")
        if not rest or specifier is None:
            return []
        place = self.trials.index(rest[0])
        before = next((each for each in reversed(self.trials[:place]) if not each.fails), None)
        before = before or next(each for each in self.trials if not each.fails)
        came_with = told(moves(before.pins, rest[0].pins))
        cells = tuple(each.cell for each in rest)
        return [Amendment("lacks", None, "", self.along, "", specifier, "together", cells, came_with=came_with)]


def _opposed(one: SpecifierSet, other: SpecifierSet) -> bool:
    """Whether one is held below something and the other from something on: an old release beside a new one."""
    return (upper_bound(one) is not None and lower_bound(other) is not None) or (
        lower_bound(one) is not None and upper_bound(other) is not None
    )


def _names(rule: AnyRule, dependent: str, version: str, dependency: str) -> bool:
    """Whether a rule is about this release of one package beside the other."""
    named = {each.name: each.specifier for each in requirements(rule.on)}
    return dependency in named and dependent in named and named[dependent].contains(version, prereleases=True)


def _saying(rules: Iterable[AnyRule], dependency: str, specifier: str | None) -> Iterator[str]:
    """The evidence of the rules that a bound on a dependency is of."""
    for rule in rules:
        for each in requirements(rule.on):
            if each.name == dependency and specifier in _bounds(each.specifier):
                yield rule.evidence


def _bounds(specifier: SpecifierSet) -> tuple[str, ...]:
    """What keeps out of a range: from below it, or from above."""
    below, above = lower_bound(specifier), upper_bound(specifier)
    return (*((f"<{below}",) if below else ()), *((f">={above}",) if above else ()))


def _decided(specifier: str, fails: Iterable[str]) -> bool:
    """Whether the first release that a bound keeps out was run, and fails."""
    return specifier.removeprefix("<") in fails


def _from_rules(rules: Iterable[AnyRule], dependency: str, works: Iterable[str], fails: Iterable[str]) -> str | None:
    """The tightest bound that the rules put on a dependency, and the runs bear out."""
    found = {
        bound
        for rule in rules
        for each in requirements(rule.on)
        if each.name == dependency
        for bound in _bounds(each.specifier)
    }
    from_on = sorted((each for each in found if each.startswith("<")), key=lambda each: Version(each[1:]))
    up_to = sorted((each for each in found if each.startswith(">=")), key=lambda each: Version(each[2:]), reverse=True)
    for each in (*from_on, *up_to):
        admits = SpecifierSet(each)
        if all(admits.contains(one, True) for one in works) and not any(admits.contains(one, True) for one in fails):
            return each
    return None
