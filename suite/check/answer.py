"""Versions → what is known to affect them: which cases, how that is known, since when it is good, what to do. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from packaging.version import Version

from suite.check.assumed import assumed, refused_jaxlib
from suite.check.inputs.stack import Stack
from suite.check.knowledge import Knowledge, KnownCase, KnownIssue
from suite.judge.prediction import Name, Prediction, Stopped, foresee, how, with_jaxlib
from suite.judge.rules import STACK, Pins, first_match, met, requirements
from suite.judge.table import GOOD, UNDECIDED, VERDICTS, Verdict

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
WELL = ("clear", "absent", "documented")
_DEVICE = re.compile(r"jax-(cuda|rocm)|libtpu")
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
    verdict: Verdict
    behaviour: str
    known: Prediction
    why: str
    good: str
    helps: str

    @property
    def name(self) -> Name:
        """The ids of its issue and its case."""
        return self.issue.id, self.case.id

    @property
    def mended(self) -> bool:
        """Whether a release is known on which it is well, or refused loudly."""
        return self.good.startswith(("good", "refused"))


@dataclass(frozen=True)
class Answer:
    """All that is known of a stack.

    `stops` are packages that do not import there; `blocked` are the cases that need them, or wait for a case that goes
    wrong. `counts` says of how many of the cases `looked_up` it is known how; `elsewhere` counts those that need what
    the stack does not have; `newer` are packages newer than any that was run. `assumed` are versions that nobody named
    and an installer would have given; `unsure` says what nothing is known of, and `imports` whether the stack works at
    all. `ignored` is what the project's own file, or the code itself, leaves out.
    """

    stack: Stack
    versions: Pins
    bites: tuple[Bite, ...]
    stops: tuple[str, ...]
    blocked: tuple[Name, ...]
    counts: Mapping[str, int]
    unknown: tuple[str, ...]
    elsewhere: int
    newer: tuple[str, ...]
    unsure: tuple[str, ...]
    imports: str
    day: str
    looked_up: tuple[Name, ...]
    assumed: Pins
    ignored: tuple[str, ...] = ()

    @property
    def issues(self) -> list[tuple[KnownIssue, list[Bite]]]:
        """The issues that bite, the worst first, each with its cases."""
        return [(of[0].issue, of) for _, group in groupby(self.bites, lambda each: each.issue.id) if (of := [*group])]

    @property
    def silent(self) -> int:
        """How many of the issues give other numbers without a word."""
        return sum(issue.kind.startswith("silent") for issue, _ in self.issues)

    @property
    def is_known(self) -> bool:
        """Whether anything is known of this stack."""
        return bool(sum(self.counts.values()) or self.blocked)

    @property
    def works(self) -> bool:
        """Whether nothing tells that the stack does not import or solve: row zero asks that."""
        return not (self.stops or any(issue.row_zero for issue, _ in self.issues))

    @property
    def chronic(self) -> frozenset[str]:
        """The ids of the issues that no release mends, for any case."""
        mended = {bite.issue.id for bite in self.bites if bite.mended}
        return frozenset({bite.issue.id for bite in self.bites} - mended)

    @property
    def first_line(self) -> str:
        """The verdict."""
        count = len(self.issues)
        if self.stops:
            return f"This stack does not work: {' and '.join(self.stops)} does not import with the others."
        if not self.is_known:
            return "Nothing is known of this stack."
        if not count:
            return "Of the cases that were looked up, none is known to be affected."
        silently = f", {self.silent} of them silent" if self.silent else ""
        return f"{count} known issue{'s affect' if count > 1 else ' affects'} this stack{silently}."

    @property
    def last_line(self) -> str:
        """What that rests on: unknown is never clean."""
        told = [f"{self.counts[name]} {words}" for name, words in _HOW.items() if self.counts.get(name)]
        told += [f"{len(self.blocked)} blocked by what does not import or work"] if self.blocked else []
        known = sum(self.counts.values()) + len(self.blocked)
        lines = f"Looked up {known} cases, as of {self.day}" + (f": {', '.join(told)}." if told else ".")
        if self.elsewhere:
            lines += f" {self.elsewhere} more need packages that are not there."
        if self.ignored:
            lines += f" {len(self.ignored)} ignored by jax-stack-compat.toml."
        if self.newer:
            lines += f" Newer than this data: {', '.join(self.newer)}; what is said of these is carried on by rule."
        return lines


def answer(knowledge: Knowledge, stack: Stack) -> Answer:
    """What is known of `stack` by the published rules and runs."""
    named = {*_packages(knowledge)}
    given = {name: _spelled(name, of, knowledge) for name, of in stack.versions.items() if name in named}
    guessed = assumed(knowledge, given, stack.unsaid)
    strange = _strange(knowledge, given)
    if refused := refused_jaxlib(given) if "jax" not in strange else "":
        strange["jax"] = refused
    if "jax" in strange:
        given.pop("jaxlib", None)
    given = {name: of for name, of in {**guessed, **given}.items() if name not in strange}
    versions = with_jaxlib(given, knowledge.cells.values())
    there = {"jaxlib", *versions, *stack.unsaid}
    lacking = {name for name, case in knowledge.cases.items() if not there.issuperset(case.needs)}
    # Row zero takes the whole stack, and that an Equinox does not import its rules tell without a Diffrax.
    cases = {
        name: case for name, case in knowledge.cases.items() if name not in lacking or name[0] in knowledge.row_zero
    }
    foreseen = foresee(cases, knowledge.row_zero, versions, {name: case.runs for name, case in cases.items()})
    found = {
        each: known
        for each, known in foreseen.items()
        if each not in lacking or (isinstance(known, Prediction) and known.behaviour == "import-error")
    }
    issues = {issue.id: issue for issue in knowledge.issues}
    counts: Counter[str] = Counter()
    bites, unknown, blocked, stops = [], [], [], dict[str, None]()
    for (issue, case), known in found.items():
        if isinstance(known, Stopped):
            blocked.append((issue, case))
            stops |= dict.fromkeys(f"{name} {versions.get(name, '')}".rstrip() for name in known.packages)
            continue
        counts[known.how] += 1
        if known.behaviour is None:
            unknown.append(f"{issue}/{case}")
            continue
        means = verdict(cases[issue, case], known.behaviour)
        if means not in GOOD and means not in UNDECIDED:
            bites.append(_bite(issues[issue], cases[issue, case], means, known, versions, knowledge))
    order, places = list(KINDS), {issue.id: place for place, issue in enumerate(knowledge.issues)}
    bites.sort(key=lambda each: (order.index(each.issue.kind), places[each.issue.id]))
    return Answer(
        stack,
        versions,
        tuple(bites),
        tuple(stops),
        tuple(blocked),
        counts,
        tuple(unknown),
        len(knowledge.cases) - len(found),
        tuple(newer(knowledge, versions)),
        (*strange.values(), *_unsure(stack)),
        _imports(knowledge, found),
        knowledge.day,
        tuple(found),
        guessed,
    )


def _spelled(name: str, version: str, knowledge: Knowledge) -> str:
    """Return a version as its release spells it: an installer takes 0.7 for 0.7.0."""
    releases = knowledge.releases.get(name, ())
    if version in releases:
        return version
    return next((release for release in releases if Version(release) == Version(version)), version)


def _strange(knowledge: Knowledge, versions: Pins) -> dict[str, str]:
    """The packages of the stack whose version lies outside of what was run, and how: no rule is carried on so far.

    A patch of the newest minor series is by rule; a release between two of its series too.
    """
    found = {}
    for name in (each for each in STACK if each != "jaxlib" and each in versions):
        known, here = knowledge.releases.get(name, []), Version(versions[name])
        series = [each for each in known if Version(each).release[:2] == here.release[:2]]
        if not known:
            continue
        if here < Version(known[0]):
            found[name] = f"{name} {here} is older than this data, which begins with {known[0]}."
        elif series and (here <= Version(series[-1]) or series[-1] == known[-1]):
            continue
        elif here > Version(known[-1]):
            found[name] = f"{name} {here} is newer than this data, which ends with {known[-1]}, {knowledge.day}."
        else:
            found[name] = f"{name} {here} is no release that was run."
    return found


def _unsure(stack: Stack) -> Iterable[str]:
    if "jax" not in stack.versions and "jax" not in stack.unsaid:
        yield "Name jax and its version: nearly every case needs it."
    if plugins := sorted(filter(_DEVICE.match, stack.versions)):
        ask = "`check --python .venv --confirm` runs the cases on your device"
        yield f"This stack has {' and '.join(plugins)}, and this data is of CPUs: {ask}."


def _imports(knowledge: Knowledge, found: Mapping[Name, Prediction | Stopped]) -> str:
    """Whether the stack works at all, by row zero; nothing where that needs more than is there, or is not known."""
    of = [(knowledge.cases[name], known) for name, known in found.items() if name[0] in knowledge.row_zero]
    for case, known in of:
        if isinstance(known, Stopped) or known.behaviour is None or verdict(case, known.behaviour) not in GOOD:
            return ""
    ran = all(isinstance(known, Prediction) and known.how == "run" for _, known in of)
    return f"Imports and solves ({'run' if ran else 'by rule'}; CPU, x86-64)." if of else ""


def _packages(knowledge: Knowledge) -> Iterable[str]:
    return (name for pins in knowledge.cells.values() for name in pins)


def newer(knowledge: Knowledge, versions: Pins) -> list[str]:
    """The packages of `versions` that are newer than any that was run."""
    found = []
    for name in (each for each in STACK if each != "jaxlib"):
        if (
            name in versions
            and (known := knowledge.releases.get(name))
            and Version(versions[name]) > Version(known[-1])
        ):
            found.append(f"{name} {versions[name]} (the newest here is {known[-1]})")
    return found


def _bite(
    issue: KnownIssue, case: KnownCase, means: Verdict, known: Prediction, versions: Pins, knowledge: Knowledge
) -> Bite:
    why, until, helps = _why(known, versions), good(case, versions, knowledge), _helps(case, known, versions)
    return Bite(issue, case, means, known.behaviour or "", known, why, until, helps)


def _why(known: Prediction, versions: Pins) -> str:
    """How a prediction is known; of runs on other versions than these, the versions and not the cell's name."""
    if known.how == "run":
        return "run on these versions"
    moved = [name for name in STACK if len({run.pins.get(name) for run in known.runs}) > 1]
    name = next((each for each in moved if each != "jaxlib"), "jax")
    near = list(dict.fromkeys(run.pins[name] for run in known.runs if name in run.pins))
    runs = f"{name} {' and '.join(near)}" if near else ""
    if known.how == "between":
        return f"between runs on {runs}"
    return how(replace(known, runs=()), versions) + (f"; nearest: {runs}" if runs else "")


