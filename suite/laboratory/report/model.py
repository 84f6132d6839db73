"""The report's data model. The JSON Schema of compat.json is generated from these classes.

`laboratory.report.folder.compat_json` writes and reads compat.json and the observations beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import groupby, pairwise
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from jax_stack_compat.base.fields import CellId, Id, Moment, PackageName, PlainRequirements, SpecifierText, VersionText
from jax_stack_compat.base.files import FileModel
from jax_stack_compat.base.spelling import RELEASE, quoted
from jax_stack_compat.cell.issue import Kind, Meaning, Role
from jax_stack_compat.judge.metadata import Declared, DeclaredObserved
from jax_stack_compat.judge.verdict_table import Verdict
from jax_stack_compat.judge.verdicts import Agreement, WorkaroundWord
from jax_stack_compat.stack.chosen import Rows
from jax_stack_compat.stack.matrix import Runs
from laboratory.boundaries.attribution import Grounds
from laboratory.report.folder import schema_3 as older

SCHEMA: Final = 4
# The kinds of change of an observation since an earlier report, in the order of triage.
ChangeKind = Literal["regressed", "changed", "fixed", "new", "gone", "undecided"]


class Platform(FileModel):
    """The machine where the cells ran; `device` is JAX's name for the first device."""

    system: str
    machine: str
    cpu: str
    device: str


class AskRow(FileModel):
    """A question that an arm answers, and the package that the arm moves."""

    question: str
    along: PackageName


class CellRow(FileModel):
    """One fully pinned stack."""

    id: CellId
    kind: Literal["line", "arm"]
    moves: PackageName = Field(description="the package whose release the cell represents")
    holds: dict[PackageName, VersionText] = Field(
        description="the releases that its id names; the rest is as of that date"
    )
    asks: list[AskRow] = Field(default=[], description="the questions that it answers as part of an arm")
    runs: Runs = Field(
        default="all",
        description="row zero, with it the cases that need a library or the first such of each issue, or all",
    )
    python: VersionText
    released_on: date
    packages: dict[PackageName, VersionText] = Field(default_factory=dict)
    lock_sha256: str = ""
    declared: Declared = Field(description="whether the packages' metadata allows the set")
    declared_observed: DeclaredObserved | None = Field(default=None, description="null where the stack was not tried")
    excluded_by: str | None = Field(default=None, description="the requirement that excludes the set")
    blocked_by: str | None = Field(default=None, description="the package that does not import, by row zero")

    @property
    def versions(self) -> dict[str, str]:
        """The known releases of its packages: from its lock or, without one, from its id."""
        return {**self.holds, **self.packages}

    @model_validator(mode="after")
    def _holds_what_moves(self) -> CellRow:
        wanted = dict.fromkeys([self.moves, *(ask.along for ask in self.asks)])
        if lacking := [name for name in wanted if name not in self.holds]:
            raise ValueError(f"{self.id} moves {', '.join(lacking)} but does not hold it")
        return self


class RangeRow(FileModel):
    """Consecutive releases of a row's moved package on which metadata and runs compare alike."""

    declared_observed: DeclaredObserved
    first: VersionText
    last: VersionText
    detail: str = Field(default="", description="the fault on the release `first`, if the stack does not work")


class AmendmentRow(FileModel):
    """A requirement that would agree with the runs, and the package that should declare it."""

    kind: Literal["lacks"]
    package: str | None = Field(default=None, description="null if the release itself is broken, or if unknown")
    version: str = ""
    dependency: str
    declared: str | None = Field(default="", description="null if the package does not require the dependency")
    specifier: str
    grounds: Grounds
    cells: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    came_with: str = Field(default="", description="what else moved, if the cause is not known")
    words: str


class StackRow(FileModel):
    """One row of an arm: the held packages, the moved one, and the requirements that would agree with the runs."""

    question: str
    holds: dict[PackageName, VersionText]
    along: PackageName
    cells: list[CellId] = Field(description="in version order of the moved package")
    ranges: list[RangeRow]
    declared: SpecifierText = Field(description="what the held packages require of the moved one, as one specifier")
    amendments: list[AmendmentRow] = Field(
        default=[], description="requirements that would agree with the runs, and whose they are"
    )


