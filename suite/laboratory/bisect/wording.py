"""The result of a bisection in words: the boundary or its absence, and whether it was expected.

Pure, except for locks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.judge.metadata import reached
from jax_stack_compat.judge.rules import Run, expected
from jax_stack_compat.judge.verdict_table import GLYPHS
from jax_stack_compat.judge.verdicts import Judged, agree, is_affected
from jax_stack_compat.packages import PACKAGES
from jax_stack_compat.stack import lock, releases
from jax_stack_compat.stack.plan import Cell
from laboratory.bisect import search
from laboratory.bisect.search import Found
from laboratory.boundaries.attribution import LINKED, blame


@dataclass(frozen=True)
class Question:
    """A case, and the cells in which to find its boundary: one for each release of `package`, in version order.

    `entry` has only this case. `line` has every release of the question, even if `cells` were narrowed. Linked packages
    move together: each cell's lock has the jaxlib of its jax.
    """

    entry: Entry
    case: Case
    package: str
    holds: Mapping[str, str]
    line: tuple[str, ...]
    cells: tuple[Cell, ...]

    def version(self, at: int) -> str:
        """Return the release of `package` in the cell at this place."""
        return dict(self.cells[at].holds)[self.package]

    def release(self, at: int) -> str:
        """Return the package and the release: jax 0.4.36."""
        return f"{self.package} {self.version(at)}"

    def pins(self, at: int) -> Mapping[str, str]:
        """Return the pinned versions, from the lock or, without one, from the cell's id. Raises BadFile."""
        return lock.load(self.cells[at]).pins or dict(self.cells[at].holds)


@dataclass(frozen=True)
class Sighting:
    """The case in one cell; `attempts` is 0 if it could not run."""

    judged: Judged
    confirmed: bool = True
    attempts: int = 0

    @property
    def affected(self) -> bool | None:
        """True if the release shows the symptom; None if unknown."""
        return is_affected(self.judged.verdict)

    @property
    def name(self) -> str:
        """The behaviour, or else the verdict."""
        return self.judged.behaviour or self.judged.verdict


Seen = Mapping[int, Sighting]


def title(asked: Question, *, before: int) -> str:
    """Return the first line of the output, which describes the search."""
    count = len(asked.cells)
    along = f"{_counted(count, 'release')} of {asked.package}, {asked.version(0)} to {asked.version(-1)}"
    held = ", ".join(f"{name} {version}" for name, version in asked.holds.items())
    where = f"holding {held}" if held else "each with the packages that an installer gave on its day"
    runs = f"at most {search.most_runs(count)} cell runs, more if a release cannot be tested"
    known = f"; {before} known from records and the plan" if before else ""
    return f"{asked.entry.issue.id}/{asked.case.id} over {along}, in version order, {where}: {runs}{known}"


def sighted(each: Sighting) -> str:
    """Return a verdict and its grounds, for people."""
    judged = each.judged
    of = f", {_counted(each.attempts, 'attempt')}" if each.attempts else ""
    why = f"{judged.reason}: {judged.detail}" if each.affected is None else judged.detail
    name = f" ({judged.behaviour})" if judged.behaviour else ""
    return f"{GLYPHS[judged.verdict]} {judged.verdict}{name}{of}{f': {why}' if why else ''}"


def tell(asked: Question, seen: Seen, found: Found, runs: int) -> tuple[list[str], Exit]:
    """Return the lines on a bisection, the answer last, and the exit code. Raises BadFile."""
    ends, code = (found.first, found.last), Exit.UNEXPECTED
    lines: list[str] = []
    sides = [_side(asked, seen, at) for at in sorted({*ends})]
    turns_bad = seen[found.last].affected
    if found.what == "boundary":
        expected_here = [_expected(asked, seen, at) for at in ends]
        lines = [*(line for _, line in expected_here), *_moved(asked, seen, ends)]
        is_exact = found.last == found.first + 1
        kind, is_not = ("first affected", "is not") if turns_bad else ("first not affected", "is")
        if is_exact:
            before, after = ((asked.release(at), seen[at].name) for at in ends)
            answer = f"{kind}: {after[0]} ({after[1]}); {before[0]} {is_not} ({before[1]}); exact"
        else:
            why = _because(asked, seen, range(found.first + 1, found.last))
            answer = f"{kind}: between {sides[0]}, exclusive, and {sides[1]}; not exact, because {why}"
        if all(as_known for as_known, _ in expected_here):
            code = Exit.AS_EXPECTED if is_exact else Exit.INCOMPLETE
    elif found.what == "untestable":
        why = _because(asked, seen, range(len(asked.cells)))
        answer, code = f"no boundary: nothing can be tested here: {why}", Exit.INCOMPLETE
    else:
        beyond = [at for at in range(len(asked.cells)) if not found.first <= at <= found.last]
        lines = [f"not the outermost, because {_because(asked, seen, beyond)}"] if beyond else []
        answer = f"no boundary: the end points agree: {' and '.join(sides)}; "
        answer += "releases between may still differ (bad, good, bad again): narrow the search with --between"
    cost = f"{_counted(runs, 'cell run')} over {_counted(len(asked.cells), 'release')}"
    return [*lines, f"{answer}; {cost}"], code


