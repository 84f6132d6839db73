"""Constraints for an installer: a set of releases near a stack on which most of its issues are fixed.

A set is a stack that was run, so it installs. Every claim about a set was run on that set, or is by rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from jax_stack_compat.base.printable import printable
from jax_stack_compat.check.answer import Answer, answer
from jax_stack_compat.check.knowledge import Knowledge, KnownCase
from jax_stack_compat.check.outcome import Outcome
from jax_stack_compat.judge.metadata import parsed
from jax_stack_compat.judge.prediction import Name
from jax_stack_compat.judge.rules import Pins
from jax_stack_compat.judge.verdict_table import GOOD, UNDECIDED, Verdict
from jax_stack_compat.judge.wording import named as some
from jax_stack_compat.packages import STACK

# Absent or guarded is not good here: the code does not work.
WELL: frozenset[Verdict] = frozenset({"clear", "documented"})
# The interpreter of most stacks that were run.
_PYTHON = "3.12"
_MOST_OTHERS = 3


@dataclass(frozen=True)
class Candidate:
    """Releases of the user's packages, and a cell that was run with them.

    `well` are the cases that the set fixes, `wrong` all cases that go wrong with it, and `new` the cases that it adds.
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
    """The best set, with the cases that it fixes, leaves or neither, and the cases that other sets fix."""

    best: Candidate
    fixed: tuple[Name, ...]
    left: tuple[Name, ...]
    neither: tuple[Name, ...]
    others: tuple[tuple[Candidate, tuple[Name, ...]], ...]


def choose(found: Answer, knowledge: Knowledge, *, narrowed: bool = False) -> Advice | None:
    """Return the stack that fixes the most cases; among equals, the nearest.

    Each added case cancels one fixed case. In an answer `narrowed` to a source tree, added cases do not count: it is
    unknown if the source meets them. The nearest stack is the fewest minor releases away; among these, newer stacks
    come first, then the fewest releases. Return None if no stack fixes more than it breaks.
    """
    names = [name for name in STACK if name in found.versions]
    if "jax" not in names:
        return None
    wanted = {effect.name: effect.case for effect in found.effects}
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
    fixed = tuple(name for name in wanted if name in best.well)
    still = tuple(name for name in left if name in best.wrong)
    neither = tuple(name for name in left if name not in best.wrong)
    return Advice(best, fixed, still, neither, tuple(others))


def candidates(found: Answer, knowledge: Knowledge, names: Sequence[str]) -> list[Candidate]:
    """Return the sets of releases of these packages that were run, import, and install together."""
    from jax_stack_compat.stack.releases import exclusion, load  # metadata loads slowly

    python = ".".join(found.stack.python.split(".")[:2]) or _PYTHON
    offered = load().packages
    ran = {run.cell for case in knowledge.cases.values() for run in case.runs}
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for id, pins in knowledge.cells.items():
        if id in ran and all(name in pins for name in names):
            alike.setdefault(tuple((name, pins[name]) for name in names), []).append(id)
    there = {"jaxlib", *found.versions, *found.stack.unsaid}
    wanted = {effect.name for effect in found.effects}
    cases = knowledge.cases.items()
    seen = {name: _CaseVerdicts(case) for name, case in cases if name in wanted or there.issuperset(case.needs)}
    now = {effect.name for effect in answer(knowledge, found.stack).effects}
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
        # Other packages keep their versions, unless the cell pins another.
        whole = [{**found.versions, **knowledge.cells[id]} for id in cells]
        shown = {name: of.shows(cells, whole) for name, of in seen.items()}
        wrong = tuple(name for name, of in shown.items() if any(each not in GOOD | UNDECIDED for each in of))
        if any(issue in knowledge.row_zero for issue, _ in wrong):
            continue
        well = frozenset(name for name in wanted if shown[name] <= WELL)
        new = tuple(each for each in wrong if each not in now)
        made.append(Candidate(pins, min(cells, key=len), well, frozenset(wrong), new))
    return made


