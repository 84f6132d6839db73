"""Requirements that packages should declare, so that their metadata agrees with the runs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from jax_stack_compat.judge.metadata import lower_bound, reached, reconciled, requires, simplest, upper_bound
from jax_stack_compat.judge.rules import AnyRule, Pins, Run, first_match, requirements
from jax_stack_compat.packages import PACKAGES, guests
from jax_stack_compat.stack.releases import Packages, exclusion
from laboratory.boundaries.attribution import Blame, Grounds, blame, moves, told

Tables = Mapping[str, Sequence[AnyRule]]


@dataclass(frozen=True)
class Trial:
    """A cell of an arm's row: the behaviours of row zero's cases, and the cases that fail."""

    cell: str
    pins: Pins
    shown: Mapping[str, str]
    fails: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Amendment:
    """A requirement that would agree with the runs, and the package whose metadata should carry it.

    `package` allows a release of `dependency` that does not work; it should require `specifier`. `declared` is None if
    `package` does not require `dependency` at all. Without a `package`, the release is broken for all packages that
    need it. If `grounds` is "together", other moves may be the cause: `came_with` lists them in words.
    """

    kind: Literal["lacks"]
    package: str | None
    version: str
    dependency: str
    declared: str | None
    specifier: str
    grounds: Grounds
    cells: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    came_with: str = ""

    @property
    def requirement(self) -> str:
        """The requirement in metadata's syntax: `optimistix<0.1.0`."""
        return f"{self.dependency}{self.specifier}"

    def __str__(self) -> str:
        """Return a sentence for people: diffrax 0.7.0 lacks optimistix<0.1.0."""
        if self.grounds == "together":
            return f"{self.requirement} works; other releases came with {self.came_with}"
        if self.package is None:
            return f"packages that need {self.dependency} lack {self.requirement}"
        return f"{self.package} {self.version} lacks {self.requirement}"


def amendments(
    trials: Sequence[Trial], along: str, tables: Tables, offered: Packages, python: str
) -> tuple[Amendment, ...]:
    """Return the missing requirements that a row of an arm shows. `trials` follow the versions of `along`.

    `tables` are the rules of row zero's cases. The rule that matches a failure attributes it to a pair of packages, one
    of which requires the other. Other failures become a bound on `along`, with everything that moved.
    """
    row = _Row(trials, along, tables, offered, python)
    pairs: dict[tuple[str, str, str], list[tuple[Trial, _Cause]]] = {}
    rest: list[Trial] = []
    for trial in trials:
        for case in sorted(trial.fails):
            cause = row.cause(trial, case)
            if (cause is None or cause.dependent == cause.dependency) and exclusion(trial.pins, offered, python):
                # The metadata already excludes this cell.
                continue
            if cause is None:
                rest += [trial] if trial not in rest else []
            else:
                key = cause.dependent, trial.pins.get(cause.dependent, ""), cause.dependency
                pairs.setdefault(key, []).append((trial, cause))
    found = [amendment for key, causes in pairs.items() if (amendment := row.lacking(*key, causes))]
    merged = {(each.package, each.version, each.requirement): each for each in found}
    return (*merged.values(), *row.bound(rest))


@dataclass(frozen=True)
class _Cause:
    """A dependent package and its dependency, which fail together according to a rule.

    If both are one package, it is broken alone.
    """

    dependent: str
    dependency: str
    rule: AnyRule
    grounds: Grounds = "rule"


