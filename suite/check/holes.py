"""Declared bounds → the releases that they admit and that are known to be bad: the holes in them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from suite.check.answer import KINDS, verdict
from suite.check.knowledge import Knowledge, KnownCase, KnownIssue
from suite.judge.rules import Pins, concerned, in_stack_order, requirements
from suite.judge.table import GOOD, UNDECIDED


@dataclass(frozen=True)
class Hole:
    """Releases of `package`, side by side, that the bounds admit and on which cases of an issue go wrong."""

    issue: KnownIssue
    cases: tuple[str, ...]
    package: str
    first: str
    last: str
    lowest: bool
    highest: bool

    @property
    def told(self) -> str:
        """In words: `jax 0.4.30 to 0.4.35, the lowest that is admitted: in cases a, b`."""
        span = self.first if self.first == self.last else f"{self.first} to {self.last}"
        ends = {(True, True): ", all that is admitted", (True, False): ", the lowest that is admitted"}
        ends[False, True] = ", the highest that is admitted"
        return f"{self.package} {span}{ends.get((self.lowest, self.highest), '')}: {', '.join(self.cases)}"


def admitted(knowledge: Knowledge, bounds: Mapping[str, SpecifierSet]) -> Mapping[str, Pins]:
    """The stacks that were run, and whose packages the bounds admit."""
    return {
        id: pins
        for id, pins in knowledge.cells.items()
        if all(of.contains(pins[name], prereleases=True) for name, of in bounds.items() if name in pins)
    }


def holes(knowledge: Knowledge, bounds: Mapping[str, SpecifierSet], there: Iterable[str]) -> list[Hole]:
    """The holes in `bounds`, by what was run within them of the packages that are `there`: the worst kinds first."""
    within, there = admitted(knowledge, bounds), concerned(there)
    found: list[Hole] = []
    for issue in knowledge.issues:
        alike: dict[tuple[str, str, str, bool, bool], list[str]] = {}
        for case in (each for each in issue.cases if there.issuperset(each.needs)):
            for span in _spans(case, within):
                alike.setdefault(span, []).append(case.id)
        found += [Hole(issue, tuple(cases), *span) for span, cases in alike.items()]
    order = list(KINDS)
    return sorted(found, key=lambda each: order.index(each.issue.kind))


def _spans(case: KnownCase, within: Mapping[str, Pins]) -> Iterable[tuple[str, str, str, bool, bool]]:
    """The releases of one package that its rules name, side by side, on which a case goes wrong whatever is beside.

    Of packages that all tell of it, the one with the fewest such releases; of several, the first of the stack, then by
    name.
    """
    named = in_stack_order({"jax", *(each.name for rule in case.rules for each in requirements(rule.on))})
    bad: dict[str, dict[Version, bool]] = {}
    for run in case.runs:
        if run.cell not in within:
            continue
        shown = verdict(case, run.behaviour)
        wrong = shown not in GOOD and shown not in UNDECIDED
        for package in (name for name in named if name in run.pins):
            version = Version(run.pins[package])
            here = bad.setdefault(package, {})
            # A release on which some stack is well has a way out that the others may take.
            here[version] = here.get(version, True) and wrong
    told = [(package, bad[package]) for package in named if any(bad.get(package, {}).values())]
    if not told:
        return
    # Of equals, `min` takes the first.
    package, of = min(told, key=lambda each: sum(each[1].values()))
    ordered = sorted(of)
    for wrong, group in groupby(ordered, key=of.__getitem__):
        span = list(group)
        if wrong:
            yield package, str(span[0]), str(span[-1]), span[0] == ordered[0], span[-1] == ordered[-1]