class UpstreamRow(FileModel):
    """A thread, pull request or page."""

    ref: str = Field(description="owner/name#number, or an address")
    role: Role
    title: str = Field(default="", description="upstream's title; empty if not known")
    kind: str = Field(default="", description="issue, pull, discussion, commit; empty for a page")
    state: str = Field(default="", description="open, closed, merged; empty if not known")
    looked_up: date | None = Field(default=None, description="the date on which it was so")


class IntervalRow(FileModel):
    """Consecutive releases of `package` that show one behaviour."""

    behaviour: str
    verdict: Verdict
    package: PackageName
    first: VersionText
    last: VersionText
    exact: bool = Field(description="whether the release next to each end is known to differ")
    order: Literal["version", "date"] = "version"
    came_with: str = Field(default="", alias="with", description="what else moved at its start and may be to blame")

    model_config = ConfigDict(populate_by_name=True)


class ByRuleRow(FileModel):
    """Consecutive releases that were not run, for which a rule expects one behaviour."""

    behaviour: str
    verdict: Verdict
    package: PackageName
    first: VersionText
    last: VersionText


class TurnRow(FileModel):
    """Two neighbours on the line in which a case shows different behaviours, and the cause of the change."""

    before: str = Field(description="the cell before it, of those that decided the case")
    after: str
    package: str | None = Field(default=None, description="the package to blame; null if not known")
    grounds: Grounds = Field(description="run: runs show it; rule: a rule says so; together: one of all that moved")
    blame: str = Field(default="", description="lineax 0.0.8 → 0.1.0; jax or jaxlib; or everything that moved")
    evidence: str = Field(default="", description="the cell that shows it, or the evidence of the rules")


class RuleRow(FileModel):
    """A rule: the behaviour that matching stacks show, and how it is known. The first match counts."""

    behaviour: str
    on: PlainRequirements = Field(
        default="", description="requirements, separated by spaces, that must all be met; empty: every stack"
    )
    note: str = Field(default="", description="evidence beyond runs: the pull request that changed it, a changelog")
    evidence: str = Field(default="", description="the releases on which runs confirm it, and the note")


class ElsewhereRow(FileModel):
    """The runs of a workaround on other inputs than its example's."""

    inputs: list[str] = Field(description="the inputs; `program` is a second program")
    cells: dict[CellId, dict[str, str]] = Field(description="by cell, the inputs on which it does not help, and why")


class WorkaroundRow(FileModel):
    """A case's workaround, the pin that it consists of, if any, and where it is known to fail."""

    text: str
    pin: PlainRequirements = Field(default="", description="the requirements of a workaround that is a pin")
    fails: list[PlainRequirements] = Field(
        default=[], description="the stacks, as in a rule, on which it is known to fail"
    )
    elsewhere: ElsewhereRow | None = Field(default=None, description="null if it ran on its example alone")

    @property
    def is_verified(self) -> bool:
        """True if it helped on every other input in every cell where it ran elsewhere."""
        return self.elsewhere is not None and not any(self.elsewhere.cells.values())


class SignatureRow(FileModel):
    """An exception or a warning that identifies a behaviour; a `…` in its message matches anything."""

    behaviour: str
    type: str
    message: str = ""
    module: str = ""
    everyday: bool = Field(default=False, description="whether ordinary mistakes raise the same")


class CaseRow(FileModel):
    """One variant of an issue."""

    id: Id
    question: str
    needs: list[PackageName] = Field(description="the packages that it imports")
    behaviours: dict[str, Meaning]
    rules: list[RuleRow]
    workaround: WorkaroundRow | None = None
    signatures: list[SignatureRow] = Field(default=[], description="the symptoms that are recognised by their text")
    conditions: list[str] = Field(default=[], description="the conditions for a run: `with x64 on`")
    touches: list[str] = Field(default=[], description="the names that code must use to meet it, if not the issue's")
    waits_for: list[str] = Field(default=[], description="the cases that must be clear for it to work, as `issue/case`")
    intervals: list[IntervalRow]
    by_rule: list[ByRuleRow] = Field(
        default=[], description="the releases of jax on the line that a rule covers and no run"
    )
    turns: list[TurnRow] = Field(default=[], description="in version order within a branch of releases")
    source: str = Field(default="", description="its reproducer")
    workaround_source: str = Field(default="", description="the code of its workaround, on the example and elsewhere")
    control_source: str = Field(default="", description="its control; empty if an earlier case has it")


