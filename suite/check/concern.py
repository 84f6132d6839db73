"""Which of the issues that bite concern a source tree: by the functions and keywords that each concerns. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suite.check.answer import Answer
from suite.check.knowledge import Knowledge

if TYPE_CHECKING:
    from suite.check.source.usage import Usage, Use


@dataclass(frozen=True)
class Concern:
    """What a source tree has to do with the issues that bite.

    `uses` has where it names what an issue concerns; `untold` the issues of which that cannot be told from source, and
    `unused` those that concern nothing of what it uses.
    """

    uses: Mapping[str, Sequence[Use]]
    untold: tuple[str, ...]
    unused: tuple[str, ...]


def own_names(knowledge: Knowledge) -> dict[str, frozenset[str]]:
    """The functions and keywords that each issue concerns; of a function with a keyword, the keyword."""
    found = {}
    for issue in knowledge.issues:
        names = [name for name in issue.touches if "." in name]
        keyed = {name.partition("(")[0] for name in names if "(" in name}
        found[issue.id] = frozenset(name for name in names if name not in keyed)
    return found


def concern(answer: Answer, names: Mapping[str, frozenset[str]], usage: Usage) -> Concern:
    """What the issues that bite have to do with a source tree: it narrows them, and hides none."""
    uses: dict[str, list[Use]] = {}
    untold, unused = [], []
    for issue, _ in answer.issues:
        own = names.get(issue.id, frozenset())
        of = [use for use in usage.found if use.name in own]
        told = [use for use in of if issue.id not in use.ignored and "*" not in use.ignored]
        if told:
            uses[issue.id] = told
        elif not of and (not own or own.intersection(usage.untold)):
            untold.append(issue.id)
        else:
            unused.append(issue.id)
    return Concern(uses, tuple(untold), tuple(unused))
