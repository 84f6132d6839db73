"""Known issues of a stack: the cases, how each is known, its good releases, and its workaround. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from jax_stack_compat.check.finding import RANKS
from jax_stack_compat.check.good import good, helps
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.knowledge import Knowledge, KnownCase, KnownIssue
from jax_stack_compat.check.on_devices import KnownDevice, also_there, of_stack, plugins, sentence
from jax_stack_compat.check.versions import looked_up
from jax_stack_compat.check.works import Works, judged
from jax_stack_compat.judge.prediction import Name, Prediction, Stopped, foresee, how
from jax_stack_compat.judge.rules import Pins
from jax_stack_compat.judge.verdict_table import Verdict
from jax_stack_compat.judge.verdicts import goes_wrong
from jax_stack_compat.packages import STACK

_HOW = {
    "run": "run on exactly these versions",
    "by rule": "by rule",
    "between": "between two runs that agree",
    "unknown": "not known",
}


@dataclass(frozen=True)
class Effect:
    """A case that goes wrong on these versions.

    `why` says how that is known. `good` names the releases of one package on which the case is good. `helps` is a
    phrase on whether the workaround helps here, and `device` on whether the case goes wrong on a device, too.
    """

    issue: KnownIssue
    case: KnownCase
    verdict: Verdict
    behaviour: str
    known: Prediction
    why: str
    good: str
    helps: str
    device: str = ""

    @property
    def name(self) -> Name:
        """The ids of its issue and its case."""
        return self.issue.id, self.case.id

    @property
    def has_good_release(self) -> bool:
        """True if a release is known on which the case is good, or no longer silent."""
        return self.good.startswith(("good", "no longer silent"))


@dataclass(frozen=True)
class Answer:
    """All that is known about a stack.

    `stops` are packages that do not import there. `blocked` are the cases that need them, or wait for a case that goes
    wrong. `counts` counts the cases `looked_up` by how they are known. `elsewhere` counts cases whose packages the
    stack lacks. `newer` are packages newer than any that was run. `assumed` are versions that nobody named; an
    installer would have chosen them. `unsure` lists what is unknown, and `works` says if the stack works at all.
    `ignored` are the issues that the project's own file, or the code itself, leaves out.
    """

    stack: Stack
    versions: Pins
    effects: tuple[Effect, ...]
    stops: tuple[str, ...]
    blocked: tuple[Name, ...]
    counts: Mapping[str, int]
    unknown: tuple[str, ...]
    elsewhere: int
    newer: tuple[str, ...]
    unsure: tuple[str, ...]
    works: Works
    day: str
    looked_up: tuple[Name, ...]
    assumed: Pins
    ignored: tuple[str, ...] = ()

    @property
    def issues(self) -> list[tuple[KnownIssue, list[Effect]]]:
        """The issues that affect the stack, worst first, with their cases."""
        return [(of[0].issue, of) for _, group in groupby(self.effects, lambda each: each.issue.id) if (of := [*group])]

    def less(self, names: Collection[Name]) -> Answer:
        """Return the answer without these cases."""
        return replace(self, effects=tuple(effect for effect in self.effects if effect.name not in names))

    @property
    def silently(self) -> str:
        """The end of a sentence, with the number of issues that silently change numbers; empty if there are none."""
        count = sum(issue.kind.startswith("silent") for issue, _ in self.issues)
        return f", {count} of them silent" * bool(count)

    @property
    def is_known(self) -> bool:
        """True if anything is known about this stack."""
        return bool(sum(self.counts.values()) or self.blocked)

    @property
    def chronic(self) -> frozenset[str]:
        """The ids of the issues without a good release for any case."""
        fixable = {effect.issue.id for effect in self.effects if effect.has_good_release}
        return frozenset({effect.issue.id for effect in self.effects} - fixable)

    @property
    def first_line(self) -> str:
        """The number of issues that affect the stack, in a sentence."""
        count = len(self.issues)
        if not self.is_known:
            return "Nothing is known about this stack."
        if not count:
            return "No known issue affects this stack."
        return f"{count} known issue{'s affect' if count > 1 else ' affects'} this stack{self.silently}."

    @property
    def last_line(self) -> str:
        """The data behind the verdict. Unknown issues never count as absent."""
        told = [f"{self.counts[name]} {words}" for name, words in _HOW.items() if self.counts.get(name)]
        told += [f"{len(self.blocked)} blocked by a package or case that does not work"] if self.blocked else []
        known = sum(self.counts.values()) + len(self.blocked)
        lines = f"Looked up {known} cases, as of {self.day}" + (f": {', '.join(told)}." if told else ".")
        if self.elsewhere:
            need = "cases need" if self.elsewhere != 1 else "case needs"
            lines += f" {self.elsewhere} more {need} packages that this stack lacks."
        if self.ignored:
            lines += f" Issues ignored by jax-stack-compat.toml: {len(self.ignored)}."
        if self.newer:
            lines += f" Newer than this data, so predicted by rules: {', '.join(self.newer)}."
        return lines


def answer(knowledge: Knowledge, stack: Stack) -> Answer:
    """Return what is known about `stack` by the published rules and runs."""
    found_versions = looked_up(stack, knowledge)
    there_are = of_stack(knowledge.devices, stack.versions)
    versions = found_versions.pins
    there = {"jaxlib", *versions, *stack.unsaid}
    lacking = {name for name, case in knowledge.cases.items() if not there.issuperset(case.needs)}
    # Row zero needs the whole stack, but its rules can tell that Equinox does not import without Diffrax.
    cases = {
        name: case for name, case in knowledge.cases.items() if name not in lacking or name[0] in knowledge.row_zero
    }
    foreseen = foresee(cases, knowledge.row_zero, versions, {name: case.runs for name, case in cases.items()})
    found = {
        case_name: known
        for case_name, known in foreseen.items()
        if case_name not in lacking or (isinstance(known, Prediction) and known.behaviour == "import-error")
    }
    issues = {issue.id: issue for issue in knowledge.issues}
    counts: Counter[str] = Counter()
    effects, unknown, blocked, stops = [], [], [], dict[str, None]()
    for (issue, case), known in found.items():
        if isinstance(known, Stopped):
            blocked.append((issue, case))
            stops |= dict.fromkeys(f"{name} {versions.get(name, '')}".rstrip() for name in known.packages)
            continue
        counts[known.how] += 1
        if known.behaviour is None:
            unknown.append(f"{issue}/{case}")
            continue
        of = cases[issue, case]
        if goes_wrong(means := of.verdict(known.behaviour)):
            texts = _why(known, versions), good(of, versions, knowledge), helps(of, known, versions)
            on_device = also_there(there_are, (issue, case), known.behaviour)
            effects.append(Effect(issues[issue], of, means, known.behaviour, known, *texts, on_device))
    places = {issue.id: place for place, issue in enumerate(knowledge.issues)}
    effects.sort(key=lambda each: (RANKS[each.issue.kind], places[each.issue.id]))
    return Answer(
        stack,
        versions,
        tuple(effects),
        tuple(stops),
        tuple(blocked),
        counts,
        tuple(unknown),
        len(knowledge.cases) - len(found),
        found_versions.newer,
        (
            *stack.notes,
            *found_versions.strange,
            *_unsure(stack, versions, there_are, [effect.name for effect in effects]),
        ),
        judged(knowledge, stack, found_versions),
        knowledge.day,
        tuple(found),
        found_versions.assumed,
    )


def _unsure(stack: Stack, versions: Pins, there: Sequence[KnownDevice], names: Collection[Name]) -> Iterable[str]:
    if "jax" not in versions and "jax" not in stack.versions and "jax" not in stack.unsaid:
        yield "Name jax and its version: nearly every case needs it."
    if brought := plugins(stack.versions):
        yield sentence(there, brought, names)


def _why(known: Prediction, versions: Pins) -> str:
    """Return how a prediction is known; runs on other versions are named by version, not by cell."""
    if known.how == "run":
        return "run on these versions"
    moved = [name for name in STACK if len({run.pins.get(name) for run in known.runs}) > 1]
    name = next((each for each in moved if each != "jaxlib"), "jax")
    near = list(dict.fromkeys(run.pins[name] for run in known.runs if name in run.pins))
    runs = f"{name} {' and '.join(near)}" if near else ""
    if known.how == "between":
        return f"between runs on {runs}"
    return how(replace(known, runs=()), versions) + (f"; nearest: {runs}" if runs else "")