class SearchedRow(FileModel):
    """Searches of GitHub's stored threads, none of which returned a report of an issue."""

    looked_up: date
    queries: list[str]


class IssueRow(FileModel):
    """One documented upstream problem; the first case is the headline."""

    id: Id
    title: str
    kind: Kind
    story: str
    upstream: list[UpstreamRow]
    searched: SearchedRow | None = Field(
        default=None, description="for an issue that these runs found, the searches that returned no report of it"
    )
    cases: list[CaseRow] = Field(min_length=1)
    touches: list[str] = Field(default=[], description="the names, keywords and areas of the stack that it concerns")
    row_zero: bool = Field(default=False, description="whether it tests if the stack works at all")
    known_by: str = Field(default="", description="a regular expression for what else its tracebacks say")
    also: list[SignatureRow] = Field(
        default=[], description="errors with the same cause that no case raises", exclude_if=lambda rows: not rows
    )
    source_sha256: str = Field(description="of the issue's module")
    shared_source: str = Field(default="", description="the code of the module that its cases share")

    @property
    def heading(self) -> str:
        """The title; if it names no release and all cases agree, also the releases that the headline affects."""
        where, *others = (affected(case.intervals) for case in self.cases)
        is_told = where and not RELEASE.search(self.title) and {where, ""}.issuperset(others)
        return f"{self.title} ({where})" if is_told else self.title

    @property
    def packages(self) -> list[str]:
        """The packages that its cases need."""
        return list(dict.fromkeys(name for case in self.cases for name in case.needs))


class Observation(FileModel):
    """The judged result of one case in one cell: a row of observations/ISSUE.csv."""

    cell: CellId = Field(description="the cell's id in compat.json")
    issue: Id = Field(description="the issue's id in compat.json")
    case: Id = Field(description="the case's id within the issue")
    verdict: Verdict = Field(description="the judged result; report.md lists them")
    behaviour: str | None = Field(default=None, description="the case's behaviour that was seen; empty if none was")
    reason: str | None = Field(default=None, description="`phase.reason`; empty where the verdict is clear")
    expected: str | None = Field(default=None, description="the behaviour these releases are known to show, if any")
    agreement: Agreement = Field(default="as-expected", description="how that compares with what is expected")
    workaround: WorkaroundWord = Field(
        default="none", description="whether the workaround helped; none if it has none or was not run"
    )
    workaround_expected: bool = Field(default=True, description="whether the workaround did as documented")
    ran_in: CellId | None = Field(default=None, description="the cell where it ran, if another with the same packages")
    attempts: int = Field(default=1, description="how often it was run; 0 if never")
    seconds: float = Field(default=0.0, description="wall time of the last attempt, roughly: 0.1, 0.3, 1, 3 or tens")
    peak_rss_mib: int = Field(default=0, description="peak memory of the last attempt, in MiB, to a hundred")
    detail: str = Field(default="", description="what was seen, for people, in one line")


class Coverage(FileModel):
    """The number of planned observations, by how they are counted; the four add up to `planned`."""

    planned: int
    run: int
    unavailable: int
    error: int
    not_run: int


class ChangeRow(FileModel):
    """One change over consecutive cells, with every case that changed in the same way."""

    kind: ChangeKind
    first: str = Field(description="the first of its cells")
    last: str
    cell_count: int
    cases: list[str] = Field(description="issue/case; only the first if there are many")
    case_count: int
    words: str = Field(description="before and now; for new and gone, the number of each verdict")


class SinceRow(FileModel):
    """The differences between a report and the one that it replaced."""

    generated_at: Moment = Field(description="when the former report was made")
    coverage: Coverage = Field(description="of the former report")
    counts: dict[ChangeKind, int] = Field(description="how many observations there are of each kind")
    changes: list[ChangeRow] = Field(description="decided changes, regressions first, the widest first")
    left_out: int = Field(description="how many more changes were left out for room")


class RefutedRow(FileModel):
    """A claim that no release confirms."""

    ref: str = Field(description="the source of the claim: owner/name#number, or an address")
    title: str = Field(default="", description="upstream's title; empty if not known")
    claim: str
    tried: str = Field(description="what was run")
    where: str = Field(description="on which releases")


