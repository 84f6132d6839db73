"""The outcome of `check`, which every format and the exit code render: answer, source read, and findings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from suite.check import concern
from suite.check.answer import KINDS, Answer, Effect
from suite.check.finding import ACT, LEVELS, Finding, Level
from suite.check.knowledge import Knowledge
from suite.errors import Exit
from suite.judge.rules import STACK, Pins, requirements
from suite.names import libraries

if TYPE_CHECKING:
    from suite.check.baseline import BaselineComparison
    from suite.check.source.sources import Unread
    from suite.check.source.usage import Usage


# Packages that an installer brings with JAX and what builds on it.
_BROUGHT = frozenset({*STACK, "jaxtyping", "numpy", "scipy"})


@dataclass(frozen=True)
class SourceRead:
    """The source that was read: the number of files, those that could not be read, and skipped folders.

    Of the `functions` that it calls, `covered` are touched by a case that was looked up, and `lacking` do not exist.
    `untold` are issues of the stack that code can meet without naming anything.
    """

    files: int
    unread: tuple[Unread, ...] = ()
    skipped: tuple[str, ...] = ()
    functions: int = 0
    covered: int = 0
    lacking: int = 0
    untold: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """An answer with `findings` in order, cases `gone` by an upgrade, and `stale` entries of the ignore file."""

    answer: Answer
    known: Knowledge
    findings: tuple[Finding, ...]
    read: SourceRead | None = None
    gone: tuple[str, ...] | None = None
    stale: tuple[str, ...] = ()
    baseline: BaselineComparison | None = None
    fail_on: str | None = None
    strict: bool = False

    def of(self, *levels: str, guarded: bool = False) -> list[Finding]:
        """Return the findings of some levels; with `guarded`, also those in code that checks the release."""
        return [finding for finding in self.findings if finding.level in levels and (guarded or not finding.guarded)]

    @property
    def to_do(self) -> list[Finding]:
        """The findings that require action."""
        return self.of(*ACT) if self.read else []

    @property
    def concerned(self) -> Answer:
        """The answer, with only the cases that have a finding."""
        kept = {(finding.id, case) for finding in self.findings for case in finding.cases}
        return replace(self.answer, effects=tuple(effect for effect in self.answer.effects if effect.name in kept))

    @property
    def issues(self) -> dict[str, list[Finding]]:
        """The findings, by issue."""
        found: dict[str, list[Finding]] = {}
        for finding in self.findings:
            if finding.id:
                found.setdefault(finding.id, []).append(finding)
        return found

    @property
    def unsure(self) -> list[str]:
        """Sentences about what is unknown, and how to find out; they come first."""
        unread = [each for each in self.read.unread if each.mentions] if self.read else []
        named = ", ".join(f"{each.path} ({each.why})" for each in unread[:2])
        more = f" and {len(unread) - 2} more" if len(unread) > 2 else ""
        return [*self.answer.unsure, *[f"Could not be read, and mentions the stack: {named}{more}."] * bool(unread)]

    @property
    def assumed(self) -> str:
        """The assumed and unnamed versions, in words."""
        told = ", ".join(f"{name} {version}" for name, version in self.answer.assumed.items())
        parts = [f"Assumed: {told}." if told else ""]
        turn = [name for name in map(self._unnamed, self.answer.unknown) if name]
        if turn:
            cases = "1 case depends" if len(turn) == 1 else f"{len(turn)} cases depend"
            parts.append(f"Not named: {', '.join(sorted(frozenset().union(*turn)))}; {cases} on that.")
        return " ".join(filter(None, parts))

    def _unnamed(self, case: str) -> frozenset[str]:
        """Return the packages that a case's rules name, that an installer brings, and that nobody named."""
        issue, _, id = case.partition("/")
        named = {each.name for rule in self.known.cases[issue, id].rules for each in requirements(rule.on)}
        return frozenset((named & _BROUGHT) - self.answer.versions.keys() - self.answer.stack.unsaid.keys())

    @property
    def sentence(self) -> str:
        """The verdict."""
        if self.gone is not None and self.answer.is_known:
            return f"What this upgrade adds: {self._verdict}"
        return self._verdict

    @property
    def _verdict(self) -> str:
        if self.gone is not None and self.answer.is_known and self.read is None and not self.answer.stops:
            count = len(self.answer.issues)
            silent = f", {self.answer.silent} of them silent" * bool(self.answer.silent)
            return f"{count} known issue{'s' * (count != 1)}{silent}." if count else "no known issue."
        if self.read is None or self.answer.stops or not self.answer.is_known:
            return self.answer.first_line
        if not self.read.files:
            return "No Python was found there."
        places, likely = self.of("certain"), self.of("likely")
        told = [f"{len(self.to_do)} place{'s' * (len(self.to_do) != 1)} to change"] if places or likely else []
        possible = len({each.id for each in self.of("possible")})
        told += [f"{possible} issue{'s' * (possible != 1)} possible"]
        lead = "" if places or likely else "Nothing is known to need a change. "
        return lead + ". ".join(told) + "."

    @property
    def coverage(self) -> str:
        """The coverage of the called functions, in a sentence."""
        if not self.read or not self.read.functions:
            return ""
        of = self.read
        lacking = {0: "all exist", of.functions: "none exists"}.get(
            of.lacking, f"{of.lacking} do{'es' * (of.lacking == 1)} not exist"
        )
        return (
            f"Of the {of.functions} function{'s' * (of.functions != 1)} you call, {of.covered} "
            f"{'is' if of.covered == 1 else 'are'} touched by a case that was looked up; {lacking} here."
        )

    @property
    def exit(self) -> Exit:
        """The exit code."""
        answer, read, fail_on = self.answer, self.read, self.fail_on
        if not answer.is_known or (read is not None and not read.files):
            return Exit.UNDECIDED
        if self.strict and (answer.newer or answer.unknown or self.unsure):
            return Exit.INCOMPLETE
        wanted = self.of(*_levels(fail_on)) if fail_on in LEVELS else []
        severe = severities(fail_on)
        wanted += [finding for finding in self.findings if finding.kind in severe and not finding.guarded]
        return Exit.UNEXPECTED if not answer.works or self.to_do or wanted else Exit.AS_EXPECTED