def elsewhere(asked: Question, seen: Seen, searched: Sequence[tuple[int, int]]) -> range | None:
    """Return the next span whose ends differ, by records or rules, and that contains none of `searched`."""
    told: list[tuple[int, bool]] = []
    for at in range(len(asked.cells)):
        affected = seen[at].affected if at in seen else None
        if affected is None and (expectation := expected(asked.case, asked.pins(at))):
            affected = is_affected(asked.case.behaviours.get(expectation.behaviour, "different"))
        if affected is not None:
            told.append((at, affected))
    runs = [[at for at, _ in run] for _, run in groupby(told, key=lambda each: each[1])]
    for first, last in ((one[0], other[-1]) for one, other in pairwise(runs)):
        if not any(first <= one and other <= last for one, other in searched):
            return range(first, last + 1)
    return None


def _moved(asked: Question, seen: Seen, ends: tuple[int, int]) -> list[str]:
    """Return a line on the cause of a change if several packages moved, and on the arm that separates them."""
    one, other = (Run(asked.cells[at].id, asked.pins(at), seen[at].name) for at in ends)
    offered = releases.load().packages
    among = {name for at in ends for name in reached(asked.case.needs, asked.pins(at), offered, asked.cells[at].python)}
    blamed = blame(one, other, asked.case.rules, among=among)
    if blamed is None or blamed.package == asked.package:
        return []
    if blamed.grounds != "together":
        return [f"the cause is {blamed}, not {asked.package}: {blamed.evidence or 'nothing else moved'}"]
    # The moved package cannot be held. jaxlib moves with jax.
    moving = {asked.package, *(LINKED if asked.package in LINKED else ())}
    held = {each.package: each.before for each in blamed.moved if each.package in PACKAGES.keys() - moving}
    hold = " ".join(f"--hold {name}=={version}" for name, version in {**asked.holds, **held}.items())
    return [f"it {blamed}" + (f": --package {asked.package} {hold} tells them apart" if hold else "")]


def _expected(asked: Question, seen: Seen, at: int) -> tuple[bool, str]:
    """Return True if the observation was expected or no rule matches, and a sentence with the evidence."""
    rule, name, release = expected(asked.case, asked.pins(at)), seen[at].name, asked.release(at)
    if rule is None:
        return True, f"no rule covers {release}: write the rules of {name}"
    known = f" ({rule.evidence})" if rule.evidence else ""
    if agree(asked.case, seen[at].judged, rule) == "as-expected":
        return True, f"as expected of {release}: {name}{known}"
    return False, f"not as expected of {release}: {name} was seen, and {rule.behaviour} expected{known}"


def _because(asked: Question, seen: Seen, places: Iterable[int]) -> str:
    """Name the untestable releases with their reasons; neighbours with the same reason share a sentence."""
    untestable = [at for at in places if at in seen and seen[at].affected is None]
    told = []
    for (verdict, reason), run in groupby(untestable, lambda at: (seen[at].judged.verdict, seen[at].judged.reason)):
        of = list(run)
        first, last = of[0], of[-1]
        span, verb = asked.version(first), "is"
        if first != last:
            span, verb = f"{span} to {asked.version(last)}", "are"
        told.append(
            f"{asked.package} {span} {verb} untestable: {verdict} ({reason or ''}: {seen[first].judged.detail})"
        )
    return "; ".join(told)


def _side(asked: Question, seen: Seen, at: int) -> str:
    """Return a release with its answer: jax 0.4.35 (not affected: future-warning)."""
    says = "affected" if seen[at].affected else "not affected"
    return f"{asked.release(at)} ({says}: {seen[at].name})"


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'s' * (count != 1)}"