@dataclass(frozen=True)
class _Row:
    """The cells of a row, with the recorded metadata of their packages."""

    trials: Sequence[Trial]
    along: str
    tables: Tables
    offered: Packages
    python: str

    def cause(self, trial: Trial, case: str) -> _Cause | None:
        """Return the cause of a failure; None if no rule matches the failure, or several pairs of packages fit."""
        rule = first_match(self.tables.get(case, ()), trial.pins)
        if rule is None or rule.behaviour != trial.shown.get(case):
            return None
        names = {requirement.name: requirement.specifier for requirement in requirements(rule.on)}
        if len(names) == 1:
            (name,) = names
            return _Cause(name, name, rule)
        reach = {one: reached([one], trial.pins, self.offered, self.python) for one in names}
        # A guest depends on the stack, even if its metadata does not say so.
        reach |= {guest: reach[guest] | PACKAGES.keys() for guest in guests(names)}
        pairs = [(one, other) for one in names for other in names if one != other and other in reach[one]]
        if len(names) > 2:
            pairs = [(one, other) for one, other in pairs if _opposed(names[one], names[other])]
        found = self.blame(trial, case)
        if len(pairs) > 1 and found is not None and found.package is not None:
            pairs = [each for each in pairs if found.package in each]
        if len(pairs) != 1:
            return None
        by_run = found is not None and found.grounds == "run" and found.package in pairs[0]
        return _Cause(*pairs[0], rule, "run" if by_run else "rule")

    def blame(self, trial: Trial, case: str) -> Blame | None:
        """Attribute the failure, compared with the nearest cell of the row where the case works."""
        before = self.nearest(trial, lambda each: case in each.shown and case not in each.fails)
        if before is None:
            return None
        runs = {each.cell: Run(each.cell, each.pins, each.shown[case]) for each in self.trials if case in each.shown}
        return blame(runs[before.cell], runs[trial.cell], self.tables.get(case, ()), runs.values())

    def nearest(self, trial: Trial, works: Callable[[Trial], bool]) -> Trial | None:
        """Return the nearest working cell before `trial`, else the nearest after it."""
        place = self.trials.index(trial)
        return next(filter(works, [*reversed(self.trials[:place]), *self.trials[place + 1 :]]), None)

    def lacking(
        self, dependent: str, version: str, dependency: str, causes: Sequence[tuple[Trial, _Cause]]
    ) -> Amendment | None:
        """Return the requirement that the dependent release lacks; None if the release declares it already."""
        cells = tuple(dict.fromkeys(trial.cell for trial, _ in causes))
        evidence = tuple(dict.fromkeys(cause.rule.evidence for _, cause in causes if cause.rule.evidence))
        grounds: Grounds = "run" if any(cause.grounds == "run" for _, cause in causes) else "rule"
        alone = Amendment("lacks", None, version, dependent, "", f"!={version}", grounds, cells, evidence)
        if dependent == dependency:
            return alone
        beside = [trial for trial in self.trials if trial.pins.get(dependent) == version and dependency in trial.pins]
        works = {each.pins[dependency] for each in beside if not each.fails}
        declared = self.requires(dependent, version).get(dependency, SpecifierSet())
        fails = {trial.pins[dependency] for trial, _ in causes if declared.contains(trial.pins[dependency], True)}
        if not fails:
            return None
        # Every row must report the same about a release: take the first bound that any rule sets.
        bounds = self.bounds(dependent, version, dependency)
        specifier = next((bound for bound in bounds if _agrees(SpecifierSet(bound), works, fails)), None)
        if specifier is None:
            tried = {**dict.fromkeys(works, True), **dict.fromkeys(fails - works, False)}
            specifier = reconciled(tried) or ",".join(f"!={failure}" for failure in sorted(fails, key=Version))
        else:
            evidence = tuple(dict.fromkeys((*evidence, *bounds[specifier])))
            if not works or specifier.removeprefix("<") not in fails:
                # The runs show the failure; only the rule shows where it begins.
                grounds = "rule"
        both = declared & SpecifierSet(specifier)
        there = self.offered.get(dependency, {})
        if there and not any(both.contains(each, True) for each in there):
            # No release of the dependency is left to install, so the dependent release itself is broken.
            return replace(alone, grounds=grounds, evidence=evidence)
        said = simplest([declared]) if dependency in self.requires(dependent, version) else None
        return Amendment("lacks", dependent, version, dependency, said, specifier, grounds, cells, evidence)

    def requires(self, name: str, version: str) -> Mapping[str, SpecifierSet]:
        return requires(name, {name: version}, self.offered, self.python)

    def bounds(self, dependent: str, version: str, dependency: str) -> Mapping[str, Sequence[str]]:
        """Return the bounds that rules about this release set on the other package, `<` first, with their evidence."""
        found: dict[str, list[str]] = {}
        for rule in (rule for table in self.tables.values() for rule in table):
            named = {requirement.name: requirement.specifier for requirement in requirements(rule.on)}
            if dependency in named and dependent in named and named[dependent].contains(version, prereleases=True):
                low, high = lower_bound(named[dependency]), upper_bound(named[dependency])
                for bound in filter(None, (low and f"<{low}", high and f">={high}")):
                    found.setdefault(bound, []).extend(filter(None, [rule.evidence]))
        above = sorted((each for each in found if each[0] == "<"), key=lambda each: Version(each[1:]))
        below = sorted((each for each in found if each[0] == ">"), key=lambda each: Version(each[2:]), reverse=True)
        return {each: found[each] for each in (*above, *below)}

    def bound(self, rest: Sequence[Trial]) -> list[Amendment]:
        """Return the bound on the package that moves in this row, for failures of unknown cause."""
        works = {trial.pins[self.along]: True for trial in self.trials if not trial.fails}
        specifier = reconciled({**works, **{each.pins[self.along]: False for each in rest}})
        before = self.nearest(rest[0], lambda each: not each.fails) if rest else None
        if specifier is None or before is None:
            return []
        came_with = told(moves(before.pins, rest[0].pins))
        cells = tuple(each.cell for each in rest)
        return [Amendment("lacks", None, "", self.along, "", specifier, "together", cells, came_with=came_with)]


def _opposed(one: SpecifierSet, other: SpecifierSet) -> bool:
    """Return True if one has an upper bound and the other a lower bound: an old release fails with a new one."""
    return bool((upper_bound(one) and lower_bound(other)) or (lower_bound(one) and upper_bound(other)))


def _agrees(specifier: SpecifierSet, works: Iterable[str], fails: Iterable[str]) -> bool:
    """Return True if `specifier` admits all versions in `works` and none in `fails`."""
    admits = [specifier.contains(each, True) for each in works]
    return all(admits) and not any(specifier.contains(failure, True) for failure in fails)
