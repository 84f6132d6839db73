"""What affects a stack → one set of releases, near it, on which most of that is well: lines for an installer.

A set is a stack that was run, so an installer can have it; all that is said of it was run on it, or is by rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from suite.check.answer import Answer, answer
from suite.check.answer import verdict as judged
from suite.check.knowledge import Knowledge, KnownCase
from suite.check.outcome import Outcome
from suite.judge.prediction import Name
from suite.judge.rules import STACK, Pins, first_match, requirements
from suite.judge.specifiers import parsed
from suite.judge.table import GOOD, UNDECIDED, Verdict
from suite.judge.wording import named as some
from suite.printable import printable

# What does not exist on a release is not well there, and what refuses loudly does not work.
WELL: frozenset[Verdict] = frozenset({"clear", "documented"})
# The interpreter of most stacks that were run.
_PYTHON = "3.12"
_MOST_OTHERS = 3


@dataclass(frozen=True)
class Candidate:
    """Releases of the packages that somebody has, and a stack that was run with them.

    `well` has the cases that it mends, `wrong` all that go wrong with it, and `new` those of them that do not now.
    """

    pins: Pins
    cell: str
    well: frozenset[Name]
    wrong: frozenset[Name]
    new: tuple[Name, ...]

    @property
    def shown(self) -> str:
        """The releases, in words."""
        return ", ".join(f"{name} {version}" for name, version in self.pins.items() if name != "jaxlib")


@dataclass(frozen=True)
class Advice:
    """The set, what it mends, what stays, what is neither, and which of these two other sets mend."""

    best: Candidate
    mended: tuple[Name, ...]
    left: tuple[Name, ...]
    neither: tuple[Name, ...]
    others: tuple[tuple[Candidate, tuple[Name, ...]], ...]


def choose(found: Answer, knowledge: Knowledge, *, narrowed: bool = False) -> Advice | None:
    """Return the stack that was run on which most of what affects this one is well, the nearest of such.

    What goes wrong there and not here is taken off; not where an answer is `narrowed` to a source tree, as of that
    nobody knows whether the source meets it. Near is by few minor releases, then upwards, then by few releases. None
    where no stack mends more than it breaks.
    """
    names = [name for name in STACK if name in found.versions]
    if "jax" not in names:
        return None
    wanted = {bite.name: bite.case for bite in found.bites}
    of = candidates(found, knowledge, names)

    def near(candidate: Candidate) -> tuple[object, ...]:
        return _nearness(candidate.pins, found.versions, knowledge)

    def gain(candidate: Candidate) -> int:
        return len(candidate.well) - (0 if narrowed else len(candidate.new))

    best = max(of, key=lambda each: (gain(each), near(each)), default=None)
    if best is None or gain(best) <= 0:
        return None
    left = tuple(name for name in wanted if name not in best.well)
    others, rest = [], set(left)
    while rest:
        other = max(of, key=lambda each: (len(each.well & rest), near(each)))
        if not other.well & rest:
            break
        others.append((other, tuple(name for name in left if name in other.well & rest)))
        rest -= other.well
    mended = tuple(name for name in wanted if name in best.well)
    still = tuple(name for name in left if name in best.wrong)
    neither = tuple(name for name in left if name not in best.wrong)
    return Advice(best, mended, still, neither, tuple(others))


def candidates(found: Answer, knowledge: Knowledge, names: Sequence[str]) -> list[Candidate]:
    """Return the sets of releases of these packages that were run, import, and an installer can have together."""
    from suite.stack.releases import exclusion, load  # metadata is for those who ask for a set

    python = ".".join(found.stack.python.split(".")[:2]) or _PYTHON
    offered = load().packages
    ran = {run.cell for case in knowledge.cases.values() for run in case.runs}
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for id, pins in knowledge.cells.items():
        if id in ran and all(name in pins for name in names):
            alike.setdefault(tuple((name, pins[name]) for name in names), []).append(id)
    there = {"jaxlib", *found.versions, *found.stack.unsaid}
    wanted = {bite.name for bite in found.bites}
    cases = knowledge.cases.items()
    seen = {name: _Seen(case) for name, case in cases if name in wanted or there.issuperset(case.needs)}
    now = {bite.name for bite in answer(knowledge, found.stack).bites}
    made = []
    for pairs, cells in alike.items():
        pins = dict(pairs)
        releases = [each for name, version in pairs if (each := offered.get(name, {}).get(version))]
        if any(
            release.yanked is not None or not release.allows(python) or not release.newest_wheel(python)
            for release in releases
        ):
            continue
        if exclusion(pins, offered, python):
            continue
        # What else somebody has stays, where no stack that was run says another release of it.
        whole = [{**found.versions, **knowledge.cells[id]} for id in cells]
        shown = {name: of.shows(cells, whole) for name, of in seen.items()}
        wrong = tuple(name for name, of in shown.items() if any(each not in GOOD | UNDECIDED for each in of))
        if any(issue in knowledge.row_zero for issue, _ in wrong):
            continue
        well = frozenset(name for name in wanted if shown[name] <= WELL)
        new = tuple(each for each in wrong if each not in now)
        made.append(Candidate(pins, min(cells, key=len), well, frozenset(wrong), new))
    return made


class _Seen:
    """What a case showed, by the stack and by the releases that matter to it."""

    def __init__(self, case: KnownCase) -> None:
        self.case = case
        named = {requirement.name for rule in case.rules for requirement in requirements(rule.on)}
        self.matter = sorted({"jax", "jaxlib", *case.needs, *named})
        self.by_cell: dict[str, Verdict] = {}
        self.alike: dict[tuple[str | None, ...], set[Verdict]] = {}
        means = {each.behaviour: judged(case, each.behaviour) for each in case.runs}
        for run in case.runs:
            self.by_cell[run.cell] = means[run.behaviour]
            self.alike.setdefault(self._key(run.pins), set()).add(means[run.behaviour])

    def _key(self, pins: Pins) -> tuple[str | None, ...]:
        return tuple(map(pins.get, self.matter))

    def shows(self, cells: Iterable[str], whole: Iterable[Pins]) -> set[Verdict]:
        """Return what was seen on these stacks; where nothing was, on those that are alike in what matters, or by rule.

        What nobody knows is `not-run`.
        """
        if here := {self.by_cell[id] for id in cells if id in self.by_cell}:
            return here
        whole = list(whole)
        if near := {each for pins in whole for each in self.alike.get(self._key(pins), ())}:
            return near
        rules = [first_match(self.case.rules, pins) for pins in whole]
        return {judged(self.case, rule.behaviour) if rule else "not-run" for rule in rules}


def _nearness(pins: Pins, versions: Pins, knowledge: Knowledge) -> tuple[int, int, int, tuple[object, ...]]:
    """Return how near releases are to these versions: the greater, the nearer. A jaxlib goes with its jax."""
    minors = releases = down = 0
    for name in (pin for pin in pins if pin != "jaxlib"):
        here, there = parsed(versions[name]), parsed(pins[name])
        known = {*map(parsed, knowledge.releases[name]), here}
        between = [each for each in known if min(here, there) < each <= max(here, there)]
        low = min(here, there).release[:2]
        minors += len({each.release[:2] for each in between} - {low})
        releases += len(between)
        down += there < here
    return -minors, -down, -releases, tuple(parsed(pin) for pin in pins.values())


def constraints(outcome: Outcome) -> str:
    """Return a set for `pip -c` and `uv --constraint`, what it mends and what it does not."""
    found, knowledge, narrowed = outcome.concerned, outcome.known, outcome.read is not None
    named = {name: version for name, version in found.versions.items() if name not in found.assumed}
    found = replace(found, versions=named)
    lines = [f"# {outcome.sentence}"]
    chosen = choose(found, knowledge, narrowed=narrowed) if found.bites else None
    if chosen is not None:
        best = chosen.best
        lines += [f"{name}=={version}" for name, version in best.pins.items()]
        lines += [f"# These were run together, as {best.cell}.", f"# Mended by them, {_cases(chosen.mended)}."]
        lines += [f"# Still affected, {_cases(chosen.left)}."] if chosen.left else []
        told = "Neither mended nor affected, as it is absent, refused or not known there"
        lines += [f"# {told}, {_cases(chosen.neither)}."] if chosen.neither else []
        for other, of in chosen.others[:_MOST_OTHERS]:
            lines.append(f"# Not to be had together with these, but with {other.shown}, {_cases(of)}.")
        left = len(chosen.left) + len(chosen.neither) - sum(len(of) for _, of in chosen.others)
        if more := sum(len(of) for _, of in chosen.others[_MOST_OTHERS:]):
            lines.append(f"# Not to be had together with these, but with still others, {more} more.")
        lines += [f"# Of those not mended, {left} are well on no stack of these packages that was run."] * bool(left)
        if best.new and not narrowed:
            lines.append(f"# Affected with them, and not before, {_cases(best.new)}.")
        moved = " ".join(f"{name}=={version}" for name, version in best.pins.items() if name != "jaxlib")
        lines.append(f'# What else they change: check --to "{moved}"')
    elif found.bites and "jax" not in found.versions:
        lines.append("# Without the version of jax no set can be told.")
    elif found.bites:
        on = f" on Python {found.stack.python}" * bool(found.stack.python)
        lines.append(f"# No stack of these packages that was run, and can be had{on}, mends more than it breaks.")
    lines.append(f"# {found.last_line}")
    return printable("\n".join(lines), lines=True) + "\n"


def _cases(names: Sequence[Name]) -> str:
    return f"{len(names)} case{'s' * (len(names) != 1)}: {some(['/'.join(name) for name in names])}"
