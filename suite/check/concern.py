"""Cases that concern a source tree, by the functions and arguments that they touch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from suite.check.knowledge import Knowledge, KnownCase
from suite.check.source.touched import Touch, meets, touch, touched
from suite.check.source.usage import Use


@dataclass(frozen=True)
class Uses:
    """The uses in a source tree of names that cases touch, and all names that it uses."""

    touched: Mapping[str, Sequence[Use]]
    names: frozenset[str]


@dataclass(frozen=True)
class Met:
    """A use that a case concerns; `likely` if the code meets the case's condition."""

    use: Use
    name: str
    likely: bool


def touches(case: KnownCase) -> list[Touch]:
    """Return what a case touches; for a function with a keyword, only the keyword."""
    found = [touch(each) for each in case.touches]
    keyed = {each.name for each in found if each.keyword}
    return [each for each in found if each.keyword or each.name not in keyed]


def is_untold(case: KnownCase) -> bool:
    """Return True if code can meet a case without naming what the case touches."""
    found = touches(case)
    return all(each.is_untold for each in found) or any(each.is_untold and "." in each.name for each in found)


def uses(of: Iterable[Use], names: frozenset[str], knowledge: Knowledge) -> Uses:
    """Group uses by the names that cases touch; `names` are all names that the project uses."""
    wanted = frozenset(each.name for case in knowledge.cases.values() for each in touches(case))
    found: dict[str, list[Use]] = defaultdict(list)
    for use in of:
        for name in touched(use, wanted):
            found[name].append(use)
    return Uses(found, names)


def met(case: KnownCase, of: Uses) -> list[Met]:
    """Return the uses that a case concerns, also where the code ignores it, in order of place."""
    found: dict[tuple[str, int, int], Met] = {}
    for wanted in touches(case):
        for use in of.touched.get(wanted.name, ()):
            holds = meets(wanted, use, of.names)
            place = use.path, use.line, use.column
            if holds is not False and (place not in found or (holds and not found[place].likely)):
                found[place] = Met(use, wanted.shown, bool(holds))
    return [found[place] for place in sorted(found)]
