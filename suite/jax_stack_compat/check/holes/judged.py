"""The runs that declared bounds admit, and the holes in the bounds, by runs and rules. Pure.

Every run of the packages that a case needs counts, whatever other packages it had. So bounds on packages that a case
does not need have no effect on the case. If no run is within the bounds on the case's needs, the case's rules decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import NamedTuple

from packaging.specifiers import SpecifierSet

from jax_stack_compat.check.finding import RANKS
from jax_stack_compat.check.knowledge import Knowledge, KnownCase, KnownIssue
from jax_stack_compat.judge.metadata import in_version_order, parsed
from jax_stack_compat.judge.prediction import predict
from jax_stack_compat.judge.rules import Pins, concerned, in_stack_order, is_there, met, requirements
from jax_stack_compat.judge.verdict_table import GOOD, UNDECIDED
from jax_stack_compat.judge.verdicts import goes_wrong
from jax_stack_compat.packages import BESIDE, STACK

Bounds = Mapping[str, SpecifierSet]


class Releases(NamedTuple):
    """Adjacent releases of a package."""

    package: str
    first: str
    last: str

    def __str__(self) -> str:
        """Return the releases in words: `jax 0.4.30 to 0.4.35`."""
        return f"{self.package} {self.first}" + f" to {self.last}" * (self.first != self.last)

    def has(self, version: str) -> bool:
        """Return True if a release of the package is one of these."""
        return parsed(self.first) <= parsed(version) <= parsed(self.last)


@dataclass(frozen=True)
class Admitted:
    """The part of the data that bounds admit.

    `releases` are those that were run, by package, oldest first; `idle` are in the data but were not run. `empty` has
    the reasons why bounds admit no run, and `without` the reasons for packages outside the stack. `stacks` counts the
    stacks within all bounds.
    """

    bounds: Bounds
    releases: Mapping[str, Sequence[str]]
    idle: Mapping[str, Sequence[str]]
    empty: tuple[str, ...]
    without: tuple[str, ...]
    stacks: int


def admitted(knowledge: Knowledge, bounds: Bounds) -> Admitted:
    """Return the runs that bounds admit, and the bounds that do not admit any."""
    ran = {run.cell for case in knowledge.cases.values() for run in case.runs}
    was_run: dict[str, set[str]] = defaultdict(set)
    for id in ran:
        for name, version in knowledge.cells[id].items():
            was_run[name].add(version)
    needed = {name for case in knowledge.cases.values() for name in case.needs}
    releases, idle = dict[str, list[str]](), dict[str, list[str]]()
    empty, without = list[str](), list[str]()
    # A package without a bound may have any release.
    for name in in_stack_order({"jax", *bounds} & was_run.keys()):
        of = bounds.get(name, SpecifierSet())
        within = [release for release in knowledge.releases[name] if of.contains(release, prereleases=True)]
        releases[name] = [release for release in within if release in was_run[name]]
        if never := [release for release in within if release not in was_run[name]]:
            idle[name] = never
        if releases[name] or (name not in STACK and name not in needed):
            continue
        known = in_version_order(was_run[name])
        why = f"{name}{of} admits no release in the data, which has {known[0]} to {known[-1]}"
        if never:
            how = f"`check --from {name}=={never[0]}` shows what is known by rule"
            why = f"{name}{of} admits only {', '.join(never)}, which was never run: {how}"
        (empty if name in STACK else without).append(why)
    bound = [name for name in releases if name in STACK and name in bounds]
    stacks = sum(all(knowledge.cells[id].get(name) in releases[name] for name in bound) for id in ran)
    return Admitted(bounds, releases, idle, tuple(empty), tuple(without), stacks)


# Releases, and three flags: they include the lowest admitted one, include the highest, and are known by rule.
Span = tuple[Releases, bool, bool, bool]


@dataclass(frozen=True)
class Hole:
    """Adjacent releases that the bounds admit and on which cases of an issue go wrong.

    `by_rule`: no run on them is within all bounds, so the rules decide.
    """

    issue: KnownIssue
    cases: tuple[str, ...]
    releases: Releases
    lowest: bool
    highest: bool
    by_rule: bool = False

    @property
    def span(self) -> str:
        """The releases in words: `jax 0.4.30 to 0.4.35, the lowest that is admitted`."""
        ends = {(True, True): "all", (True, False): "the lowest", (False, True): "the highest"}
        end = ends.get((self.lowest, self.highest))
        return f"{self.releases}" + f", {end} admitted" * bool(end) + ", by rule" * self.by_rule

    @property
    def told(self) -> str:
        """The releases, and the cases."""
        return f"{self.span}: {', '.join(self.cases)}"


@dataclass(frozen=True)
class Shown:
    """A release's result by the runs within the bounds; by rule if nothing ran within them."""

    wrong: bool
    cells: frozenset[str] = frozenset()

    @property
    def by_rule(self) -> bool:
        """True if nothing was run."""
        return not self.cells


# Package → release → its result.
Told = Mapping[str, Mapping[str, Shown]]