class _CaseVerdicts:
    """The verdicts on a case, by cell, and by the releases that can matter to the case."""

    def __init__(self, case: KnownCase) -> None:
        self.case = case
        self.matter = sorted({"jax", "jaxlib", *case.needs, *case.named})
        self.by_cell: dict[str, Verdict] = {}
        self.alike: dict[tuple[str | None, ...], set[Verdict]] = {}
        means = {each.behaviour: case.verdict(each.behaviour) for each in case.runs}
        for run in case.runs:
            self.by_cell[run.cell] = means[run.behaviour]
            self.alike.setdefault(self._key(run.pins), set()).add(means[run.behaviour])

    def _key(self, pins: Pins) -> tuple[str | None, ...]:
        return tuple(map(pins.get, self.matter))

    def shows(self, cells: Iterable[str], whole: Iterable[Pins]) -> set[Verdict]:
        """Return the verdicts on these stacks; without any, on stacks with the same relevant packages; else by rule.

        An unknown verdict is `not-run`.
        """
        if here := {self.by_cell[id] for id in cells if id in self.by_cell}:
            return here
        whole = list(whole)
        if near := {each for pins in whole for each in self.alike.get(self._key(pins), ())}:
            return near
        return {self.case.by_rule(pins) or "not-run" for pins in whole}


def _nearness(pins: Pins, versions: Pins, knowledge: Knowledge) -> tuple[int, int, int, tuple[object, ...]]:
    """Return a key for nearness to these versions; greater is nearer. jaxlib is ignored: it follows its jax."""
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
    """Return a set for `pip -c` and `uv --constraint`, with comments on the cases that it fixes and leaves."""
    found, knowledge, narrowed = outcome.concerned, outcome.known, outcome.read is not None
    named = {name: version for name, version in found.versions.items() if name not in found.assumed}
    found = replace(found, versions=named)
    lines = [f"# {outcome.sentence}"]
    chosen = choose(found, knowledge, narrowed=narrowed) if found.effects else None
    if chosen is not None:
        best = chosen.best
        lines += [f"{name}=={version}" for name, version in best.pins.items()]
        lines += [
            f"# These releases were run together, as {best.cell}.",
            f"# Cases that they fix: {_cases(chosen.fixed)}.",
        ]
        lines += [f"# Cases still affected: {_cases(chosen.left)}."] if chosen.left else []
        told = "Cases that are absent, refused or unknown with them"
        lines += [f"# {told}: {_cases(chosen.neither)}."] if chosen.neither else []
        for other, of in chosen.others[:_MOST_OTHERS]:
            lines.append(f"# Cases that {other.shown} would fix: {_cases(of)}.")
        left = len(chosen.left) + len(chosen.neither) - sum(len(of) for _, of in chosen.others)
        if more := sum(len(of) for _, of in chosen.others[_MOST_OTHERS:]):
            lines.append(f"# Cases that other sets would fix: {more}.")
        lines += [f"# Cases that no tested stack of these packages fixes: {left}."] * bool(left)
        if best.new and not narrowed:
            lines.append(f"# Cases that they newly affect: {_cases(best.new)}.")
        moved = " ".join(f"{name}=={version}" for name, version in best.pins.items() if name != "jaxlib")
        lines.append(f'# To see what else they change: check --to "{moved}"')
    elif found.effects and "jax" not in found.versions:
        lines.append("# Name the version of jax to get a set of releases.")
    elif found.effects:
        on = f" on Python {found.stack.python}" * bool(found.stack.python)
        lines.append(f"# No tested stack of these packages{on} fixes more cases than it breaks.")
    lines.append(f"# {found.last_line}")
    return printable("\n".join(lines), lines=True) + "\n"


def _cases(names: Sequence[Name]) -> str:
    return f"{len(names)} ({some(['/'.join(name) for name in names])})"
