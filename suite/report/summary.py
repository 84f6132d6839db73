"""What every emitter says of a report: its last line, its exit code, and the observations that want a look."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from packaging.version import Version

from suite.errors import Exit
from suite.judge.agreement import Agreement
from suite.judge.metadata import DeclaredObserved
from suite.judge.prediction import Name
from suite.judge.rules import concerned
from suite.judge.specifiers import in_version_order
from suite.judge.table import UNDECIDED, Verdict
from suite.report.model import CaseRow, CellRow, IntervalRow, Observation, Report, StackRow
from suite.stack.beside import BESIDE, LISTED

# What the plan itself says cannot be had is known beforehand, and no run's shortcoming.
FORESEEN = frozenset({"plan.yanked", "plan.excludes", "plan.no-release", "plan.no-wheel"})
_NO_INTERPRETER = "plan.no-interpreter"

# So many releases are named one by one.
_FEW = 12

REPLAY = 'nox -s "cell({cell})" report -- --issue {issue} --fresh'

STACK_GLYPHS: dict[DeclaredObserved, str] = {"supported": "✓", "latent": "✗", "guarded": "⊘", "excluded": "+"}
STACK_WORDS: dict[DeclaredObserved, str] = {
    "supported": "metadata allows it, and it works",
    "latent": "metadata allows it, and it does not work",
    "guarded": "metadata excludes it, and it does not work",
    "excluded": "metadata excludes it; row zero works, which does not show that all does",
}


def exit_code(report: Report, *, other_pythons: bool = True) -> Exit:
    """0 only where every planned observation that can be had was made, and each is as expected.

    Without `other_pythons`, a machine may lack each Python but the line's: what is not run for that reason is excused.
    """
    if unexpected(report):
        return Exit.UNEXPECTED
    excused = set() if other_pythons else {cell.id for cell in report.cells if "python" in cell.holds}
    missing = [
        each
        for each in unlearned(report)
        if each.reason not in FORESEEN and not (each.reason == _NO_INTERPRETER and each.cell in excused)
    ]
    whole = report.observations and len(report.observations) == report.coverage.planned
    return Exit.INCOMPLETE if missing or not whole else Exit.AS_EXPECTED


def lacking_pythons(report: Report) -> str:
    """Return a sentence on the Pythons that this machine lacks, what was not run for that, and what to do; or ""."""
    without = [each for each in report.observations if each.reason == _NO_INTERPRETER]
    if not without:
        return ""
    cells = {each.cell for each in without}
    pythons = sorted({cell.python for cell in report.cells if cell.id in cells}, key=Version)
    one = len(without) == 1
    count = f"{len(without)} observation{'s' * (not one)} in {len(cells)} cell{'s' * (len(cells) != 1)}"
    return (
        f"This machine has no CPython {' or '.join(pythons)}, which {count} need{'s' * one}. "
        f"Install what is missing, for example with `uv python install {' '.join(pythons)}`, and run this again."
    )


def unexpected(report: Report) -> list[Observation]:
    """The observations made here that say something of upstream that is not known, of a workaround too."""
    return [each for each in report.seen_here if is_unexpected(each)]


def is_unexpected(each: Observation) -> bool:
    """Whether an observation says something of upstream that is not known."""
    return each.agreement not in ("as-expected", "spurious") or not each.workaround_expected


@dataclass(frozen=True)
class Undecided:
    """Observations from which nothing was learned of upstream, for one cause: the first cell, and how many more."""

    cell: str
    verdict: Verdict
    reason: str
    detail: str
    cases: str


def unlearned(report: Report) -> list[Observation]:
    """The observations made here from which nothing was learned of upstream.

    What is blocked is not among them: that is told once, by row zero.
    """
    return [each for each in report.seen_here if each.agreement == "spurious" and each.verdict != "blocked"]


def undecided(report: Report) -> list[Undecided]:
    """What was not decided, by cause: one broken environment, or a run that was not made, is one entry."""
    groups: dict[tuple[Verdict, str, str], list[Observation]] = {}
    for each in unlearned(report):
        groups.setdefault((each.verdict, each.reason or "", each.detail), []).append(each)
    found = []
    for group, of in groups.items():
        cells = list(dict.fromkeys(each.cell for each in of))
        where = cells[0] if len(cells) == 1 else f"{len(cells)} cells, {cells[0]} to {cells[-1]}"
        cases = f"{of[0].issue}/{of[0].case}" if len(of) == 1 else f"{len(of)} cases"
        found.append(Undecided(where, *group, cases))
    return found


def last_line(report: Report) -> str:
    """The counts that cannot lie: what ran and what did not, then how it agrees."""
    coverage, seen = report.coverage, report.seen_here
    agreements = Counter(each.agreement for each in seen)
    told = [f"{agreements['as-expected']} as expected"]
    others: Sequence[Agreement] = ("regressed", "fixed", "changed", "new", "spurious")
    told += [f"{agreements[name]} {name}" for name in others if agreements[name]]
    if odd := sum(not each.workaround_expected for each in seen):
        told.append(f"{odd} workaround{'s' * (odd != 1)} not as known")
    told += [f"{sent} sent in"] if (sent := len(report.observations) - len(seen)) else []
    blocked = sum(each.verdict == "blocked" for each in seen)
    because = f" ({blocked} of them blocked)" if blocked else ""
    part = f"shard {report.shard}: " if report.shard else ""
    on = f"{len(report.cells)} cell{'s' * (len(report.cells) != 1)}"
    return (
        f"{part}{coverage.planned} observations planned on {on}: {coverage.run} run, {coverage.not_run} not run, "
        f"{coverage.unavailable} unavailable{because}, {coverage.error} error; {', '.join(told)}"
    )


def by_case(observations: Iterable[Observation]) -> defaultdict[Name, dict[str, Observation]]:
    """Return the observations by issue and case, then by cell."""
    found: defaultdict[Name, dict[str, Observation]] = defaultdict(dict)
    for each in observations:
        found[each.issue, each.case][each.cell] = each
    return found


def packages(report: Report) -> set[str]:
    """Return the packages whose versions can matter to a case, and what tells that a stack lists all of them."""
    found = {name for issue in report.issues for case in issue.cases for name in concerned(case.needs, case.rules)}
    return found if BESIDE.isdisjoint(found) else {*found, LISTED}


def line(report: Report) -> list[CellRow]:
    """The cells of the release line, in the order of their days."""
    return [cell for cell in report.cells if cell.kind == "line"]


def run_on(report: Report) -> str:
    """Return the releases of jax that a sparse report ran, as a sentence; empty for a report of the whole line."""
    if not report.jax_line:
        return ""
    cells = {cell.id: cell.holds["jax"] for cell in report.run_here if cell.kind == "line" and cell.moves == "jax"}
    told = [each for each in report.observations if each.cell in cells and each.verdict not in UNDECIDED]
    ran = in_version_order({cells[each.cell] for each in told})
    of = f"{len(ran)} of {len(report.jax_line)} releases of jax"
    if not ran:
        return f"Run on {of}."
    some = len(told) < len(ran) * len({(each.issue, each.case) for each in told})
    which = ", ".join(ran) if len(ran) <= _FEW else f"{ran[0]} to {ran[-1]}"
    return f"Run on {of}{', not every case on each' if some else ''}: {which}."


def span(interval: IntervalRow, cells: Sequence[CellRow], *, sparse: bool = False) -> str:
    """An interval for people: `0.4.20–0.5.3`, open where it reaches the newest release of the line.

    Of a `sparse` report its ends: `0.4.20 and 0.5.3`.
    """
    package = interval.package
    if sparse and package == "jax":
        return " and ".join(dict.fromkeys((interval.first, interval.last)))
    of_line = tuple(cell.holds[package] for cell in cells if cell.kind == "line" and cell.moves == package)
    if len(of_line) > 1 and interval.last == _newest(of_line):
        return f"{interval.first} on"
    return interval.first if interval.first == interval.last else f"{interval.first}–{interval.last}"


@cache
def _newest(versions: tuple[str, ...]) -> str:
    return max(versions, key=Version)


@dataclass(frozen=True)
class Told:
    """One interval in words: `behaviour`, its `verdict`, and where; nothing where it is everywhere."""

    behaviour: str
    verdict: Verdict
    where: str


def story(case: CaseRow, cells: Sequence[CellRow], *, sparse: bool = False) -> list[tuple[str, list[Told]]]:
    """A case's intervals in words, by package: over the releases of jax, and of a library that changed it."""
    whole = len(case.intervals) == 1 and not sparse
    found: dict[str, list[Told]] = {}
    for each in case.intervals:
        told = Told(each.behaviour, each.verdict, "" if whole else span(each, cells, sparse=sparse))
        found.setdefault(each.package, []).append(told)
    return list(found.items())