def holes(knowledge: Knowledge, within: Admitted, there: Iterable[str]) -> list[Hole]:
    """Return the holes in bounds, for cases that need only packages in `there`; the worst kinds first."""
    there = concerned(there)
    found: list[Hole] = []
    for issue in knowledge.issues:
        alike: dict[Span, list[str]] = {}
        for case in (case for case in issue.cases if there.issuperset(case.needs)):
            for span in _spans(told_of(case, within, knowledge), within):
                alike.setdefault(span, []).append(case.id)
        found += [Hole(issue, tuple(cases), *span) for span, cases in alike.items()]
    return sorted(found, key=lambda hole: RANKS[hole.issue.kind])


def told_of(case: KnownCase, within: Admitted, knowledge: Knowledge) -> Told:
    """Return a case's results on the releases that the bounds admit, by package.

    A release goes wrong if all of its runs within the bounds do: a good run shows a way out. Without runs, the rules
    decide, if they agree for all admitted releases of the other packages.
    """
    every = {"jax", *case.named}
    named, beside = in_stack_order(every - BESIDE), every & BESIDE
    matter = {"jaxlib", *named, *case.needs} & within.bounds.keys()
    at: dict[str, dict[str, list[tuple[bool, str]]]] = {}
    for run in case.runs:
        means = case.verdict(run.behaviour)
        inside = (run.pins[name] in within.releases.get(name, ()) for name in matter if name in run.pins)
        if means in UNDECIDED or not all(inside):
            continue
        # Bounds do not cover packages beside the stack.
        if all(is_there(name, run.pins) for name in beside):
            for package in (name for name in named if name in run.pins):
                at.setdefault(package, {}).setdefault(run.pins[package], []).append((means not in GOOD, run.cell))
    found = {
        package: {
            version: Shown(all(wrong for wrong, _ in of), frozenset(cell for _, cell in of))
            for version, of in here.items()
        }
        for package, here in at.items()
    }
    kinds = {name: _kinds(case, name, within, knowledge) for name in named if name in within.releases}
    for package in (name for name in named if name in within.bounds):
        here = found.setdefault(package, {})
        for version in within.releases.get(package, ()):
            if version not in here:
                here[version] = Shown(_is_wrong_by_rule(case, package, version, kinds, within, knowledge))
    return {package: here for package, here in found.items() if here}


def _kinds(case: KnownCase, package: str, within: Admitted, knowledge: Knowledge) -> list[str]:
    """Return representatives of the admitted releases: one for each combination of requirements in the rules."""
    every = {str(requirement) for rule in case.rules for requirement in requirements(rule.on)}
    kinds: dict[frozenset[str], str] = {}
    for version in within.releases[package]:
        pins = _with_jaxlib({package: version}, knowledge)
        kinds.setdefault(frozenset({*pins, *(on for on in every if met(on, pins))}), version)
    return list(kinds.values())


def _with_jaxlib(pins: Pins, knowledge: Knowledge) -> Pins:
    """Return pins with the jaxlib that an installer gives for their jax."""
    return {**knowledge.jaxlibs.get(pins.get("jax", ""), {}), **pins}


def _is_wrong_by_rule(
    case: KnownCase,
    package: str,
    version: str,
    kinds: Mapping[str, Sequence[str]],
    within: Admitted,
    knowledge: Knowledge,
) -> bool:
    """Return True if, by rule, the case goes wrong on a release with every admitted release of the other packages."""
    if not all(within.releases[name] for name in within.bounds.keys() & set(case.needs)):
        return False
    others = [name for name in kinds if name not in (package, "jaxlib")]
    for beside in product(*(kinds[other] for other in others)):
        pins = {**dict(zip(others, beside, strict=True)), package: version}
        known = predict(case, _with_jaxlib(pins, knowledge), ())
        if not known.behaviour or not goes_wrong(case.verdict(known.behaviour)):
            return False
    return True


def _spans(told: Told, within: Admitted) -> Iterable[Span]:
    """Yield the adjacent releases on which a case goes wrong, for the fewest packages that cover all its runs.

    If packages cover equally many runs, the package with the fewest such releases comes first, then stack order. If the
    case goes wrong on all admitted releases of a package, releases known by rule are left out.
    """
    bad = {package: {of for of, shown in at.items() if shown.wrong} for package, at in told.items()}
    runs = {package: {run for of in of_it for run in told[package][of].cells} for package, of_it in bad.items()}
    covered: set[str] = set()
    always = False
    left = in_stack_order(package for package, of_it in bad.items() if of_it)
    while left:
        package = min(left, key=lambda name: (-len(runs[name] - covered), len(bad[name])))
        left.remove(package)
        at = told[package]
        # If the case goes wrong on all admitted releases of one package, rules about another package add nothing.
        here = {of for of in bad[package] if (not always and at[of].by_rule) or not at[of].cells <= covered}
        covered |= runs[package]
        always = always or len(bad[package]) == len(at)
        ordered = in_version_order(at)
        known = within.releases.get(package) or ordered
        for (wrong, by_rule), group in groupby(ordered, key=lambda of: (of in here, at[of].by_rule)):
            span = list(group)
            if wrong:
                yield Releases(package, span[0], span[-1]), span[0] == known[0], span[-1] == known[-1], by_rule
