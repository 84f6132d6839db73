"""What a hunt found, in words: the boundary or why there is none, and whether it was expected. Pure, but for locks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from suite.bisect import search
from suite.bisect.search import Agreed, Answer, Boundary, Contradicted, Untestable
from suite.cell.issue import Case
from suite.errors import Exit
from suite.judge.agreement import Agreement, agree
from suite.judge.attribution import LINKED, blame
from suite.judge.intervals import Point, intervals
from suite.judge.metadata import reached
from suite.judge.rules import Run, expected
from suite.judge.table import GLYPHS, UNDECIDED, Verdict
from suite.judge.verdicts import Judged, is_affected
from suite.run.catalogue import Entry
from suite.stack import lock, releases
from suite.stack.plan import Cell
from suite.stack.releases import Packages


@dataclass(frozen=True)
class Question:
    """A case, and the cells to find its boundary in: one for each release of `package`, in version order.

    `entry` has this case alone, and `line` every release that could be asked about, narrowed or not. Packages that are
    linked move together, as each cell's lock has them: a jaxlib is the one of its jax.
    """

    entry: Entry
    case: Case
    package: str
    holds: Mapping[str, str]
    line: tuple[str, ...]
    cells: tuple[Cell, ...]

    def version(self, at: int) -> str:
        """The release of `package` that the cell at this place stands for."""
        return dict(self.cells[at].holds)[self.package]

    def release(self, at: int) -> str:
        """The same with its name: jax 0.4.36."""
        return f"{self.package} {self.version(at)}"

    def pins(self, at: int) -> Mapping[str, str]:
        """What is installed there, as far as a lock or else the cell's name says. Raises BadFile."""
        cell = self.cells[at]
        pins = lock.load(cell).pins if cell.tags or lock.path_of(cell).exists() else {}
        return pins or dict(cell.holds)


@dataclass(frozen=True)
class Sighting:
    """What is known of the case in one cell; `attempts` is 0 where it could not be run."""

    judged: Judged
    confirmed: bool = True
    attempts: int = 0


Seen = Mapping[int, Sighting]


@dataclass(frozen=True)
class Told:
    """The lines for a person, the answer last, and the exit code."""

    lines: tuple[str, ...]
    code: Exit


def title(asked: Question, *, before: int, scan: bool = False) -> str:
    """What is going to happen."""
    count = len(asked.cells)
    along = f"{_counted(count, 'release')} of {asked.package}, {asked.version(0)} to {asked.version(-1)}"
    held = ", ".join(f"{name} {version}" for name, version in asked.holds.items())
    where = f"holding {held}" if held else "each with what an installer gave on its day"
    most = f"{_counted(count - before, 'cell run')}" if scan else f"at most {search.most_runs(count)} cell runs"
    more = "" if scan else ", more where a release cannot be tested"
    known = f"; {before} known from records and the plan" if before else ""
    return f"{asked.entry.issue.id}/{asked.case.id} over {along}, in version order, {where}: {most}{more}{known}"


def sighted(each: Sighting) -> str:
    """A verdict and its grounds."""
    judged = each.judged
    of = f", {_counted(each.attempts, 'attempt')}" if each.attempts else ""
    why = f"{judged.reason}: {judged.detail}" if is_affected(judged.verdict) is None else judged.detail
    name = f" ({judged.behaviour})" if judged.behaviour else ""
    return f"{GLYPHS[judged.verdict]} {judged.verdict}{name}{of}{f': {why}' if why else ''}"


def answers(seen: Seen) -> dict[int, Answer]:
    """What the search goes by."""
    return {at: Answer(is_affected(each.judged.verdict), each.confirmed) for at, each in seen.items()}


