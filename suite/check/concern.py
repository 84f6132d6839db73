"""Which of the issues that affect a stack concern a source tree: by the functions and keywords that each touches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from suite.check.answer import Answer
from suite.check.knowledge import Knowledge

if TYPE_CHECKING:
    from suite.check.findings import Finding
    from suite.check.source.sources import Unread
    from suite.check.source.usage import Use


@dataclass(frozen=True)
class Place:
    """Where a source tree uses what an issue touches; line and column from 1."""

    name: str
    path: str
    line: int
    column: int


@dataclass(frozen=True)
class Concern:
    """What a source tree has to do with the issues that affect a stack.

    `places` has where it names what an issue touches; `untold` the issues whose use no source tells, and `unused` those
    that touch nothing of what it uses.
    """

    places: Mapping[str, Sequence[Place]]
    untold: tuple[str, ...]
    unused: tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """What was read in a source tree: where it uses what issues touch, the lines that a stack lacks, and the rest."""

    places: Mapping[str, Sequence[Place]] = field(default_factory=dict)
    lines: tuple[Finding, ...] = ()
    unread: tuple[Unread, ...] = ()
    files: int = 0

    @property
    def unguarded(self) -> list[Finding]:
        """The lines that do not ask for the release themselves."""
        return [each for each in self.lines if not each.guarded]

    @property
    def certain(self) -> list[Finding]:
        """Of these, the lines that the stack does not run."""
        return [each for each in self.unguarded if each.level == "certain"]


def own_names(knowledge: Knowledge) -> dict[str, frozenset[str]]:
    """Return the functions and keywords that each issue touches; of a function with a keyword, the keyword."""
    found = {}
    for issue in knowledge.issues:
        names = [name for name in issue.touches if "." in name]
        keyed = {name.partition("(")[0] for name in names if "(" in name}
        found[issue.id] = frozenset(name for name in names if name not in keyed)
    return found


def concern(answer: Answer, names: Mapping[str, frozenset[str]], uses: Iterable[Use]) -> Concern:
    """Return what uses have to do with the issues of an answer: it narrows them, and hides none."""
    return of_issues([issue.id for issue, _ in answer.issues], names, uses)


def of_issues(ids: Iterable[str], names: Mapping[str, frozenset[str]], uses: Iterable[Use]) -> Concern:
    """Return what uses have to do with these issues."""
    from suite.check.source.touched import is_untold, touched

    told: dict[str, list[Use]] = defaultdict(list)
    wanted = frozenset(name for each in names.values() for name in each)
    for use in uses:
        for name in touched(use, wanted):
            told[name].append(use)
    places: dict[str, list[Place]] = {}
    untold, unused = [], []
    for id in ids:
        own = names.get(id, frozenset())
        of = [(name, use) for name in own for use in told[name]]
        kept = {
            Place(name, use.path, use.line, use.column)
            for name, use in of
            if id not in use.ignored and "*" not in use.ignored
        }
        if kept:
            places[id] = sorted(kept, key=lambda each: (each.path, each.line, each.column, each.name))
        elif not of and (not own or any(map(is_untold, own))):
            untold.append(id)
        else:
            unused.append(id)
    return Concern(places, tuple(untold), tuple(unused))