def workaround(seen: Iterable[Observation]) -> str:
    """What became of a case's workaround wherever it was needed, for people; nothing where it never was."""
    told = list(seen)
    if failing := [each.cell for each in told if each.workaround == "fails"]:
        few = ", ".join(failing[:3]) + (f" and {len(failing) - 3} more" if len(failing) > 3 else "")
        return f"workaround fails on {few}"
    return "workaround holds" if any(each.workaround == "holds" for each in told) else ""


def replay(observation: Observation) -> str:
    """The command that makes an observation again."""
    return REPLAY.format(cell=observation.cell, issue=observation.issue)


def held(row: StackRow) -> str:
    """What a row holds, for people: `equinox 0.11.4, diffrax 0.5.1`."""
    return ", ".join(f"{name} {version}" for name, version in row.holds.items()) or "whatever comes along"


def ranges(row: StackRow) -> str:
    """Where a row works and where not, for people."""
    ends = [(each.declared_observed, dict.fromkeys((each.first, each.last))) for each in row.ranges]
    return ", ".join(f"{word} {'–'.join(of)}" for word, of in ends) or "not tried"


def advice(row: StackRow) -> str:
    """Which package should require what for metadata to agree with the runs; nothing where it does, or none could."""
    return "; ".join(each.words for each in row.amendments)