def severities(fail_on: str | None) -> Collection[str]:
    """Return the kinds that are as bad as this one, or worse; empty if it is not a kind."""
    kinds = list(KINDS)
    return kinds[: kinds.index(fail_on) + 1] if fail_on in kinds else ()


def _levels(fail_on: str | None) -> Sequence[str]:
    return [each for each in LEVELS if each in (*ACT, fail_on)]


def of_stack(answer: Answer) -> list[Finding]:
    """Return a finding for each issue that affects a stack, for answers without a source."""
    found = []
    for issue, effects in answer.issues:
        level: Level = "chronic" if issue.id in answer.chronic else "possible"
        own = _of_cases(effects)
        found.append(Finding(level, "", issue.title, path=answer.stack.file, id=issue.id, kind=issue.kind, **own))
    return found


def _of_cases(effects: Sequence[Effect]) -> dict[str, Any]:
    """Return the fields of a finding that come from its cases."""
    good = next((effect.good for effect in effects if effect.has_good_release), effects[0].good)
    works = [effect.case.workaround for effect in effects if effect.case.workaround and "not help" not in effect.helps]
    users = libraries.users(touch.name for effect in effects for touch in concern.touches(effect.case))
    cases = tuple(effect.case.id for effect in effects)
    return {"cases": cases, "users": users, "good_from": good, "do": works[0] if works else ""}


def of_source(
    answer: Answer, known: Knowledge, usage: Usage, before: Pins | None = None
) -> tuple[list[Finding], SourceRead, list[str]]:
    """Return the findings for a source tree, what was read, and the ids that the code itself ignores.

    Lines that fail on the versions `before` an upgrade too are left out.
    """
    from suite.check.findings import findings, place  # the names are megabytes
    from suite.check.source.conditions import excludes, is_dead

    here = [use for use in usage.uses if not is_dead(use.guards, answer.versions)]
    uses = concern.uses(here, usage.names, known)
    told: dict[tuple[str, str, int, int], tuple[concern.Met, list[Effect]]] = {}
    ignored, untold = dict[str, None](), dict[str, None]()
    reached = set[str]()
    for effect in answer.effects:
        id = effect.issue.id
        found = concern.met(effect.case, uses)
        if not found and concern.is_untold(effect.case):
            untold[id] = None
        for met in found:
            if id in met.use.ignored or "*" in met.use.ignored:
                ignored[id] = None
                continue
            reached.add(id)
            at = id, met.use.path, met.use.line, met.use.column
            first, effects = told.get(at, (met, []))
            told[at] = (met if met.likely else first), [*effects, effect]
    old = {(finding.level, finding.key, finding.name) for finding in findings(usage.uses, before)} if before else set()
    lines = [
        finding
        for finding in findings(usage.uses, answer.versions)
        if "*" not in finding.ignored and (finding.level, finding.key, finding.name) not in old
    ]
    # One finding is enough for a line that fails.
    ended = {(each.path, each.line, each.column): at for at, each in enumerate(lines) if each.level == "certain"}
    issues = []
    for (id, path, line, column), (met, effects) in told.items():
        if (number := ended.get((path, line, column))) is not None and not lines[number].id:
            own = {**_of_cases(effects), "do": lines[number].do}
            lines[number] = replace(lines[number], id=id, kind=effects[0].issue.kind, **own)
            continue
        likely = met.likely and (id not in answer.chronic or _of_cases(effects)["do"])
        level: Level = "likely" if likely else "chronic" if id in answer.chronic else "possible"
        guarded = excludes(met.use.guards, answer.versions)
        issue, own = effects[0].issue, {**_of_cases(effects), **place(met.use)}
        issues.append(Finding(level, met.name, issue.title, id=id, kind=issue.kind, guarded=guarded, **own))
    called = {thing.name for each in here if each.call for thing in each.things}
    touched = {touch.name for name in answer.looked_up for touch in concern.touches(known.cases[name])}
    read = SourceRead(
        usage.files,
        usage.unread,
        usage.skipped,
        len(called),
        len(called & touched),
        len({line.name for line in lines if line.level == "certain" and not line.guarded} & called),
        tuple(each for each in untold if each not in reached),
    )
    return [*lines, *issues], read, list(ignored)


def ordered(findings: Sequence[Finding], known: Knowledge) -> tuple[Finding, ...]:
    """Sort findings by level, row zero first, then by kind, number of libraries that use what they touch, and place."""
    kinds = ["", *KINDS]

    def order(finding: Finding) -> tuple[object, ...]:
        kind = finding.id not in known.row_zero, kinds.index(finding.kind)
        rank = LEVELS.index(finding.level), *kind, -finding.users
        return *rank, finding.id, finding.path, finding.line, finding.column, finding.name

    return tuple(sorted(findings, key=order))