def verdict(case: KnownCase, behaviour: str) -> Verdict:
    """What a behaviour of a case, or a verdict where none was seen, means."""
    shown = case.behaviours.get(behaviour, behaviour)
    return next((each for each in VERDICTS if each == shown), "different")


@dataclass(frozen=True)
class Span:
    """Releases of `package`, side by side, on which a case is well, or not, with the other versions kept."""

    package: str
    well: bool
    loud: bool
    first: str
    last: str
    open: bool


def spans(case: KnownCase, package: str, versions: Pins, knowledge: Knowledge) -> list[Span]:
    """How a case goes along the known releases of a package by its rules, oldest first: the rest of a stack stays.

    What no rule tells ends a span, and is in none. A jaxlib moves with its jax.
    """
    told: list[tuple[str, tuple[bool, bool] | None]] = []
    releases = knowledge.releases.get(package, [])
    if package == "jax" and any("jaxlib" in each for each in knowledge.jaxlibs.values()):
        # A jax that could not be installed is no advice.
        releases = [each for each in releases if "jaxlib" in knowledge.jaxlibs[each]]
    for release in releases:
        moved: Pins = {**versions, package: release}
        if package == "jax":
            moved = {**{name: of for name, of in versions.items() if name != "jaxlib"}, **knowledge.jaxlibs[release]}
        rule = first_match(case.rules, moved)
        means = verdict(case, rule.behaviour) if rule else None
        told.append((release, (means in WELL, means == "guarded") if means else None))
    found = []
    for of, group in groupby(told, lambda each: each[1]):
        span = [release for release, _ in group]
        if of is not None:
            well, loud = of
            found.append(Span(package, well, loud, span[0], span[-1], span[-1] == releases[-1]))
    return found


