"""The releases on which a case or an issue is good, and what is known of its workaround. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from jax_stack_compat.check.knowledge import Knowledge, KnownCase, KnownIssue
from jax_stack_compat.judge.metadata import parsed
from jax_stack_compat.judge.prediction import Prediction, foresee, predict, stopped
from jax_stack_compat.judge.rules import Pins, concerned, met
from jax_stack_compat.judge.verdict_table import Verdict
from jax_stack_compat.judge.verdicts import goes_wrong
from jax_stack_compat.packages import BESIDE

Verdicts = Collection[Verdict | None]

WELL: frozenset[Verdict | None] = frozenset({"clear", "absent", "documented"})
# An older release that lacks the function does not help its users.
_WELL_BEFORE = WELL - {"absent"}
_WORDS: Mapping[str, frozenset[Verdict | None]] = {"good": WELL, "no longer silent": WELL | {"guarded"}}


@dataclass(frozen=True)
class Span:
    """Adjacent releases of `package`; `open` if the last is the newest known one."""

    package: str
    first: str
    last: str
    open: bool

    @property
    def told(self) -> str:
        """The releases, in words: `from jax 0.5.0`, `on jax 0.5.0`."""
        return f"{self._preposition} {self.package} {self.first}{self._end}"

    @property
    def again(self) -> str:
        """The releases, in words that follow another span of the same package."""
        return f"again {self._preposition} {self.first}{self._end}"

    @property
    def _preposition(self) -> str:
        return "on" if self.first == self.last and not self.open else "from"

    @property
    def _end(self) -> str:
        return "" if self.open or self.first == self.last else f" to {self.last}"


@dataclass(frozen=True)
class GoodReleases:
    """The releases on which all cases of an issue are good, in words; `spans` are those that the words name.

    "No longer silent" spans count, too: some cases are guarded there.
    """

    told: str
    spans: tuple[Span, ...] = ()


class Moves:
    """The verdicts that cases are expected to have on a stack with one package moved to another release."""

    def __init__(self, versions: Pins, knowledge: Knowledge) -> None:
        self.versions = versions
        self.knowledge = knowledge
        self._row_zero = {name: case for name, case in knowledge.cases.items() if name[0] in knowledge.row_zero}
        self._stacks: dict[str, Sequence[tuple[Pins, frozenset[str]]]] = {}
        self._courses: dict[tuple[KnownCase, str], Sequence[Verdict | None]] = {}

    def releases(self, package: str) -> Sequence[str]:
        """Return the known releases of a package, oldest first; of jax, only those that have a jaxlib."""
        releases = self.knowledge.releases.get(package, [])
        jaxlibs = self.knowledge.jaxlibs
        if package == "jax" and any("jaxlib" in pins for pins in jaxlibs.values()):
            # Do not advise a jax that cannot be installed.
            return [release for release in releases if "jaxlib" in jaxlibs[release]]
        return releases

    def now(self, case: KnownCase) -> Verdict | None:
        """Return a case's verdict on the stack itself."""
        return self._course(case, "", [self.versions])[0]

    def with_jaxlib(self, case: KnownCase, jaxlib: str) -> Verdict | None:
        """Return a case's verdict with another jaxlib."""
        return self._course(case, "jaxlib", [{**self.versions, "jaxlib": jaxlib}])[0]

    def course(self, case: KnownCase, package: str) -> Sequence[Verdict | None]:
        """Return a case's verdicts along the releases of a package; None if unknown or blocked."""
        return self._course(case, package, (self._with(package, release) for release in self.releases(package)))

    def _with(self, package: str, release: str) -> Pins:
        """Return the stack with one release; jaxlib moves with its jax."""
        if package != "jax":
            return {**self.versions, package: release}
        others = {name: version for name, version in self.versions.items() if name != "jaxlib"}
        return {**others, **self.knowledge.jaxlibs[release]}

    def _course(self, case: KnownCase, moved: str, stacks: Iterable[Pins]) -> Sequence[Verdict | None]:
        """Return a case's verdicts on stacks, which `moved` identifies."""
        if moved not in self._stacks:
            self._stacks[moved] = [(pins, self._stopped(pins)) for pins in stacks]
        if (case, moved) not in self._courses:
            course = [self._verdict(case, *stack) for stack in self._stacks[moved]]
            for awaited in self._awaited(case):
                before = self._course(awaited, moved, ())
                course = [None if _is_wrong(first) else own for own, first in zip(course, before, strict=True)]
            self._courses[case, moved] = course
        return self._courses[case, moved]

    def _awaited(self, case: KnownCase) -> Iterator[KnownCase]:
        for name in case.waits_for:
            issue, _, id = name.partition("/")
            if (issue, id) in self.knowledge.cases:
                yield self.knowledge.cases[issue, id]

    def _stopped(self, pins: Pins) -> frozenset[str]:
        """Return the packages that do not import in a stack."""
        found = foresee(self._row_zero, self.knowledge.row_zero, pins, {})
        return frozenset(name for stop in stopped(found.values()) for name in stop.packages)

    def _verdict(self, case: KnownCase, pins: Pins, stops: Collection[str]) -> Verdict | None:
        if stops and not concerned(case.needs).isdisjoint(stops):
            return None
        known = pins.keys() | BESIDE
        # Only row zero is looked up without the packages that it needs: what is absent meets no rule.
        if known >= {*case.named} or not known >= {*case.needs}:
            return case.by_rule(pins)
        behaviour = predict(case, pins, ()).behaviour
        return case.verdict(behaviour) if behaviour else None


