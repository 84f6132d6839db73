"""The course of cases along the releases: drawn intervals, verified workarounds, changes step by step. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from packaging.version import Version

from jax_stack_compat.judge.rules import requirements
from jax_stack_compat.judge.verdict_table import UNDECIDED, Verdict
from jax_stack_compat.packages import AXES
from laboratory.report import summary
from laboratory.report.model import ByRuleRow, CaseRow, CellRow, IntervalRow, IssueRow, Observation, TurnRow
from laboratory.report.site.table import minor_of

# Ticks nearer than this, in percent of the axis, would overlap on a phone.
TICK_GAP = 9.0
Turned = Literal["appears", "changes", "documented", "goes", "stays"]
TURNS: Mapping[Turned, str] = {
    "appears": "appears:",
    "changes": "changes behaviour:",
    "documented": "documented behaviour changes:",
    "goes": "disappears:",
    "stays": "stays:",
}
# The meaning of a verdict for an upgrade; "unknown" if undecided.
Stands = Literal["symptom", "documented", "well", "absent", "blocked", "unknown"]
Seen = Mapping[tuple[str, str], Mapping[str, Observation]]
BeforeAfter = tuple[Observation, Observation]
# The changes from a cell's neighbour to the cell, by how cases changed and then by the blame.
Step = Mapping[Turned, Mapping[str, Sequence[BeforeAfter]]]

_HELPED = {"holds": "helps", "fails": "does not help"}


@dataclass(frozen=True)
class Band:
    """A drawn interval, or part of one: its start and width in percent of the axis."""

    x: float
    width: float
    of: IntervalRow | ByRuleRow
    where: str

    @property
    def is_run(self) -> bool:
        """True if it was run; False if only a rule gives it."""
        return isinstance(self.of, IntervalRow)


@dataclass(frozen=True)
class Axis:
    """A case's intervals over the releases of one package.

    A tick is a minor release: its start in percent, its name, and True if it is too near for a narrow screen.
    """

    package: str
    bands: list[Band]
    ticks: list[tuple[float, str, bool]]


def timeline(
    case: CaseRow, cells: Sequence[CellRow], line: Sequence[str] = (), ran: Collection[str] = ()
) -> list[Axis]:
    """Return a case's intervals, an axis for each package, with releases of equal width.

    For a sparse report, `line` has all releases of jax and `ran` those that decided the case; only these are drawn.
    """
    found = []
    rows: list[IntervalRow | ByRuleRow] = [*case.intervals, *case.by_rule]
    for package in dict.fromkeys(row.package for row in rows):
        of_line = (cell for cell in cells if cell.kind == "line" and cell.moves == package)
        is_sparse = package == "jax" and bool(line)
        versions = list(line) if is_sparse else sorted((cell.holds[package] for cell in of_line), key=Version)
        edges = [round(100 * place / len(versions), 2) for place in range(len(versions) + 1)]
        places = {version: place for place, version in enumerate(versions)}
        bands = []
        for interval in rows:
            if interval.package != package or interval.first not in places or interval.last not in places:
                continue
            over = range(places[interval.first], places[interval.last] + 1)
            drawn = ran if is_sparse and isinstance(interval, IntervalRow) else places
            for first, last in _parts(over, versions, drawn):
                told = "–".join(dict.fromkeys((versions[first], versions[last])))
                where = summary.span(interval, cells) if isinstance(interval, IntervalRow) and not is_sparse else told
                bands.append(Band(edges[first], round(edges[last + 1] - edges[first], 2), interval, where))
        found.append(Axis(package, sorted(bands, key=lambda band: band.x), ticks(versions)))
    return found


def _parts(over: range, versions: Sequence[str], drawn: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last place of each part of `over` whose versions are all `drawn`."""
    for is_drawn, part in groupby(over, lambda place: versions[place] in drawn):
        places = list(part)
        if is_drawn:
            yield places[0], places[-1]


def ticks(versions: Sequence[str]) -> list[tuple[float, str, bool]]:
    """Return a tick for each minor release: its start in percent, its name, and True if it is too near."""
    found: list[tuple[float, str, bool]] = []
    for minor, of in groupby(enumerate(versions), lambda each: minor_of(each[1])):
        x = round(100 * next(of)[0] / len(versions), 2)
        found.append((x, minor, x - max((start for start, _, near in found if not near), default=-99.0) < TICK_GAP))
    return found


def cause(case: CaseRow) -> str:
    """Return the package whose releases a case is told by: the one that its changes are due to, or its rules name.

    The releases of jaxlib are those of jax.
    """
    due = Counter(turn.package for turn in case.turns if turn.package and turn.grounds != "together")
    named = [need.name for rule in case.rules for need in requirements(rule.on)]
    packages = [*(package for package, _ in due.most_common()), *named, *reversed(case.needs), "jax"]
    on_axes = ["jax" if package == "jaxlib" else package for package in packages]
    return next(package for package in on_axes if package in AXES)


