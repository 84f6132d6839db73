"""Cases that concern a source tree, by the functions and arguments that they touch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from suite.check.knowledge import Knowledge, KnownCase
from suite.check.source.touched import Touch, meets, touch, touched
from suite.check.source.uses import Use


@dataclass(frozen=True)
class Met:
    """A use that a case concerns; `likely` if the code meets the case's condition."""

    use: Use
    name: str
    likely: bool


def touches(case: KnownCase) -> list[Touch]:
    """Return what a case touches; for a function with a keyword, only the keyword."""
    found = [touch(text) for text in case.touches]
    keyed = {each.name for each in found if each.keyword}
    return [each for each in found if each.keyword or each.name not in keyed]


def is_untold(case: KnownCase) -> bool:
    """Return True if code can meet a case without naming what the case touches."""
    found = touches(case)
    return all(each.is_untold for each in found) or any(each.is_untold and "." in each.name for each in found)


class Concern:
    """The uses in a source tree, by the names that cases touch; `names` are all names that it uses."""

    def __init__(self, uses: Iterable[Use], names: frozenset[str], knowledge: Knowledge) -> None:
        self.names = names
        wanted = frozenset(each.name for case in knowledge.cases.values() for each in touches(case))
        self.touched: dict[str, list[Use]] = defaultdict(list)
        for use in uses:
            for name in touched(use, wanted):
                self.touched[name].append(use)

    def met(self, case: KnownCase) -> list[Met]:
        """Return the uses that a case concerns, also where the code ignores it, in order of place."""
        found: dict[tuple[str, int, int], Met] = {}
        for wanted in touches(case):
            for use in self.touched.get(wanted.name, ()):
                holds, at = meets(wanted, use, self.names), use.place.at
                if holds is not False and (at not in found or (holds and not found[at].likely)):
                    found[at] = Met(use, wanted.shown, bool(holds))
        return [found[at] for at in sorted(found)]