def good(case: KnownCase, versions: Pins, knowledge: Knowledge) -> str:
    """From which release of a package that its rules name a case is well, with the other versions kept, or up to which.

    Nothing where no rule tells.
    """
    named = [requirement.name for rule in case.rules for requirement in requirements(rule.on)]
    own = knowledge.jaxlibs.get(versions.get("jax", ""), {}).get("jaxlib")
    if own and versions.get("jaxlib") not in (None, own) and _is_well(case, {**versions, "jaxlib": own}):
        # Another jaxlib is beside this jax than an installer gives.
        return f"good with jaxlib {own}"
    packages = [each for each in dict.fromkeys([*named, "jax", *case.needs]) if each in versions and each != "jaxlib"]
    told = [span for package in packages for span in spans(case, package, versions, knowledge)]
    after = [each for each in told if Version(each.first) > Version(versions[each.package])]
    before = [each for each in told if Version(each.last) < Version(versions[each.package])]
    for each in (*(each for each in after if each.well), *(each for each in after if each.loud)):
        what = "good" if each.well else "refused loudly"
        if each.first == each.last and not each.open:
            return f"{what} on {each.package} {each.first}"
        return f"{what} from {each.package} {each.first}{'' if each.open else f' to {each.last}'}"
    for each in reversed([each for each in before if each.well]):
        return f"good up to {each.package} {each.last}, and on none since"
    if not told:
        return ""
    *others, last = (
        (each for each in packages if each in case.needs or each == "jax") if "jax" in packages else packages
    )
    tried = f"{', '.join(others)} or {last}" if others else last
    return f"no release of {tried} that was run is right"


def _is_well(case: KnownCase, versions: Pins) -> bool:
    rule = first_match(case.rules, versions)
    return rule is not None and verdict(case, rule.behaviour) in WELL


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