def began(cells: Sequence[CellRow], verdicts: Mapping[str, Verdict], turns: Sequence[TurnRow]) -> str:
    """Return the release that brought the last symptom of a case that is well again.

    Empty if the case is not well, or if no release was well before. A different failure is no symptom.
    """
    found, before = "", ""
    for cell in cells:
        verdict = verdicts.get(cell.id, "not-run")
        meaning = stands(verdict)
        if verdict == "different" or meaning in ("unknown", "blocked", "absent"):
            continue
        if meaning != "well" and before in ("", "well"):
            found = due_to(cell, turns) if before else ""
        before = meaning
    return found if before == "well" else ""


def due_to(cell: CellRow, turns: Iterable[TurnRow]) -> str:
    """Return the release to which a change in a cell is put down: `jax 0.8.1`."""
    package = next((turn.package for turn in turns if turn.after == cell.id and turn.package), cell.moves)
    return f"{package} {cell.versions.get(package, '')}"


def nearest(cells: Sequence[CellRow], seen: Mapping[str, Observation]) -> list[Observation]:
    """Return a case's observation on its newest bad release, and on the good release nearest to it, if there are any.

    The good release is the next one after it, or the last one before.
    """
    told = [seen[cell.id] for cell in cells if cell.id in seen and seen[cell.id].verdict not in UNDECIDED]
    bad = [place for place, row in enumerate(told) if is_mended(row.verdict) or row.verdict in ("crashed", "hung")]
    if not bad:
        return told[-1:]
    good = [place for place, row in enumerate(told) if row.verdict == "clear"]
    after = [place for place in good if place > bad[-1]]
    chosen = [bad[-1], *(after[:1] or good[-1:])]
    return [told[place] for place in chosen]


def verified(line: Sequence[CellRow], seen: Mapping[str, Observation], package: str, *, sparse: bool = False) -> str:
    """Return where a needed workaround helped; empty if it was never needed.

    For example: `helps on jax 0.4.18–0.5.3, does not help on jax 0.6.0`.
    The releases are those of `package`. An undecided release does not end a range; a release on which the workaround
    was not needed ends it. For a `sparse` report, each release is named: `helps on jax 0.4.18 and 0.5.3`.
    """
    by_release = {cell.holds[package]: seen[cell.id] for cell in line if cell.moves == package and cell.id in seen}
    ordered = sorted((version for version in by_release if by_release[version].verdict not in UNDECIDED), key=Version)
    told = []
    for word, group in groupby(ordered, lambda version: _helped(by_release[version])):
        of = list(group)
        if word in _HELPED:
            of_word = " and ".join(of) if sparse else "–".join(dict.fromkeys((of[0], of[-1])))
            told.append(f"{_HELPED[word]} on {package} {of_word}")
    return ", ".join(told)


def _helped(seen: Observation) -> str:
    return seen.workaround if is_mended(seen.verdict) else "none"


def stands(verdict: Verdict) -> Stands:
    """Return the meaning of a verdict for an upgrade."""
    if verdict in ("documented", "absent", "blocked"):
        return verdict
    return "unknown" if verdict in UNDECIDED else "well" if verdict == "clear" else "symptom"


def is_mended(verdict: Verdict) -> bool:
    """Return True if a workaround applies to this verdict."""
    return verdict in ("affected", "guarded", "documented")


def turned(before: Observation, after: Observation) -> Turned | None:
    """Return how a case changed from `before` to `after`; None if it works in both or is undecided in one.

    Documented behaviour counts only if it changed.
    """
    was, now = stands(before.verdict), stands(after.verdict)
    if not {was, now}.isdisjoint(("unknown", "blocked")):
        return None
    same = (before.verdict, before.behaviour) == (after.verdict, after.behaviour)
    if "documented" in (was, now):
        return None if same or "absent" in (was, now) else "documented"
    if was == now == "symptom":
        return "stays" if same else "changes"
    return "appears" if now == "symptom" else "goes" if was == "symptom" else None


def steps(issues: Iterable[IssueRow], seen: Seen) -> Mapping[str, Step]:
    """Return the changed cases of each cell of the line that changed some, by its id."""
    found: dict[str, dict[Turned, dict[str, list[BeforeAfter]]]] = {}
    for issue in issues:
        for case in issue.cases:
            for turn in case.turns:
                ends = seen[issue.id, case.id][turn.before], seen[issue.id, case.id][turn.after]
                if how := turned(*ends):
                    found.setdefault(turn.after, {}).setdefault(how, {}).setdefault(turn.blame, []).append(ends)
    return found
