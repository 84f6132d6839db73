"""The summary that every format shares: the last line, the exit code, and the observations to look at."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.judge.metadata import DeclaredObserved, in_version_order, parsed
from jax_stack_compat.judge.prediction import Name
from jax_stack_compat.judge.rules import concerned
from jax_stack_compat.judge.verdict_table import PROPERTIES, UNDECIDED, Verdict
from jax_stack_compat.judge.verdicts import Agreement
from jax_stack_compat.packages import BESIDE, LISTED
from laboratory.report.model import CellRow, IntervalRow, Observation, Report, StackRow

# The plan already knows that these are missing; no run can change it.
PLANNED_REASONS = frozenset({"plan.yanked", "plan.excludes", "plan.no-release", "plan.no-wheel"})
_NO_INTERPRETER = "plan.no-interpreter"

# Up to this many releases are named one by one.
_NAMED_RELEASES = 12

REPLAY = 'nox -s "cell({cell})" report -- --issue {issue} --fresh'

STACK_GLYPHS: dict[DeclaredObserved, str] = {"supported": "✓", "latent": "✗", "guarded": "⊘", "excluded": "+"}
STACK_WORDS: dict[DeclaredObserved, str] = {
    "supported": "metadata allows it, and it works",
    "latent": "metadata allows it, but it does not work",
    "guarded": "metadata excludes it, and it does not work",
    "excluded": "metadata excludes it; row zero works, other cases may not",
}


def exit_code(report: Report, *, other_pythons: bool = True) -> Exit:
    """Return 0 only if every available planned observation was made and is as expected.

    Without `other_pythons`, an observation may be missing if it needs another Python than the line's and this machine
    lacks it.
    """
    if unexpected(report):
        return Exit.UNEXPECTED
    excused = set() if other_pythons else {cell.id for cell in report.cells if "python" in cell.holds}
    missing = [
        observation
        for observation in undecided_rows(report)
        if observation.reason not in PLANNED_REASONS
        and not (observation.reason == _NO_INTERPRETER and observation.cell in excused)
    ]
    whole = report.observations and len(report.observations) == report.coverage.planned
    return Exit.INCOMPLETE if missing or not whole else Exit.AS_EXPECTED


def unexpected(report: Report) -> list[Observation]:
    """Return the observations that are not as expected, or whose workaround is not."""
    return [each for each in report.observations if is_unexpected(each)]


def is_unexpected(observation: Observation) -> bool:
    """Return True if an observation or its workaround is not as expected."""
    return observation.agreement not in ("as-expected", "undecided") or not observation.workaround_expected


@dataclass(frozen=True)
class Undecided:
    """Undecided observations with one cause: the first cell, and how many more."""

    cell: str
    verdict: Verdict
    reason: str
    detail: str
    cases: str


def undecided_rows(report: Report) -> list[Observation]:
    """Return the undecided observations, which say nothing about upstream.

    Blocked ones are left out of the cells in which row zero reports their cause.
    """
    undecided = [row for row in report.observations if row.agreement == "undecided"]
    row_zero = {issue.id for issue in report.issues if issue.row_zero}
    reported = {row.cell for row in report.observations if row.issue in row_zero and not _is_blocked(row)}
    return [row for row in undecided if not (_is_blocked(row) and row.cell in reported)]


def _is_blocked(row: Observation) -> bool:
    return row.verdict == "blocked" and row.agreement == "undecided"


def undecided_causes(report: Report) -> list[Undecided]:
    """Return the undecided observations by cause: one broken environment or missing run is one entry."""
    groups: dict[tuple[Verdict, str, str], list[Observation]] = {}
    for observation in undecided_rows(report):
        groups.setdefault((observation.verdict, observation.reason or "", observation.detail), []).append(observation)
    found = []
    for group, of in groups.items():
        cells = list(dict.fromkeys(row.cell for row in of))
        where = cells[0] if len(cells) == 1 else f"{len(cells)} cells, {cells[0]} to {cells[-1]}"
        cases = f"{of[0].issue}/{of[0].case}" if len(of) == 1 else f"{len(of)} cases"
        found.append(Undecided(where, *group, cases))
    return found


def last_line(report: Report) -> str:
    """Return the counts as one line: what ran, by how it agrees with the expectations, then what did not run."""
    coverage = report.coverage
    ran = [row for row in report.observations if PROPERTIES[row.verdict].counted == "run"]
    agreements = Counter(row.agreement for row in ran)
    told = [f"{agreements['as-expected']:,} of {coverage.run:,} run as expected"]
    others: Sequence[Agreement] = ("regressed", "fixed", "changed", "new", "undecided")
    told += [f"{agreements[name]:,} {name}" for name in others if agreements[name]]
    if odd := sum(not row.workaround_expected for row in report.observations):
        told.append(f"{odd:,} workaround{'s' * (odd != 1)} not as known")
    part = f"shard {report.shard}: " if report.shard else ""
    errors = f"{coverage.error:,} error{'s' * (coverage.error != 1)}"
    return f"{part}{', '.join(told)}; {_not_available(report)}, {coverage.not_run:,} not run, {errors}"


def _not_available(report: Report) -> str:
    """Return the number of observations that could not run, also by verdict: `3 could not run (2 unavailable, …)`."""
    verdicts = Counter(row.verdict for row in report.observations)
    names = [name for name, of in PROPERTIES.items() if of.counted == "unavailable" and verdicts[name]]
    by_verdict = f" ({', '.join(f'{verdicts[name]:,} {name}' for name in names)})" if names else ""
    return f"{report.coverage.unavailable:,} could not run{by_verdict}"


def by_case(observations: Iterable[Observation]) -> defaultdict[Name, dict[str, Observation]]:
    """Return the observations by issue and case, then by cell."""
    found: defaultdict[Name, dict[str, Observation]] = defaultdict(dict)
    for observation in observations:
        found[observation.issue, observation.case][observation.cell] = observation
    return found


def packages(report: Report) -> set[str]:
    """Return the packages that can matter to a case, with opt-einsum if a complete list of pins must be recognised."""
    found = {name for issue in report.issues for case in issue.cases for name in concerned(case.needs, case.rules)}
    return found if BESIDE.isdisjoint(found) else {*found, LISTED}


def line(report: Report) -> list[CellRow]:
    """Return the cells of the release line, by date."""
    return [cell for cell in report.cells if cell.kind == "line"]


def run_on(report: Report) -> str:
    """Return the releases of jax that a sparse report ran, as a sentence; empty for a report of the whole line."""
    if not report.jax_line:
        return ""
    cells = report.jax_releases
    told = [row for row in report.observations if row.cell in cells and row.verdict not in UNDECIDED]
    ran = in_version_order({cells[row.cell] for row in told})
    of = f"{len(ran)} of {len(report.jax_line)} releases of jax"
    if not ran:
        return f"Run on {of}."
    some = len(told) < len(ran) * len({(row.issue, row.case) for row in told})
    which = ", ".join(ran) if len(ran) <= _NAMED_RELEASES else f"{ran[0]} to {ran[-1]}"
    return f"Run on {of}{', not every case on each' if some else ''}: {which}."


def span(interval: IntervalRow, cells: Sequence[CellRow], *, sparse: bool = False) -> str:
    """Return an interval for people: `0.4.20–0.5.3`, open if it reaches the newest release of the line.

    For a `sparse` report, return its ends: `0.4.20 and 0.5.3`.
    """
    package = interval.package
    if sparse and package == "jax":
        return " and ".join(dict.fromkeys((interval.first, interval.last)))
    of_line = [cell.holds[package] for cell in cells if cell.kind == "line" and cell.moves == package]
    if len(of_line) > 1 and interval.last == max(of_line, key=parsed):
        return f"{interval.first} on"
    return interval.first if interval.first == interval.last else f"{interval.first}–{interval.last}"


def workaround(seen: Iterable[Observation]) -> str:
    """Summarise where a case's workaround helped, for people; empty if it was never needed."""
    told = list(seen)
    if failing := [row.cell for row in told if row.workaround == "fails"]:
        few = ", ".join(failing[:3]) + (f" and {len(failing) - 3} more" if len(failing) > 3 else "")
        return f"workaround fails on {few}"
    return "workaround holds" if any(row.workaround == "holds" for row in told) else ""


def replay(observation: Observation) -> str:
    """Return the command that repeats an observation."""
    return REPLAY.format(cell=observation.cell, issue=observation.issue)


def held(row: StackRow) -> str:
    """Return the packages that a row holds, for people: `equinox 0.11.4, diffrax 0.5.1`."""
    return ", ".join(f"{name} {version}" for name, version in row.holds.items()) or "no other package pinned"


def ranges(row: StackRow) -> str:
    """Return where a row works and where it does not, for people."""
    ends = [(span.declared_observed, dict.fromkeys((span.first, span.last))) for span in row.ranges]
    return ", ".join(f"{word} {'–'.join(of)}" for word, of in ends) or "not tried"


def advice(row: StackRow) -> str:
    """Return which package should require what to agree with the runs; empty if nothing should or could change."""
    return "; ".join(each.words for each in row.amendments)
