"""The report, assembled from plan, issues and records: cells, what blocks them, and all planned observations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain

from jax_stack_compat import __version__
from jax_stack_compat.base.fields import this_moment
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case, Upstream
from jax_stack_compat.cell.machine import cores
from jax_stack_compat.judge.metadata import Declared, declared_observed
from jax_stack_compat.judge.rules import Pins, expected
from jax_stack_compat.judge.verdict_table import UNDECIDED
from jax_stack_compat.judge.verdicts import Judged, agree, workaround_expected
from jax_stack_compat.judge.wording import tidy
from jax_stack_compat.packages import HELD
from jax_stack_compat.stack import lock, plan, releases
from jax_stack_compat.stack.chosen import Rows
from jax_stack_compat.stack.lock import Lock
from jax_stack_compat.stack.plan import Cell
from laboratory.cores import over_cores
from laboratory.records import elsewhere, keys, records
from laboratory.records.records import Status
from laboratory.records.seen import DISK, JudgedRecords, Seen, seen
from laboratory.report.derive import coverage, derive
from laboratory.report.model import (
    SCHEMA,
    AskRow,
    CaseRow,
    CellRow,
    ElsewhereRow,
    IssueRow,
    Observation,
    Platform,
    RefutedRow,
    Report,
    SearchedRow,
    SignatureRow,
    UpstreamRow,
    WorkaroundRow,
)
from laboratory.run.spread.shard import Shard
from laboratory.sources import source, threads

# Fewer cells are judged faster than a process starts.
_MANY = 50


def assemble(
    cells: Sequence[Cell],
    entries: Sequence[Entry],
    *,
    planned: Sequence[Cell] = (),
    shard: Shard | None = None,
    rows: Rows = "cases",
    unread: Judged | None = None,
    evidence: JudgedRecords = DISK,
) -> Report:
    """Return the report on these cells and issues, from the records that are the `evidence`. Raises BadFile.

    For a `shard`, `planned` has the cells of the whole run. `rows` selects the entries of each cell. With `unread`, no
    records are read, and every case has the verdict `unread`.
    """
    offered = releases.load().packages

    def judge(share: Sequence[Cell]) -> list[tuple[CellRow, list[Observation], Platform | None]]:
        return [_judged(cell, catalogue.planned(entries, cell, rows), offered, unread, evidence) for cell in share]

    processes = cores() if len(cells) > _MANY else 1
    size = max(math.ceil(len(cells) / processes), 1)
    shares = [cells[start : start + size] for start in range(0, len(cells), size)]
    judged = list(chain.from_iterable(over_cores(judge, shares)))
    observations = [row for _, made, _ in judged for row in made]
    nowhere = Platform(system="", machine="", cpu="", device="")
    report = Report(
        schema_version=SCHEMA,
        generated_at=this_moment(),
        suite_version=__version__,
        probe_sha256=keys.probe_sha256(),
        platform=next((platform for _, _, platform in judged if platform), nowhere),
        planned_cells=[cell.id for cell in planned or cells],
        rows=rows,
        shard=str(shard) if shard else None,
        cells=[row for row, _, _ in judged],
        issues=[_issue(entry) for entry in entries],
        refuted=list(map(_refuted, threads.refuted())),
        observations=observations,
        coverage=coverage(observations),
    )
    return derive(report, offered, lock.jax_line())


def untried(cells: Sequence[Cell], entries: Sequence[Entry], rows: Rows = "cases") -> Report:
    """Return the report on these cells and issues as not run, without reading records. Raises BadFile."""
    unread = Judged("not-run", None, "run.not-tried", "none of the merged shards has this cell")
    return assemble(cells, entries, rows=rows, unread=unread)


def _judged(
    cell: Cell, entries: Sequence[Entry], offered: releases.Packages, unread: Judged | None, evidence: JudgedRecords
) -> tuple[CellRow, list[Observation], Platform | None]:
    """Judge every case planned in `cell`; with `unread`, read no records and use that verdict."""
    pinned, status = lock.load(cell), None if unread else evidence.status(cell.id)
    # If this machine lacks an interpreter or device, records made elsewhere stay valid. Any other failure to make the
    # environment voids them.
    failed = status is not None and status.verdict == "error" and not status.python
    tried = not unread and cell.unavailable is None and not failed
    made: list[Observation] = []
    platform, blocked_by = None, None
    for entry in entries:
        for case in entry.cases(cell):
            record = seen(cell, entry, case, pinned, evidence) if tried else None
            judged = record.judged if record else unread or _without(cell, status)
            made.append(observation(cell.id, entry.issue.id, case, pinned.pins, judged, record))
            if record is not None:
                device = status.device if status else ""
                platform = platform or Platform(
                    system=record.system, machine=record.machine, cpu=record.cpu, device=device
                )
                if entry.issue.row_zero:
                    blocked_by = blocked_by or record.not_imported
    return _cell(cell, pinned, offered, made, blocked_by), made, platform


def observation(cell: str, issue: str, case: Case, pins: Pins, judged: Judged, record: Seen | None) -> Observation:
    """Return the report's row for a case in a cell with these pins, from its verdict and its record."""
    # Without a lock the versions are unknown.
    rule = expected(case, pins) if pins else None
    fails = case.workaround.fails if case.workaround else ()
    return Observation(
        cell=cell,
        issue=issue,
        case=case.id,
        **judged._asdict(),
        expected=rule.behaviour if rule else None,
        agreement=agree(case, judged, rule),
        workaround_expected=workaround_expected(judged.workaround, fails, pins),
        ran_in=record.cell if record and record.cell != cell else None,
        attempts=record.attempts if record else 0,
        # Rounded, because exact figures would change the files on every run.
        seconds=roughly(record.seconds) if record else 0.0,
        peak_rss_mib=round(record.peak_rss_mib, -2) if record else 0,
    )


