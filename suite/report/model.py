"""compat.json: the report as data. Its JSON Schema is generated from these classes and lies beside it."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from suite.files import FileModel
from suite.issue import JudgedAs, Kind, Role
from suite.judge import Agreement, Declared, DeclaredObserved, Verdict, Workaround


class Platform(FileModel):
    """Where the cells ran; `device` is JAX's own name for the first device."""

    system: str
    machine: str
    cpu: str
    device: str


class CellRow(FileModel):
    """One fully pinned stack."""

    id: str
    kind: Literal["line", "arm"]
    python: str
    released_on: date
    packages: dict[str, str]
    lock_sha256: str
    declared: Declared = Field(description="whether the packages' own metadata lets them be together")
    declared_observed: DeclaredObserved | None = Field(description="null where the stack was not tried")


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


class CaseRow(FileModel):
    """One variant of an issue."""

    id: str
    question: str
    behaviours: dict[str, JudgedAs]
    expectations: list[ExpectationRow]
    intervals: list[IntervalRow]


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


class Report(FileModel):
    """compat.json."""

    schema_version: Literal[1]
    generated_at: datetime
    suite_version: str
    platform: Platform
    cells: list[CellRow]
    issues: list[IssueRow]
    observations: list[Observation]
    coverage: Coverage
