"""The outcome of `check`: answer, source read and findings; its exit code, and the sentences of all formats."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.check.answer import Answer
from jax_stack_compat.check.baseline import BaselineComparison
from jax_stack_compat.check.finding import ACT, KINDS, LEVELS, Finding
from jax_stack_compat.check.findings import SourceRead
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.source.uses import not_read
from jax_stack_compat.packages import PACKAGES

NO_PYTHON = "No Python was found there."


@dataclass(frozen=True)
class Outcome:
    """An answer with `findings` in order, cases `gone` by an upgrade, and `stale` entries of the ignore file.

    `lowest` is about the lowest releases that the bounds of an unpinned stack admit.
    `slower` are the confirmed slow-downs between the two stacks of an upgrade, in words.
    """

    answer: Answer
    known: Knowledge
    findings: tuple[Finding, ...]
    read: SourceRead | None = None
    gone: tuple[str, ...] | None = None
    stale: tuple[str, ...] = ()
    baseline: BaselineComparison | None = None
    fail_on: str | None = None
    strict: bool = False
    lowest: Outcome | None = None
    slower: tuple[str, ...] = ()

    def of(self, *levels: str, guarded: bool = False) -> list[Finding]:
        """Return the findings of some levels; with `guarded`, also those in code that checks the release."""
        return [finding for finding in self.findings if finding.level in levels and (guarded or not finding.guarded)]

    @property
    def possible(self) -> dict[str, list[Finding]]:
        """The possible findings of which the code shows a part, by issue."""
        found: dict[str, list[Finding]] = {}
        for finding in self.of("possible"):
            if finding.narrowed:
                found.setdefault(finding.id, []).append(finding)
        return found

    @property
    def unshown(self) -> frozenset[str]:
        """The issues of functions that the code uses, of whose conditions it shows nothing."""
        return frozenset(finding.id for finding in self.of("possible")) - self.possible.keys()

    @property
    def listed(self) -> list[Finding]:
        """The findings for a list: neither guarded nor possible without a part of the condition."""
        return [finding for finding in self.findings if finding.narrowed and not finding.guarded]

    @property
    def to_do(self) -> list[Finding]:
        """The findings that require action."""
        return self.of(*ACT)

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
        """Sentences about unknown facts and how to find them out; these come first."""
        return [*self.answer.unsure, *(not_read(self.read.unread) if self.read else ())]

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
        """Return the packages in a case's rules that the user did not name, and that an installer brings along."""
        issue, _, id = case.partition("/")
        brought = PACKAGES.keys() & self.known.cases[issue, id].named
        return frozenset(brought - self.answer.versions.keys() - self.answer.stack.unsaid.keys())

    @property
    def verdict(self) -> str:
        """Whether the stack installs, imports and runs, and what concerns it, in sentences."""
        return " ".join(filter(None, [self.answer.works.sentence, self.sentence, self.coverage]))

    @property
    def sentence(self) -> str:
        """The number of lines to change, or of issues."""
        answer, read, count = self.answer, self.read, len(self.answer.issues)
        upgrade = "What this upgrade adds: " * (self.gone is not None and answer.is_known)
        if upgrade and read is None:
            added = f"{count} known issue{'s' * (count != 1)}{answer.silently}" if count else "no known issue"
            return f"{upgrade}{added}."
        if read is None or not answer.is_known:
            return upgrade + answer.first_line
        if not read.files:
            return f"{upgrade}{NO_PYTHON}"
        places, possible = len(self.to_do), len(self.possible)
        change = f"{places} place{'s' * (places != 1)} to change." if places else "No line is known to need a change."
        return f"{upgrade}{change} {possible} possible issue{'s' * (possible != 1)}."

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
            f"{'is' if of.covered == 1 else 'are'} covered by a known case; {lacking} in this stack."
        )

    @property
    def exit(self) -> Exit:
        """The exit code."""
        answer, read, fail_on = self.answer, self.read, self.fail_on
        if answer.works.fails or (self.lowest is not None and self.lowest.exit is Exit.UNEXPECTED):
            return Exit.UNEXPECTED
        if not answer.is_known or (read is not None and not read.files):
            return Exit.UNDECIDED
        if self.strict and (answer.newer or answer.unknown or self.unsure):
            return Exit.INCOMPLETE
        levels, kinds = {fail_on, *(ACT if fail_on in LEVELS else ())}, severities(fail_on)
        wanted = any(each.level in levels or each.kind in kinds for each in self.findings if not each.guarded)
        return Exit.UNEXPECTED if self.to_do or wanted else Exit.AS_EXPECTED


def severities(fail_on: str | None) -> Collection[str]:
    """Return the kinds that are as bad as this one, or worse; empty if it is not a kind."""
    kinds = list(KINDS)
    return kinds[: kinds.index(fail_on) + 1] if fail_on in kinds else ()