def _is_wrong(verdict: Verdict | None) -> bool:
    return verdict is not None and goes_wrong(verdict)


@dataclass(frozen=True)
class _Along:
    """The verdicts along the releases of a package: of the cases affected now, and of the issue's other cases."""

    package: str
    releases: Sequence[str]
    here: str
    affected: Sequence[Sequence[Verdict | None]]
    others: Sequence[Sequence[Verdict | None]]

    @property
    def later(self) -> list[int]:
        """The places of the releases after the stack's."""
        return [place for place, release in enumerate(self.releases) if parsed(release) > parsed(self.here)]

    @property
    def earlier(self) -> list[int]:
        """The places of the releases before the stack's."""
        return [place for place, release in enumerate(self.releases) if parsed(release) < parsed(self.here)]

    def spans(self, places: Iterable[int], well: Verdicts) -> list[Span]:
        """Return the spans of these releases on which all affected cases are well, and no other goes wrong."""
        held = (place for place in places if self.cured(place, well) == {*range(len(self.affected))})
        return self._spans(place for place in held if not self.breaks(place))

    def span(self, start: int, well: Verdicts) -> Span:
        """Return the releases from `start` on which the cases stay well that are well there."""
        cured = self.cured(start, well)
        held = (place for place in range(start, len(self.releases)) if self.cured(place, well) >= cured)
        return self._spans(held)[0]

    def cured(self, place: int, well: Verdicts) -> set[int]:
        """Return the affected cases that are well on a release, by number."""
        return {number for number, course in enumerate(self.affected) if course[place] in well}

    def cured_somewhere(self, well: Verdicts) -> set[int]:
        """Return the affected cases that are well on a later release, or were on an earlier one, by number."""
        later = [self.cured(place, well) for place in self.later]
        earlier = [self.cured(place, _WELL_BEFORE) for place in self.earlier]
        return {number for numbers in (*later, *earlier) for number in numbers}

    def breaks(self, place: int) -> bool:
        """Return True if a case goes wrong on a release that is not affected now."""
        return any(_is_wrong(course[place]) for course in self.others)

    def _spans(self, places: Iterable[int]) -> list[Span]:
        found = []
        for _, group in groupby(enumerate(places), lambda each: each[1] - each[0]):
            span = [self.releases[place] for _, place in group]
            found.append(Span(self.package, span[0], span[-1], span[-1] == self.releases[-1]))
        return found


def good(case: KnownCase, versions: Pins, knowledge: Knowledge) -> str:
    """Return the releases on which a case is good, for a package that its rules name; empty without a rule.

    The other versions are kept.
    """
    return _good([case], [], _moves(frozenset(versions.items()), knowledge)).told


def good_for(issue: KnownIssue, affected: Iterable[KnownCase], versions: Pins, knowledge: Knowledge) -> GoodReleases:
    """Return the releases of one package on which an issue is good; the other versions are kept.

    There, all cases that are affected now are well, and no other case goes wrong. Affected now are the cases in
    `affected`, and those that go wrong on `versions` by rule.
    """
    moves = _moves(frozenset(versions.items()), knowledge)
    known = [case for case in issue.cases if versions.keys() >= {*case.needs}]
    wrong = {case for case in known if _is_wrong(moves.now(case))}.union(affected)
    return _good([case for case in issue.cases if case in wrong], [case for case in known if case not in wrong], moves)