def tell(asked: Question, seen: Seen, found: Boundary | Agreed | Contradicted | Untestable, runs: int) -> Told:
    """What a bisection came to. Raises BadFile."""
    match found:
        case Boundary():
            told = _boundary(asked, seen, found)
        case Agreed(first, last):
            told = _agreed(asked, seen, first, last)
        case Contradicted(first, last, find):
            answer = f"the end points show the opposite: {_side(asked, seen, first)} and {_side(asked, seen, last)}"
            told = Told((f"{answer}, so that there is a --find {find}",), Exit.UNEXPECTED)
        case Untestable():
            why = _because(asked, seen, range(len(asked.cells)))
            told = Told((f"no boundary: nothing can be tested here: {why}",), Exit.INCOMPLETE)
    *lines, answer = told.lines
    cost = f"{_counted(runs, 'cell run')} over {_counted(len(asked.cells), 'release')}"
    return Told((*lines, f"{answer}; {cost}"), told.code)


def tell_scan(asked: Question, seen: Seen, runs: int) -> Told:
    """What all releases show. Raises BadFile."""
    places = sorted(seen)
    points = [Point(asked.version(at), _shown(seen[at].judged)) for at in places]
    found = intervals(points, asked.package, asked.line)
    lines = [
        f"{GLYPHS[each.verdict]} {each.package} {_span(each.first, each.last)}: {each.verdict} ({each.behaviour})"
        f"{'' if each.exact else ', not exact'}"
        for each in found
    ]
    wrong = [at for at in places if _agreement(asked, seen, at) not in ("as-expected", "new", "spurious")]
    lines += [_expected(asked, seen, at) for at in wrong]
    unknown = [at for at, point in zip(places, points, strict=True) if point.seen is None]
    lines += [f"nothing was learned there: {_because(asked, seen, unknown)}"] if unknown else []
    answer = f"{_counted(len(found), 'interval')}; {_counted(runs, 'cell run')} over {_counted(len(seen), 'release')}"
    return Told((*lines, answer), Exit.UNEXPECTED if wrong else Exit.INCOMPLETE if unknown else Exit.AS_EXPECTED)


def _boundary(asked: Question, seen: Seen, found: Boundary) -> Told:
    before, after = found.before, found.after
    lines = [_expected(asked, seen, at) for at in (before, after)]
    lines += _moved(asked, seen, before, after)
    kind = "first affected" if found.find == "first-affected" else "first not affected"
    if found.exact:
        is_not = "is" if found.find == "first-clear" else "is not"
        answer = f"{kind}: {asked.release(after)} ({_name(seen[after])}); "
        answer += f"{asked.release(before)} {is_not} ({_name(seen[before])}); exact"
    else:
        why = _because(asked, seen, range(before + 1, after))
        answer = f"{kind}: between {_side(asked, seen, before)}, exclusive, and {_side(asked, seen, after)}; "
        answer += f"not exact, because {why}"
    known = {_agreement(asked, seen, at) for at in (before, after)} <= {"as-expected", "new"}
    code = Exit.UNEXPECTED if not known else Exit.AS_EXPECTED if found.exact else Exit.INCOMPLETE
    return Told((*lines, answer), code)


def _agreed(asked: Question, seen: Seen, first: int, last: int) -> Told:
    ends = " and ".join(_side(asked, seen, at) for at in sorted({first, last}))
    answer = f"no boundary: the end points agree: {ends}; what lies between may still differ (bad, good, bad again)"
    beyond = [at for at in range(len(asked.cells)) if not first <= at <= last]
    lines = [f"not the outermost, because {_because(asked, seen, beyond)}"] if beyond else []
    return Told((*lines, f"{answer}, and a --scan shows"), Exit.UNEXPECTED)


