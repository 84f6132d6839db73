"""compat.json: the report as data. Its JSON Schema is generated from these classes and lies beside it."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from suite.cell.issue import JudgedAs, Kind, Role
from suite.files import FileModel
from suite.judge.verdicts import Agreement, Declared, DeclaredObserved, Verdict, Workaround
from suite.stack.matrix import Runs

# What became of an observation since an earlier report, in the order in which it wants a look.
ChangeKind = Literal["regressed", "changed", "fixed", "new", "gone", "spurious"]


class Platform(FileModel):
    """Where the cells ran; `device` is JAX's own name for the first device."""

    system: str
    machine: str
    cpu: str
    device: str


class AskRow(FileModel):
    """A question that an arm answers, and the package it moves along to do so."""

    question: str
    along: str


class CellRow(FileModel):
    """One fully pinned stack."""

    id: str
    kind: Literal["line", "arm"]
    moves: str = Field(description="the package whose release the cell stands for")
    holds: dict[str, str] = Field(description="the releases that its id names; the rest is as of that day")
    asks: list[AskRow] = Field(description="the questions for which an arm has it")
    runs: Runs = Field("all", description="what is run in it: row zero, the cases that need a library too, or all")
    python: str
    released_on: date
    packages: dict[str, str]
    lock_sha256: str
    declared: Declared = Field(description="whether the packages' own metadata lets them be together")
    declared_observed: DeclaredObserved | None = Field(description="null where the stack was not tried")
    excluded_by: str | None = Field(description="the sentence in the packages' metadata that keeps them apart")
    broken_in: str | None = Field(description="where row zero fails: the package in which it does, where that shows")


class RangeRow(FileModel):
    """A run of releases of a row's moved package on which metadata and runs compare alike."""

    declared_observed: DeclaredObserved
    first: str
    last: str
    detail: str = Field(description="what was seen on the first of them, where the stack does not work")


class StackRow(FileModel):
    """One row of an arm: what is held, what is moved, and what metadata would have to say to agree with the runs."""

    question: str
    holds: dict[str, str]
    along: str
    cells: list[str] = Field(description="in version order of what is moved")
    ranges: list[RangeRow]
    declared: str = Field(description="what the held packages require of what is moved, as one specifier")
    specifier: str | None = Field(
        description="what would agree with the runs; null where `declared` does, or none could"
    )
    broken_in: str | None = Field(description="the package in which what does not work breaks first, where it shows")


class UpstreamRow(FileModel):
    """A thread, pull request or page."""

    ref: str = Field(description="owner/name#number, or an address")
    role: Role
    state: str


class IntervalRow(FileModel):
    """A run of releases of `package` that show one behaviour."""

    behaviour: str
    verdict: Verdict
    package: str
    first: str
    last: str
    exact: bool = Field(description="whether the release next to each end is known to differ")
    order: Literal["version", "date"]


class ExpectationRow(FileModel):
    """Which behaviour which releases are known to show, and how it is known."""

    behaviour: str
    on: list[str] = Field(description="requirements that must all be met; none: every release")
    evidence: str
    workaround: Literal["holds", "fails"] = Field(description="whether it is known to hold there, where it is needed")


class CaseRow(FileModel):
    """One variant of an issue."""

    id: str
    question: str
    needs: list[str] = Field(description="the packages that it imports")
    behaviours: dict[str, JudgedAs]
    expectations: list[ExpectationRow]
    intervals: list[IntervalRow]
    source: str = Field(description="its reproducer and its workaround")


class WorkaroundRow(FileModel):
    """What to write instead, and the cases in which that is run."""

    text: str
    run_in: list[str]


class IssueRow(FileModel):
    """One documented upstream problem; the first case is the headline."""

    id: str
    title: str
    kind: Kind
    story: str
    upstream: list[UpstreamRow]
    cases: list[CaseRow]
    workaround: WorkaroundRow
    source_sha256: str = Field(description="of the issue's module")
    shared_source: str = Field(description="what the sources of its cases use of the module's own")


class Observation(FileModel):
    """What one case did in one cell, judged."""

    cell: str
    issue: str
    case: str
    verdict: Verdict
    behaviour: str | None = Field(description="one of the case's behaviours, or null where none of them was seen")
    reason: str | None = Field(description="phase.reason; null where the verdict is clear")
    expected: str | None = Field(description="the behaviour these releases are known to show, if one is known")
    agreement: Agreement
    workaround: Workaround
    workaround_expected: bool = Field(description="whether what became of the workaround is what is known of it")
    attempts: int
    seconds: float = Field(description="wall time of the last attempt")
    peak_rss_mib: int
    detail: str


class Coverage(FileModel):
    """How many of the planned observations there are; the four add up to `planned`."""

    planned: int
    run: int
    unavailable: int
    error: int
    not_run: int


class ChangeRow(FileModel):
    """The same change over consecutive cells, in every case where it is just that."""

    kind: ChangeKind
    first: str = Field(description="the first of its cells")
    last: str
    cell_count: int
    cases: list[str] = Field(description="issue/case; not all of them where they are many")
    case_count: int
    words: str = Field(description="what was seen before and now; of what is new or gone, how many of each verdict")


class SinceRow(FileModel):
    """What a report says otherwise than the one that lay in its place."""

    generated_at: datetime = Field(description="when the report before this one was made")
    coverage: Coverage = Field(description="of the report before this one")
    counts: dict[ChangeKind, int] = Field(description="how many observations there are of each kind")
    changes: list[ChangeRow] = Field(description="those that are not spurious, regressions first, the widest first")
    left_out: int = Field(description="how many more changes there are, for which there was no room")


class Report(FileModel):
    """compat.json."""

    schema_version: Literal[1]
    generated_at: datetime
    suite_version: str
    probe_sha256: str = Field(description="of what ran the issues in the cells")
    platform: Platform
    planned_cells: list[str] = Field(description="all that the run was asked for; a shard has some of them in `cells`")
    shard: str | None = Field(description="such as 3/10: which part of the planned cells this is; null for all of them")
    since: SinceRow | None = Field(
        default=None,
        description="what changed; null for a shard, for the first report, and where the one before was of other cells",
    )
    cells: list[CellRow] = Field(description="the line in the order of its releases' days, then the arms")
    issues: list[IssueRow]
    stacks: list[StackRow]
    observations: list[Observation]
    coverage: Coverage