# An answer asks for one stack at a time.
@lru_cache(maxsize=2)
def _moves(versions: frozenset[tuple[str, str]], knowledge: Knowledge) -> Moves:
    return Moves(dict(versions), knowledge)


def _good(affected: Sequence[KnownCase], others: Sequence[KnownCase], moves: Moves) -> GoodReleases:
    own = moves.knowledge.jaxlibs.get(moves.versions.get("jax", ""), {}).get("jaxlib")
    if own and moves.versions.get("jaxlib") not in (None, own):
        broken = any(_is_wrong(moves.with_jaxlib(case, own)) for case in others)
        if not broken and all(moves.with_jaxlib(case, own) in WELL for case in affected):
            # An installer would have chosen another jaxlib for this jax.
            return GoodReleases(f"good with jaxlib {own}")
    along = [_along(package, affected, others, moves) for package in _packages(affected, moves.versions)]
    for what, well in _WORDS.items():
        for course in along:
            if after := course.spans(course.later, well):
                return GoodReleases(_told(what, course, after), tuple(after))
    for course in along:
        if before := course.spans(course.earlier, _WELL_BEFORE):
            return GoodReleases(f"good up to {course.package} {before[-1].last}, and on no later release")
    return GoodReleases(_partly(len(affected), along) or _none(affected, along))


def _packages(cases: Iterable[KnownCase], versions: Pins) -> list[str]:
    """Return the packages whose releases can matter to these cases, those that their rules name first."""
    named = dict.fromkeys(
        [*(name for case in cases for name in case.named), "jax", *(name for case in cases for name in case.needs)]
    )
    return [name for name in named if name in versions and name != "jaxlib"]


def _along(package: str, affected: Iterable[KnownCase], others: Iterable[KnownCase], moves: Moves) -> _Along:
    courses = [[moves.course(case, package) for case in cases] for cases in (affected, others)]
    return _Along(package, moves.releases(package), moves.versions[package], *courses)


def _told(what: str, course: _Along, after: Sequence[Span]) -> str:
    """Return all spans in words, with the last one before the stack's release."""
    before = course.spans(course.earlier, _WELL_BEFORE) if what == "good" else []
    if before:
        is_first = before[-1].first == course.releases[0]
        old = f"up to {course.package} {before[-1].last}" if is_first else before[-1].told
        return ", ".join([f"{what} {old}", *(span.again for span in after)])
    return ", ".join([f"{what} {after[0].told}", *(span.again for span in after[1:])])


def _partly(count: int, along: Sequence[_Along]) -> str:
    """Return the later releases on which the most of `count` cases are good, in words; empty without any."""
    for what, well in _WORDS.items():
        found = [(len(course.cured(place, well)), course, place) for course in along for place in course.later]
        most, course, start = max(found, key=lambda each: each[0], default=(0, None, 0))
        if course is None or not most:
            continue
        where = f"{f'{what} ' * (what != 'good')}{course.span(start, well).told}"
        cured = course.cured(start, well)
        if most == count:
            cases = {1: "the case", 2: "both cases"}.get(count, f"all {count} cases")
            return f"{cases} {where}, where another goes wrong"
        left = {*range(count)} - cured
        if any(left & each.cured_somewhere(well) for each in along):
            return f"{most} of {count} cases {where}; no tested release cures all"
        return f"{most} of {count} cases {where}; no tested release cures the other{'s' * (len(left) > 1)}"
    return ""


def _none(affected: Sequence[KnownCase], along: Sequence[_Along]) -> str:
    """Return that no release is good, in words; empty if nothing is known of any release."""
    if not any(verdict for course in along for case in course.affected for verdict in case):
        return ""
    packages = [course.package for course in along]
    needs = {"jax", *(name for case in affected for name in case.needs)}
    named = [package for package in packages if package in needs] if "jax" in packages else packages
    *others, last = named
    tried = f"{', '.join(others)} or {last}" if others else last
    return f"no tested release of {tried} is good"


def helps(case: KnownCase, known: Prediction, versions: Pins) -> str:
    """Return a phrase on whether the workaround helps on these versions."""
    if not case.workaround:
        return ""
    if any(met(on, versions) for on in case.fails):
        return "known not to help here"
    seen = {case.helped.get(run.cell, "") for run in known.runs}
    if "fails" in seen:
        return "it did not help where it was run"
    if "holds" in seen:
        where = "these versions" if known.how == "run" else "the nearest tested versions"
        return f"verified on {where}" if case.verified else f"tried on {where}, on the example alone"
    return "not verified here"