def elsewhere(asked: Question, seen: Seen, searched: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The next span whose ends differ, on record or by the rules, and in which nothing of `searched` lies."""
    told: list[tuple[int, bool]] = []
    for at in range(len(asked.cells)):
        affected = is_affected(seen[at].judged.verdict) if at in seen else None
        if affected is None and (expectation := expected(asked.case, asked.pins(at))):
            affected = is_affected(asked.case.behaviours.get(expectation.behaviour, "different"))
        told += [(at, affected)] if affected is not None else []
    runs = [[at for at, _ in run] for _, run in groupby(told, key=lambda each: each[1])]
    spans = [(one[0], other[-1]) for one, other in pairwise(runs)]
    return next(
        (each for each in spans if not any(each[0] <= one and other <= each[1] for one, other in searched)), None
    )


def _moved(asked: Question, seen: Seen, before: int, after: int) -> list[str]:
    """What the change is put down to where more than the package moved, and the arm that tells them apart."""
    one, other = (Run(asked.cells[at].id, asked.pins(at), _name(seen[at])) for at in (before, after))
    offered = releases.load().packages
    among = {name for at in (before, after) for name in _reached(asked, at, offered)}
    found = blame(one, other, asked.case.rules, among=among)
    if found is None or found.package == asked.package:
        return []
    if found.grounds != "together":
        return [f"it is put down to {found}, and not to {asked.package}: {found.evidence or 'nothing else moved'}"]
    moved = {each.package: each.before for each in found.moved if _can_be_held(asked, each.package)}
    holds = {**{str(name): version for name, version in asked.holds.items()}, **moved}
    hold = " ".join(f"--hold {name}=={version}" for name, version in holds.items())
    return [f"it {found}" + (f": --package {asked.package} {hold} tells them apart" if hold else "")]


def _reached(asked: Question, at: int, offered: Packages) -> frozenset[str]:
    return reached(asked.case.needs, asked.pins(at), offered, asked.cells[at].python)


def _can_be_held(asked: Question, name: str) -> bool:
    # A jaxlib goes with its jax.
    linked = {asked.package, name} <= set(LINKED)
    return name in releases.PACKAGES and name != asked.package and not linked


def _expected(asked: Question, seen: Seen, at: int) -> str:
    """How what was seen goes with what was known, with the evidence."""
    expectation = expected(asked.case, asked.pins(at))
    if expectation is None:
        return f"nothing was expected of {asked.release(at)}: {_name(seen[at])} is new"
    if _agreement(asked, seen, at) == "as-expected":
        return f"as expected of {asked.release(at)}: {expectation.behaviour} ({expectation.evidence})"
    return (
        f"not as expected of {asked.release(at)}: {_name(seen[at])} was seen, and {expectation.behaviour} expected "
        f"({expectation.evidence})"
    )


def _agreement(asked: Question, seen: Seen, at: int) -> Agreement:
    return agree(asked.case, seen[at].judged, expected(asked.case, asked.pins(at)))


def _because(asked: Question, seen: Seen, places: Iterable[int]) -> str:
    """Which of these releases are untestable, and why; those next to each other for the same reason in one."""
    untestable = [at for at in places if at in seen and is_affected(seen[at].judged.verdict) is None]
    told = []
    for (verdict, reason), run in groupby(untestable, key=lambda at: _grounds(seen[at].judged)):
        of = list(run)
        where, detail = _span(asked.version(of[0]), asked.version(of[-1])), seen[of[0]].judged.detail
        are = "is" if len(of) == 1 else "are"
        told.append(f"{asked.package} {where} {are} untestable: {verdict} ({reason}: {detail})")
    return "; ".join(told)


def _grounds(judged: Judged) -> tuple[str, str]:
    return judged.verdict, judged.reason or ""


def _side(asked: Question, seen: Seen, at: int) -> str:
    """A release and whether it is affected: jax 0.4.35 (not affected: future-warning)."""
    says = "affected" if is_affected(seen[at].judged.verdict) else "not affected"
    return f"{asked.release(at)} ({says}: {_name(seen[at])})"


def _name(each: Sighting) -> str:
    return each.judged.behaviour or each.judged.verdict


def _shown(judged: Judged) -> tuple[str, Verdict] | None:
    """What an interval is made of."""
    return None if judged.verdict in UNDECIDED else (judged.behaviour or judged.verdict, judged.verdict)


def _span(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'s' * (count != 1)}"