class CompatFile(FileModel):
    """The contents of compat.json: all of a report but its observations."""

    schema_version: Literal[4]
    generated_at: Moment
    suite_version: str
    probe_sha256: str = Field(description="of the probe, which runs the issues in the cells")
    platform: Platform
    planned_cells: list[str] = Field(description="all cells of the run; a shard has some of them in `cells`")
    rows: Rows = Field(default="cases", description="each behaviour of a headline once, each headline, or every case")
    shard: str | None = Field(default=None, description="its part of the planned cells, such as 3/10; null: all")
    since: SinceRow | None = Field(default=None, description="the changes; null without a comparable former report")
    jax_line: list[VersionText] = Field(
        default=[], description="all releases of jax on the line; empty if the report plans each of them"
    )
    cells: list[CellRow] = Field(description="the line by date, then the arms")
    issues: list[IssueRow]
    refuted: list[RefutedRow] = Field(default_factory=list)
    stacks: list[StackRow] = Field(default_factory=list)
    coverage: Coverage

    @property
    def jax_releases(self) -> dict[str, str]:
        """The release of jax for each cell of the line that moves jax."""
        return {cell.id: cell.holds["jax"] for cell in self.cells if cell.kind == "line" and cell.moves == "jax"}

    @model_validator(mode="before")
    @classmethod
    def _is_of_this_schema(cls, data: Any) -> Any:
        """Read schema 3 as today's. Report another schema as the only fault, because other keys may differ with it."""
        found = data.get("schema_version") if isinstance(data, dict) else SCHEMA
        if found == older.SCHEMA:
            return older.updated(data)
        if found != SCHEMA:
            told = f"is {quoted(found)}, but this suite reads {older.SCHEMA} and {SCHEMA}"
            mend = "Write the report again with this suite (`nox -s report`), or use the suite that wrote it"
            wrong = PydanticCustomError("schema", "{it}", {"it": f"{told}. {mend}"})
            fault = InitErrorDetails(type=wrong, loc=("schema_version",), input=None)
            raise ValidationError.from_exception_data("Report", [fault])
        return data


class Report(CompatFile):
    """A report: compat.json and its observations, by cell and then by case, in the order of compat.json."""

    observations: list[Observation]


_ALL = "all releases run"
# Symptoms, worst first. Only the first group with an observation is reported.
_SYMPTOMS: tuple[frozenset[Verdict], ...] = (
    frozenset(["affected", "crashed", "hung"]),
    frozenset(["guarded"]),
)


def affected(found: Sequence[IntervalRow]) -> str | None:
    """Describe the releases on which a case goes wrong: "since jax 0.5.1"; "" if there are none.

    The releases are of a package that itself brings and ends the symptom, jax last; None if no package does. Along the
    releases of another package, the symptom comes and goes with the packages of its day.
    """
    packages = sorted({each.package for each in found}, key=lambda name: (name == "jax", name))
    told = [_affected([each for each in found if each.package == package]) for package in packages]
    if own := [each for each in told if each not in (None, "", _ALL)]:
        return own[0]
    if None in told:
        return None
    return _ALL if _ALL in told else ""


def _affected(along: Sequence[IntervalRow]) -> str | None:
    """Describe the releases of one package on which a case goes wrong; None if another package changes that."""
    symptoms = next((some for some in _SYMPTOMS if not some.isdisjoint(each.verdict for each in along)), frozenset())
    changes = (
        after for before, after in pairwise(along) if (before.verdict in symptoms) != (after.verdict in symptoms)
    )
    if any(each.came_with for each in changes):
        return None
    runs = [list(run) for shown, run in groupby(along, lambda each: each.verdict in symptoms) if shown]
    return ", ".join(_span(run[0], run[-1], along) for run in runs)


def _span(first: IntervalRow, last: IntervalRow, along: Sequence[IntervalRow]) -> str:
    match first is along[0], last is along[-1]:
        case True, True:
            return _ALL
        case True, False:
            return f"until {first.package} {last.last}"
        case False, True:
            return f"since {first.package} {first.first}"
    return f"{first.package} {' to '.join(dict.fromkeys((first.first, last.last)))}"
