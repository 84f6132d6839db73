"""What every emitter says of a report: its last line, its exit code, and the observations that want a look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from suite.judge import Verdict
from suite.report.model import CellRow, IntervalRow, Observation, Report


class Exit(IntEnum):
    """The exit codes of `python -m suite`; under nox every one but 0 becomes 1."""

    AS_EXPECTED = 0
    UNEXPECTED = 1
    MISUSED = 2
    INCOMPLETE = 3


def exit_code(report: Report) -> Exit:
    """0 only where every planned observation was made and each is as expected."""
    if unexpected(report):
        return Exit.UNEXPECTED
    decided = sum(each.agreement != "spurious" for each in report.observations)
    return Exit.AS_EXPECTED if report.observations and decided == report.coverage.planned else Exit.INCOMPLETE


def unexpected(report: Report) -> list[Observation]:
    """The observations that say something of upstream that is not known, or whose workaround failed."""
    return [
        each
        for each in report.observations
        if each.agreement not in ("as-expected", "spurious") or each.workaround == "fails"
    ]


@dataclass(frozen=True)
class Undecided:
    """Observations of one cell from which nothing was learned of upstream, for one cause."""

    cell: str
    verdict: Verdict
    reason: str
    detail: str
    cases: str


def undecided(report: Report) -> list[Undecided]:
    """What was not decided, by cell and cause: one broken environment is one entry, not one for each case."""
    groups: dict[tuple[str, Verdict, str, str], list[str]] = {}
    for each in report.observations:
        if each.agreement == "spurious":
            group = (each.cell, each.verdict, each.reason or "", each.detail)
            groups.setdefault(group, []).append(f"{each.issue}/{each.case}")
    return [
        Undecided(*group, cases[0] if len(cases) == 1 else f"{len(cases)} cases") for group, cases in groups.items()
    ]


def last_line(report: Report) -> str:
    """The counts that cannot lie: what ran and what did not, then how it agrees."""
    coverage = report.coverage
    agreements = [each.agreement for each in report.observations]
    told = [f"{agreements.count('as-expected')} as expected"]
    told += [
        f"{agreements.count(name)} {name}"
        for name in ("regressed", "fixed", "changed", "new", "spurious")
        if name in agreements
    ]
    fails = sum(each.workaround == "fails" for each in report.observations)
    told += [f"{fails} failed workaround{'s' * (fails != 1)}"] if fails else []
    return (
        f"{coverage.planned} observations planned on {len(report.cells)} cell{'s' * (len(report.cells) != 1)}: "
        f"{coverage.run} run, {coverage.not_run} not run, {coverage.unavailable} unavailable, {coverage.error} error; "
        f"{', '.join(told)}"
    )


def span(interval: IntervalRow, cells: Sequence[CellRow]) -> str:
    """An interval for people: `0.4.20 – 0.5.3`, open where it reaches the newest release of the line."""
    line = [cell.packages["jax"] for cell in cells if cell.kind == "line"]
    if interval.first == interval.last:
        return f"{interval.first} on" if line and interval.last == line[-1] and len(line) > 1 else interval.first
    return f"{interval.first} on" if line and interval.last == line[-1] else f"{interval.first}–{interval.last}"


def workaround(seen: Iterable[Observation]) -> str:
    """What became of a case's workaround wherever it was needed, for people; nothing where it never was."""
    told = list(seen)
    if failing := [each.cell for each in told if each.workaround == "fails"]:
        return f"workaround fails on {', '.join(failing)}"
    return "workaround holds" if any(each.workaround == "holds" for each in told) else ""


def replay(observation: Observation) -> str:
    """The command that makes an observation again."""
    return f'nox -s "cell({observation.cell})" report -- --issue {observation.issue} --fresh'
