"""Plan, issues and records → the report: every planned observation is in it, run or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from suite import __version__
from suite.cell.issue import Case, Upstream
from suite.judge import verdicts
from suite.judge.agreement import agree, workaround_expected
from suite.judge.metadata import Declared, declared_observed
from suite.judge.record import Record
from suite.judge.rules import expected
from suite.judge.table import UNDECIDED
from suite.judge.verdicts import Judged
from suite.judge.wording import not_imported, tidy
from suite.report.derive import coverage, derive
from suite.report.model import (
    AskRow,
    CaseRow,
    CellRow,
    IssueRow,
    Observation,
    Platform,
    Report,
    RuleRow,
    UpstreamRow,
    WorkaroundRow,
)
from suite.run import catalogue, records, source, threads
from suite.run.catalogue import Entry
from suite.run.records import Status
from suite.run.shard import Shard
from suite.stack import lock, plan, releases
from suite.stack.lock import Lock
from suite.stack.plan import Cell


def assemble(
    cells: Sequence[Cell], entries: Sequence[Entry], *, planned: Sequence[Cell] = (), shard: Shard | None = None
) -> Report:
    """The report on these cells and issues, from what records there are. Raises BadFile.

    `planned` are the cells of the whole run, where these are but a `shard` of it.
    """
    report = _report([_read(cell, entries) for cell in cells], entries)
    whole = {"planned_cells": [cell.id for cell in planned or cells], "shard": str(shard) if shard else None}
    return report.model_copy(update=whole)


def untried(cells: Sequence[Cell], entries: Sequence[Entry]) -> Report:
    """The report on these cells and issues had nobody tried them: no record is looked at. Raises BadFile."""
    nothing = Judged("not-run", None, "run.not-tried", "none of the merged shards has this cell")
    return _report([_read(cell, entries, nothing) for cell in cells], entries)


def _report(found: Sequence[_Read], entries: Sequence[Entry]) -> Report:
    offered = releases.load().packages
    observations = [each for one in found for each in one.observations]
    report = Report(
        schema_version=2,
        generated_at=datetime.now(UTC).replace(microsecond=0),
        suite_version=__version__,
        probe_sha256=records.probe_sha256(),
        platform=next((one.platform for one in found if one.platform), _NOWHERE),
        planned_cells=[one.cell.id for one in found],
        shard=None,
        cells=[_cell(one, offered) for one in found],
        issues=[_issue(entry) for entry in entries],
        stacks=[],
        observations=observations,
        coverage=coverage(observations),
    )
    return derive(report, offered)


_NOWHERE = Platform(system="", machine="", cpu="", device="")


class _Read:
    """What there is of one cell: its lock, and its observations with the records they were judged from."""

    def __init__(self, cell: Cell, pinned: Lock) -> None:
        self.cell, self.pinned = cell, pinned
        self.observations: list[Observation] = []
        self.platform: Platform | None = None
        self.blocked_by: str | None = None


def _read(cell: Cell, entries: Sequence[Entry], unread: Judged | None = None) -> _Read:
    """Judge every case that is planned in `cell`; where `unread` is given, that is it, whatever the records say."""
    one = _Read(cell, lock.load(cell))
    status = None if unread else records.status(cell.id)
    # An environment that could not be made says nothing of older records of it.
    tried = (
        not unread and cell.unavailable is None and (status is None or status.verdict == "ran" or bool(status.python))
    )
    for entry in entries:
        for case in catalogue.cases(entry, cell):
            record = records.in_force(cell, entry, case, one.pinned) if tried else None
            judged = verdicts.judge(case, record.attempts) if record else unread or _without(cell, status)
            # Without a lock nobody knows what would be in it.
            rule = expected(case, one.pinned.pins) if one.pinned.pins else None
            fails = case.workaround.fails if case.workaround else ()
            last = record.attempts[-1] if record else None
            one.observations.append(
                Observation(
                    cell=cell.id,
                    issue=entry.issue.id,
                    case=case.id,
                    verdict=judged.verdict,
                    behaviour=judged.behaviour,
                    reason=judged.reason,
                    expected=rule.behaviour if rule else None,
                    agreement=agree(case, judged, rule),
                    workaround=judged.workaround,
                    workaround_expected=workaround_expected(judged.workaround, fails, one.pinned.pins),
                    attempts=len(record.attempts) if record else 0,
                    seconds=last.seconds if last else 0.0,
                    peak_rss_mib=last.peak_rss_mib if last else 0,
                    detail=judged.detail,
                )
            )
            if record is not None:
                _note(one, entry, record, status)
    return one


def _note(one: _Read, entry: Entry, record: Record, status: Status | None) -> None:
    """Where it ran, by the first record; and which package does not import, by row zero's own."""
    if one.platform is None:
        one.platform = Platform(**record.machine.platform, device=status.device if status else "")
    if entry.issue.row_zero and one.blocked_by is None:
        one.blocked_by = not_imported(record.attempts[-1].parts["reproducer"])


