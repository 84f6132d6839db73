"""Versions → what is known to bite there: which cases, how that is known, since when it is good, what to do. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from packaging.version import Version

from suite.check.knowledge import Interval, KnownCase, KnownIssue, Knowledge
from suite.check.inputs.stack import Stack
from suite.judge.prediction import Prediction, Stopped, foresee, how, with_jaxlib
from suite.judge.rules import Pins, met, requirements
from suite.judge.table import GOOD, UNDECIDED

# What is worst comes first: what gives other numbers without a word, then what says so by itself.
KINDS: Mapping[str, str] = {
    "silent-wrong": "Silently wrong",
    "silent-change": "Silently changed",
    "crash": "Crashes",
    "import-error": "Does not import",
    "warning": "Warns",
    "retrace": "Traces anew",
    "slow": "Slow",
    "by-design": "By design",
}
_HOW = {
    "run": "run on exactly these versions",
    "by rule": "by rule",
    "between": "between two that agree",
    "unknown": "not known",
}


@dataclass(frozen=True)
class Bite:
    """A case that goes wrong on these versions.

    `why` says how that is known; `good` since or up to when it is well, by the releases of one package; `helps` what is
    known of the workaround here.
    """

    issue: KnownIssue
    case: KnownCase
    verdict: str
    behaviour: str
    known: Prediction
    why: str
    good: str
    helps: str


@dataclass(frozen=True)
class Answer:
    """All that is known of a stack.

    `stops` are packages that do not import there; `counts` says of how many cases it is known how; `elsewhere` counts
    those that need what the stack does not have; `newer` are packages newer than any that was run.
    """

    stack: Stack
    versions: Pins
    bites: tuple[Bite, ...]
    stops: tuple[str, ...]
    blocked: int
    counts: Mapping[str, int]
    unknown: tuple[str, ...]
    elsewhere: int
    newer: tuple[str, ...]
    day: str

    @property
    def issues(self) -> list[tuple[KnownIssue, list[Bite]]]:
        """The issues that bite, the worst first, each with its cases."""
        return [(of[0].issue, of) for _, group in groupby(self.bites, lambda each: each.issue.id) if (of := [*group])]

    @property
    def silent(self) -> int:
        """How many of the issues give other numbers without a word."""
        return sum(issue.kind.startswith("silent") for issue, _ in self.issues)

    @property
    def first_line(self) -> str:
        """The verdict."""
        count = len(self.issues)
        if self.stops:
            return f"This stack does not work: {' and '.join(self.stops)} does not import with the others."
        if not count:
            return "None of the documented issues is known to bite here."
        silently = f", {self.silent} of them silently" if self.silent else ""
        return f"{count} documented issue{'s bite' if count > 1 else ' bites'} here{silently}."

    @property
    def last_line(self) -> str:
        """What that rests on: unknown is never clean."""
        told = [f"{self.counts[name]} {words}" for name, words in _HOW.items() if self.counts.get(name)]
        told += [f"{self.blocked} kept from running by what does not import"] if self.blocked else []
        lines = f"Looked up {sum(self.counts.values()) + self.blocked} cases, as of {self.day}: {', '.join(told)}."
        if self.elsewhere:
            lines += f" {self.elsewhere} more need packages that are not there."
        if self.newer:
            lines += f" Newer than this data: {', '.join(self.newer)}; what is said of these is carried on by rule."
        return lines


def answer(knowledge: Knowledge, stack: Stack) -> Answer:
    """What is known of `stack` by the published rules and runs."""
    named = {*_packages(knowledge)}
    versions = with_jaxlib({name: of for name, of in stack.versions.items() if name in named}, knowledge.cells.values())
    cases = {
        name: case for name, case in knowledge.cases.items() if {*case.needs} - {"jaxlib"} <= {*versions, *stack.unsaid}
    }
    found = foresee(cases, knowledge.row_zero, versions, {name: case.runs for name, case in cases.items()})
    issues = {issue.id: issue for issue in knowledge.issues}
    counts: Counter[str] = Counter()
    bites, unknown, blocked, stops = [], [], 0, dict[str, None]()
    for (issue, case), known in found.items():
        if isinstance(known, Stopped):
            blocked += 1
            stops |= dict.fromkeys(f"{name} {versions.get(name, '')}".rstrip() for name in known.packages)
            continue
        counts[known.how] += 1
        if known.behaviour is None:
            unknown.append(f"{issue}/{case}")
            continue
        bite = _bite(issues[issue], cases[issue, case], known, versions)
        if bite.verdict not in GOOD and bite.verdict not in UNDECIDED:
            bites.append(bite)
    order, places = list(KINDS), {issue.id: place for place, issue in enumerate(knowledge.issues)}
    bites.sort(key=lambda each: (order.index(each.issue.kind), places[each.issue.id]))
    return Answer(
        stack,
        versions,
        tuple(bites),
        tuple(stops),
        blocked,
        counts,
        tuple(unknown),
        len(knowledge.cases) - len(cases),
        tuple(newer(knowledge, versions)),
        knowledge.day,
    )


def _packages(knowledge: Knowledge) -> Iterable[str]:
    return (name for pins in knowledge.cells.values() for name in pins)


def newer(knowledge: Knowledge, versions: Pins) -> list[str]:
    """The packages of `versions` that are newer than any that was run."""
    found = []
    for name, version in versions.items():
        known = [Version(pins[name]) for pins in knowledge.cells.values() if name in pins]
        if known and name in ("jax", "equinox", "diffrax", "lineax", "optimistix") and Version(version) > max(known):
            found.append(f"{name} {version} (the newest here is {max(known)})")
    return found


def _bite(issue: KnownIssue, case: KnownCase, known: Prediction, versions: Pins) -> Bite:
    behaviour = known.behaviour or ""
    verdict = case.behaviours.get(behaviour, behaviour)
    return Bite(
        issue, case, verdict, behaviour, known, how(known, versions), good(case, known, versions),
        _helps(case, known, versions),
    )  # fmt: skip


def good(case: KnownCase, known: Prediction, versions: Pins) -> str:
    """From which release of the package that the rules name it is well, or up to which it was."""
    named = [each.name for rule in known.rules for each in requirements(rule.on)]
    for package in dict.fromkeys([*named, "jax"]):
        of = [each for each in case.intervals if each.package == package]
        if package not in versions or not of:
            continue
        here = Version(versions[package])
        well = [each for each in of if each.verdict in ("clear", "absent", "documented")]
        after = min((each for each in well if Version(each.first) > here), key=_first, default=None)
        if after is not None:
            return f"good from {package} {after.first}"
        loud = [each for each in of if each.verdict == "guarded" and Version(each.first) > here]
        if loud:
            return f"refused loudly from {package} {min(loud, key=_first).first}"
        before = max((each for each in well if Version(each.last) < here), key=_first, default=None)
        return f"good up to {package} {before.last}, and on none since" if before else f"no release of {package} is right"
    return ""


def _first(interval: Interval) -> Version:
    return Version(interval.first)


def _helps(case: KnownCase, known: Prediction, versions: Pins) -> str:
    """What is known of the workaround on these versions."""
    if not case.workaround:
        return ""
    if any(met(on, versions) for on in case.fails):
        return "known not to help here"
    seen = {case.helped.get(run.cell, "") for run in known.runs}
    if "fails" in seen:
        return "it did not help where it was run"
    if "holds" in seen:
        return "verified on these versions" if known.how == "run" else "verified on the nearest that were run"
    return "not verified here"