def roughly(seconds: float) -> float:
    """Round a time to 0, or to 0.1, 0.3, 1 or 3 seconds, the nearest by ratio; above 5 seconds to tens."""
    if not 0.05 <= seconds <= 5:
        return round(seconds, -1)
    return min((0.1, 0.3, 1.0, 3.0), key=lambda step: abs(math.log(seconds / step)))


def _without(cell: Cell, status: Status | None) -> Judged:
    """Return the verdict for a case without a record: the plan's, the cell's, or not-run."""
    if cell.unavailable is not None:
        reason, sentence = cell.unavailable
        return Judged(plan.verdict(cell), None, reason, sentence)
    if status is None or status.verdict == "ran":
        return Judged("not-run", None, "run.not-tried", "it has no record for this lock, issue and probe")
    return Judged(status.verdict, None, status.reason, tidy(status.detail))


def _cell(
    cell: Cell, pinned: Lock, offered: releases.Packages, seen: Sequence[Observation], blocked_by: str | None
) -> CellRow:
    row_zero = {entry.issue.id for entry in catalogue.entries() if entry.issue.row_zero}
    # In a guest's cell, all cases of the guest decide whether the stack works.
    shown = {row.verdict for row in seen if cell.guests or row.issue in row_zero}
    works = shown == {"clear"} if shown and shown.isdisjoint(UNDECIDED) else None
    excluded = cell.excluded or releases.exclusion(pinned.pins, offered, cell.python, cell.extra)
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
        packages=dict(pinned.pins) or {name: version for name, version in cell.holds if name in HELD},
        lock_sha256=pinned.sha256,
        declared=says,
        declared_observed=declared_observed(says, works),
        excluded_by=excluded,
        blocked_by=blocked_by,
    )


def _issue(entry: Entry) -> IssueRow:
    issue, text = entry.issue, entry.source.read_text(encoding="utf-8")
    return IssueRow(
        id=issue.id,
        title=issue.title,
        kind=issue.kind,
        story=issue.story,
        upstream=[_upstream(reference) for reference in threads.upstream(issue)],
        searched=_searched(issue.id),
        cases=list(_cases(entry, text)),
        touches=list(source.touches(text, issue)),
        row_zero=issue.row_zero,
        known_by=issue.known_by,
        also=[SignatureRow(behaviour=name, **asdict(signature)) for name, signature in issue.also.items()],
        source_sha256=records.source_sha256(entry.source),
        shared_source=source.shared(text, issue),
    )


def _upstream(named: Upstream) -> UpstreamRow:
    row = UpstreamRow(ref=named.ref, role=named.role)
    thread = threads.load().threads.get(named.ref)
    if thread is None:
        return row
    return row.model_copy(update={name: getattr(thread, name) for name in ("kind", "title", "state", "looked_up")})


def _searched(issue: str) -> SearchedRow | None:
    found = threads.searched().get(issue)
    return SearchedRow(looked_up=found.looked_up, queries=list(found.queries)) if found else None


def _refuted(claim: threads.Refuted) -> RefutedRow:
    thread = threads.load().threads.get(claim.ref)
    return RefutedRow(title=thread.title if thread else "", **dict(claim))


def _cases(entry: Entry, text: str) -> Iterator[CaseRow]:
    """Yield the rows of an issue's cases; a control that several share is in the first of them."""
    shown = set[str]()
    for case in entry.issue.cases:
        row = _case(entry, case, text)
        is_first = row.control_source not in shown
        shown.add(row.control_source)
        yield row if is_first else row.model_copy(update={"control_source": ""})


def _case(entry: Entry, case: Case, text: str) -> CaseRow:
    own = {name: getattr(case, name) for name in ("id", "question", "needs", "behaviours", "touches", "waits_for")}
    rules = [{"behaviour": rule.behaviour, "on": rule.on, "note": rule.evidence} for rule in case.rules]
    signatures = [
        {"behaviour": name, **asdict(signature)}
        for name, some in case.signatures.items()
        for signature in (some if isinstance(some, tuple) else (some,))
    ]
    computed = {
        "conditions": _conditions(case),
        "intervals": [],
        "source": source.reproducer(text, case),
        "workaround": _workaround(entry, case),
        "workaround_source": source.workaround(text, case),
        "control_source": source.control(text, case),
    }
    return CaseRow.model_validate({**own, "rules": rules, "signatures": signatures, **computed})


def _workaround(entry: Entry, case: Case) -> WorkaroundRow | None:
    if (instead := case.workaround) is None:
        return None
    ran = elsewhere.ran(entry, case)
    row = ElsewhereRow(inputs=list(ran.inputs), cells=ran.cells) if ran else None
    return WorkaroundRow(text=instead.text, pin=instead.pin, fails=list(instead.fails), elsewhere=row)


def _conditions(case: Case) -> list[str]:
    """Return a case's demands on process and machine, in words."""
    told = ["with x64 on"] if case.x64 else []
    told += [f"with {name}={value}" for name, value in case.environment.items()]
    told += [f"with {case.host_devices} devices of the host"] if case.host_devices > 1 else []
    told += [f"on processors with {', '.join(case.cpu)}"] if case.cpu else []
    return told + ([f"on Python {case.python}"] if case.python else [])