def _without(cell: Cell, status: Status | None) -> Judged:
    """The verdict where there is no record: the plan's, the cell's own, or that nobody tried."""
    if cell.unavailable is not None:
        reason, sentence = cell.unavailable
        return Judged(plan.verdict(cell), None, reason, sentence)
    if status is None or status.verdict == "ran":
        return Judged("not-run", None, "run.not-tried", "no record of it under this lock, issue and probe")
    return Judged(status.verdict, None, status.reason, tidy(status.detail))


def _cell(one: _Read, offered: releases.Packages) -> CellRow:
    cell, pins = one.cell, one.pinned.pins
    row_zero = {each.issue.id for each in catalogue.entries() if each.issue.row_zero}
    seen = {each.verdict for each in one.observations if each.issue in row_zero}
    works = seen == {"clear"} if seen and seen.isdisjoint(UNDECIDED) else None
    excluded = cell.excluded or releases.exclusion(pins, offered, cell.python)
    says: Declared = "excludes" if excluded else "allows"
    return CellRow(
        id=cell.id,
        kind=cell.kind,
        runs=cell.runs,
        moves=cell.moves,
        holds=dict(cell.holds),
        asks=[AskRow(question=question, along=along) for question, along in cell.asks],
        python=cell.python,
        released_on=cell.released_on,
        packages=dict(pins) or {name: each for name, each in cell.holds if name in releases.PACKAGES},
        lock_sha256=one.pinned.sha256,
        declared=says,
        declared_observed=declared_observed(says, works),
        excluded_by=excluded,
        blocked_by=one.blocked_by,
    )


def _issue(entry: Entry) -> IssueRow:
    issue = entry.issue
    text = entry.source.read_text(encoding="utf-8")
    return IssueRow(
        id=issue.id,
        title=issue.title,
        kind=issue.kind,
        story=issue.story,
        upstream=[_upstream(each) for each in issue.upstream],
        cases=[
            CaseRow(
                id=case.id,
                question=case.question,
                needs=list(case.needs),
                behaviours=dict(case.behaviours),
                rules=[RuleRow(**asdict(each)) for each in case.rules],
                workaround=_workaround(case),
                intervals=[],
                source=source.of_case(text, case),
            )
            for case in issue.cases
        ],
        touches=list(source.touches(text, issue)),
        row_zero=issue.row_zero,
        source_sha256=records.source_sha256(entry),
        shared_source=source.shared(text, issue),
    )


def _upstream(named: Upstream) -> UpstreamRow:
    thread = threads.load().get(named.ref)
    known = {"title": thread.title, "state": thread.state} if thread else {}
    return UpstreamRow(ref=named.ref, role=named.role, **known)


def _workaround(case: Case) -> WorkaroundRow | None:
    if case.workaround is None:
        return None
    return WorkaroundRow(text=case.workaround.text, pin=case.workaround.pin, fails=list(case.workaround.fails))
