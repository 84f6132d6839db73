"""Plan, issues and records → the report: every planned observation is in it, run or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from packaging.version import Version

from suite import __version__, environment, judge, lock, records, releases
from suite.catalogue import Entry
from suite.issue import Case
from suite.judge import Judged, Point, Verdict
from suite.lock import Lock
from suite.plan import Cell
from suite.records import Record, Status
from suite.report.model import (
    CaseRow,
    CellRow,
    Coverage,
    ExpectationRow,
    IntervalRow,
    IssueRow,
    Observation,
    Platform,
    Report,
    UpstreamRow,
    WorkaroundRow,
)


def assemble(cells: Sequence[Cell], entries: Sequence[Entry]) -> Report:
    """The report on these cells and issues, from what records there are. Raises BadFile."""
    released = releases.load().packages
    locks = {cell.id: lock.load(cell) for cell in cells}
    statuses = {cell.id: records.status(cell.id) for cell in cells}
    observations = [
        each for cell in cells for entry in entries for each in _observe(cell, entry, locks[cell.id], statuses[cell.id])
    ]
    installable = judge.in_version_order([each for each, release in released["jax"].items() if release.yanked is None])
    return Report(
        schema_version=1,
        generated_at=datetime.now(UTC).replace(microsecond=0),
        suite_version=__version__,
        platform=_platform(cells, entries, locks, statuses),
        cells=[_cell(cell, locks[cell.id], observations, released) for cell in cells],
        issues=[_issue(entry, cells, observations, installable) for entry in entries],
        observations=observations,
        coverage=_coverage(observations),
    )


def _observe(cell: Cell, entry: Entry, pinned: Lock, status: Status | None) -> Iterable[Observation]:
    for case in entry.issue.cases:
        record = _record(cell, entry, case, pinned, status)
        expectation = judge.expected(case, pinned.pins)
        judged = judge.judge(case, record.attempts) if record else _without(status)
        last = record.attempts[-1] if record else None
        yield Observation(
            cell=cell.id,
            issue=entry.issue.id,
            case=case.id,
            verdict=judged.verdict,
            behaviour=judged.behaviour,
            reason=judged.reason,
            expected=expectation.behaviour if expectation else None,
            agreement=judge.agree(case, judged, expectation),
            workaround=judged.workaround,
            attempts=len(record.attempts) if record else 0,
            seconds=last.seconds if last else 0.0,
            peak_rss_mib=last.peak_rss_mib if last else 0,
            detail=judged.detail,
        )


def _record(cell: Cell, entry: Entry, case: Case, pinned: Lock, status: Status | None) -> Record | None:
    """The record of a case, unless it was made under another lock, issue, probe or interpreter."""
    if status is not None and status.verdict != "ran" and not status.python:
        return None
    made = environment.ready(cell, pinned)
    python = made.python if made else status.python if status else ""
    return records.find(cell.id, entry, case.id, records.key(entry, pinned.sha256, python))


def _without(status: Status | None) -> Judged:
    """The verdict where there is no record: the cell's own, or that nobody tried."""
    if status is None or status.verdict == "ran":
        return Judged("not-run", None, "run.not-tried", "no record of it under this lock, issue and probe")
    return Judged(status.verdict, None, status.reason, judge.tidy(status.detail))


def _cell(cell: Cell, pinned: Lock, observations: Iterable[Observation], released: releases.Packages) -> CellRow:
    smoke = {each.verdict for each in observations if each.cell == cell.id and each.issue == "stack-smoke"}
    works = smoke == {"clear"} if smoke and smoke.isdisjoint(judge.UNDECIDED) else None
    excluded = cell.excluded or releases.exclusion(pinned.pins, released, cell.python)
    says: judge.Declared = "excludes" if excluded else "allows"
    return CellRow(
        id=cell.id,
        kind=cell.kind,
        python=cell.python,
        released_on=cell.released_on,
        packages=dict(pinned.pins),
        lock_sha256=pinned.sha256,
        declared=says,
        declared_observed=judge.declared_observed(says, works),
    )


def _issue(
    entry: Entry, cells: Sequence[Cell], observations: Sequence[Observation], installable: Sequence[str]
) -> IssueRow:
    issue = entry.issue
    return IssueRow(
        id=issue.id,
        title=issue.title,
        kind=issue.kind,
        story=issue.story,
        upstream=[UpstreamRow(**asdict(each)) for each in issue.upstream],
        cases=[
            CaseRow(
                id=case.id,
                question=case.question,
                behaviours=dict(case.behaviours),
                expectations=[
                    ExpectationRow(behaviour=each.behaviour, on=list(each.on), evidence=each.evidence)
                    for each in case.expectations
                ],
                intervals=_intervals(issue.id, case.id, cells, observations, installable),
            )
            for case in issue.cases
        ],
        workaround=WorkaroundRow(
            text=issue.workaround, run_in=[case.id for case in issue.cases if case.workaround is not None]
        ),
    )


def _intervals(
    issue: str, case: str, cells: Sequence[Cell], observations: Iterable[Observation], installable: Sequence[str]
) -> list[IntervalRow]:
    seen: dict[str, tuple[str, Verdict] | None] = {
        each.cell: None if each.verdict in judge.UNDECIDED else (each.behaviour or each.verdict, each.verdict)
        for each in observations
        if (each.issue, each.case) == (issue, case)
    }
    line = sorted((cell.id.removeprefix("jax-") for cell in cells if cell.kind == "line"), key=Version)
    points = [Point(version, seen[f"jax-{version}"]) for version in line]
    return [IntervalRow(**asdict(each)) for each in judge.intervals(points, "jax", installable)]


def _platform(
    cells: Sequence[Cell], entries: Sequence[Entry], locks: dict[str, Lock], statuses: dict[str, Status | None]
) -> Platform:
    """The machine of the first cell that ran; all of a run's cells run on one."""
    for cell in cells:
        for entry in entries:
            record = _record(cell, entry, entry.issue.cases[0], locks[cell.id], statuses[cell.id])
            if record is not None:
                status = statuses[cell.id]
                return Platform(**record.machine.platform, device=status.device if status else "")
    return Platform(system="", machine="", cpu="", device="")


def _coverage(observations: Sequence[Observation]) -> Coverage:
    verdicts = [each.verdict for each in observations]
    counts = {name: verdicts.count(name) for name in ("unavailable", "conflict", "error", "not-run")}
    return Coverage(
        planned=len(verdicts),
        run=len(verdicts) - sum(counts.values()),
        unavailable=counts["unavailable"] + counts["conflict"],
        error=counts["error"],
        not_run=counts["not-run"],
    )
