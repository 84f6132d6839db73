"""compat.json: the report as data. Its JSON Schema is generated from these classes and lies beside it.

What is null or empty is left out of the file, and of an observation what the rest of the report says: see
`Observation`. `compact` writes it so, and reading fills it in again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from suite.cell.issue import Kind, Meaning, Role
from suite.fields import CellId, Id, Moment, PackageName, PlainRequirements, SpecifierText, VersionText
from suite.files import FileModel
from suite.judge.agreement import Agreement
from suite.judge.attribution import Grounds
from suite.judge.metadata import Declared, DeclaredObserved
from suite.judge.table import UNDECIDED, Verdict
from suite.judge.verdicts import WorkaroundWord
from suite.spelling import quoted
from suite.stack.chosen import Rows
from suite.stack.matrix import Runs

SCHEMA: Final = 2
GAPS: Final = 2
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
    along: PackageName


class CellRow(FileModel):
    """One fully pinned stack."""

    id: CellId
    kind: Literal["line", "arm"]
    moves: PackageName = Field(description="the package whose release the cell stands for")
    holds: dict[PackageName, VersionText] = Field(
        description="the releases that its id names; the rest is as of that day"
    )
    asks: list[AskRow] = Field(default=[], description="the questions for which an arm has it")
    runs: Runs = Field(
        default="all",
        description="row zero, with it the cases that need a library or the first such of each issue, or all",
    )
    python: VersionText
    released_on: date
    packages: dict[PackageName, VersionText] = Field(default_factory=dict)
    lock_sha256: str = ""
    declared: Declared = Field(description="whether the packages' own metadata lets them be together")
    declared_observed: DeclaredObserved | None = Field(default=None, description="null where the stack was not tried")
    excluded_by: str | None = Field(default=None, description="what keeps them apart in the packages' metadata")
    blocked_by: str | None = Field(default=None, description="the package that does not import in it, by row zero")
    sent_on: Platform | None = Field(default=None, description="where somebody ran it who sent it in; null: run here")

    @model_validator(mode="after")
    def _holds_what_moves(self) -> CellRow:
        wanted = dict.fromkeys([self.moves, *(ask.along for ask in self.asks)])
        if lacking := [name for name in wanted if name not in self.holds]:
            raise ValueError(f"{self.id} moves {', '.join(lacking)}, and does not hold it")
        return self


class RangeRow(FileModel):
    """A run of releases of a row's moved package on which metadata and runs compare alike."""

    declared_observed: DeclaredObserved
    first: VersionText
    last: VersionText
    detail: str = Field(default="", description="what was seen on the first of them, where the stack does not work")


class AmendmentRow(FileModel):
    """A requirement that would agree with the runs, and the package whose metadata should carry it."""

    kind: Literal["lacks", "over-tight"]
    package: str | None = Field(default=None, description="null where the release itself is broken, or none is known")
    version: str = ""
    dependency: str
    declared: str = ""
    specifier: str
    grounds: Grounds
    cells: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    came_with: str = Field(default="", description="what else moved, where the cause is not known")
    words: str


class StackRow(FileModel):
    """One row of an arm: what is held, what is moved, and what metadata would have to say to agree with the runs."""

    question: str
    holds: dict[PackageName, VersionText]
    along: PackageName
    cells: list[CellId] = Field(description="in version order of what is moved")
    ranges: list[RangeRow]
    declared: SpecifierText = Field(description="what the held packages require of what is moved, as one specifier")
    amendments: list[AmendmentRow] = Field(default=[], description="what would agree with the runs, and whose it is")


class UpstreamRow(FileModel):
    """A thread, pull request or page."""

    ref: str = Field(description="owner/name#number, or an address")
    role: Role
    title: str = Field(default="", description="what upstream calls it; nothing where that is not known")
    state: str = Field(default="", description="open, closed, merged; nothing where it is not known")
    looked_up: date | None = Field(default=None, description="the day on which it was so")


class IntervalRow(FileModel):
    """A run of releases of `package` that show one behaviour."""

    behaviour: str
    verdict: Verdict
    package: PackageName
    first: VersionText
    last: VersionText
    exact: bool = Field(description="whether the release next to each end is known to differ")
    order: Literal["version", "date"] = "version"
    came_with: str = Field(default="", alias="with", description="what else moved at its start, and may be to blame")

    model_config = ConfigDict(populate_by_name=True)


class ByRuleRow(FileModel):
    """Neighbouring releases that were not run, on which a rule expects one behaviour."""

    behaviour: str
    verdict: Verdict
    package: PackageName
    first: VersionText
    last: VersionText


class TurnRow(FileModel):
    """Two neighbours on the line in which a case shows different behaviours, and what that is put down to."""

    before: str = Field(description="the cell before it, of those in which the case was seen")
    after: str
    package: str | None = Field(default=None, description="the one to blame; null where that cannot be told")
    grounds: Grounds = Field(description="whether runs show that, or a rule says so, or all that moved came together")
    blame: str = Field(default="", description="lineax 0.0.8 → 0.1.0; or that it came with all that moved")
    evidence: str = Field(default="", description="the cell that shows it, or what the rules rest on")


class RuleRow(FileModel):
    """Which behaviour which stacks are known to show, and how it is known; the first that matches counts."""

    behaviour: str
    on: PlainRequirements = Field(
        default="", description="requirements, apart by spaces, that must all be met; nothing: every stack"
    )
    evidence: str = ""


class WorkaroundRow(FileModel):
    """What to do instead in a case, how that is run, and where it is known not to help."""

    text: str
    pin: PlainRequirements = Field(default="", description="the requirements that it is, where it is a pin")
    fails: list[PlainRequirements] = Field(
        default=[], description="the stacks, as in a rule, on which it is known not to help"
    )


class SignatureRow(FileModel):
    """An exception or a warning by which a behaviour is recognised; a `…` in its message stands for anything."""

    behaviour: str
    type: str
    message: str = ""
    module: str = ""


class CaseRow(FileModel):
    """One variant of an issue."""

    id: Id
    question: str
    needs: list[PackageName] = Field(description="the packages that it imports")
    behaviours: dict[str, Meaning]
    rules: list[RuleRow]
    workaround: WorkaroundRow | None = None
    signatures: list[SignatureRow] = Field(default=[], description="the symptoms that can be told by their text")
    conditions: list[str] = Field(default=[], description="what has to be so for it to be run at all: `with x64 on`")
    intervals: list[IntervalRow]
    by_rule: list[ByRuleRow] = Field(
        default=[], description="the releases of jax on the line where it was not run and a rule covers it"
    )
    turns: list[TurnRow] = Field(default=[], description="in version order within a branch of releases")
    source: str = Field(default="", description="its reproducer and its workaround")


class IssueRow(FileModel):
    """One documented upstream problem; the first case is the headline."""

    id: Id
    title: str
    kind: Kind
    story: str
    upstream: list[UpstreamRow]
    cases: list[CaseRow] = Field(min_length=1)
    touches: list[str] = Field(default=[], description="what of the stack it concerns: names, keywords, areas")
    row_zero: bool = Field(default=False, description="whether it asks if the stack works at all")
    source_sha256: str = Field(description="of the issue's module")
    shared_source: str = Field(default="", description="what the sources of its cases use of the module's own")

    @property
    def workaround(self) -> str:
        """What its cases' workarounds say, each once."""
        return " ".join(dict.fromkeys(case.workaround.text for case in self.cases if case.workaround is not None))


class Observation(FileModel):
    """What one case did in one cell, judged.

    In the file a field is left out where this says what it is. `behaviour`: as in the last observation of this case
    with this verdict, at first the first of the case's with it. `agreement`: spurious where the verdict says nothing of
    upstream, else as-expected. Of a behaviour, `workaround`, `seconds`, `peak_rss_mib` and `detail` are as in the last
    observation of this case with it, and `reason` is none where clear, import.exception where an import-error,
    run.signal where crashed, run.timeout where hung, else run.BEHAVIOUR. Where none was seen, `reason`, `attempts` and
    `detail` are as in the last observation of this cell with this verdict, at first of this case with it, and `reason`
    is import.exception where blocked. `expected` is the behaviour where that is as expected; else nothing, where that
    observation of this cell has nothing, or as in the last observation of this case.
    """

    cell: CellId
    issue: Id
    case: Id
    verdict: Verdict
    behaviour: str | None = Field(default=None, description="one of the case's; null where none of them was seen")
    reason: str | None = Field(default=None, description="phase.reason; null where the verdict is clear")
    expected: str | None = Field(default=None, description="the behaviour these releases are known to show, if any")
    agreement: Agreement = "as-expected"
    workaround: WorkaroundWord = "none"
    workaround_expected: bool = Field(default=True, description="whether that is what is known of the workaround")
    ran_in: CellId | None = Field(default=None, description="the cell where it ran, if another with the same packages")
    attempts: int = 1
    seconds: float = Field(default=0.0, description="wall time of the last attempt, roughly: 0.1, 0.3, 1, 3 or tens")
    peak_rss_mib: int = Field(default=0, description="memory that the last attempt had at most, to a hundred MiB")
    detail: str = ""


# The reason of a behaviour that no reproducer returns: the probe gives it.
_GIVEN = {"import-error": "import.exception", "crashed": "run.signal", "hung": "run.timeout"}


class Gaps:
    """What a report, read or written from the top, leaves out of its next observation, as it says it elsewhere."""

    def __init__(self, issues: Iterable[IssueRow]) -> None:
        self._of_case: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._of_verdict: dict[tuple[str, str, Verdict], Mapping[str, Any]] = {}
        self._of_behaviour: dict[tuple[str, str, str], Mapping[str, Any]] = {}
        self._of_cell: dict[tuple[str, Verdict], Mapping[str, Any]] = {}
        self._first = {
            (issue.id, case.id, means): name
            for issue in issues
            for case in issue.cases
            for name, means in reversed(case.behaviours.items())
            # It may as well be none of the case's behaviours.
            if means != "different"
        }

    def guesses(self, each: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Each field of an observation that can be left out, and what it is then: see `Observation`.

        The next rests on those before it: what is left out has to be filled in as it comes.
        """
        cell, verdict, case = each["cell"], each["verdict"], (each["issue"], each["case"])
        alike = self._of_verdict.get((*case, verdict))
        yield "behaviour", alike["behaviour"] if alike else self._first.get((*case, verdict))
        yield "agreement", "spurious" if verdict in UNDECIDED else "as-expected"
        behaviour = each["behaviour"]
        # What keeps one case of a cell from being seen mostly keeps all of them.
        beside = None if behaviour else self._of_cell.get((cell, verdict))
        nothing = beside is not None and beside["expected"] is None
        before = None if nothing else self._of_case.get(case, {}).get("expected")
        yield "expected", behaviour if each["agreement"] == "as-expected" else before
        told = "import-error" if verdict == "blocked" else behaviour
        given = None if told is None or verdict == "clear" else _GIVEN.get(told, f"run.{told}")
        yield "reason", beside["reason"] if beside else given
        last = self._of_behaviour.get((*case, behaviour), {}) if behaviour else {}
        yield "workaround", last.get("workaround", "none")
        yield "workaround_expected", True
        yield "ran_in", None
        yield "attempts", beside["attempts"] if beside else 1
        yield "seconds", last.get("seconds", 0.0)
        yield "peak_rss_mib", last.get("peak_rss_mib", 0)
        yield "detail", (last or beside or alike or {}).get("detail", "")
        self._of_case[case] = self._of_verdict[*case, verdict] = each
        if behaviour:
            self._of_behaviour[*case, behaviour] = each
        else:
            self._of_cell[cell, verdict] = each


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

    generated_at: Moment = Field(description="when the report before this one was made")
    coverage: Coverage = Field(description="of the report before this one")
    counts: dict[ChangeKind, int] = Field(description="how many observations there are of each kind")
    changes: list[ChangeRow] = Field(description="those that are not spurious, regressions first, the widest first")
    left_out: int = Field(description="how many more changes there are, for which there was no room")


class RefutedRow(FileModel):
    """A claim that no release bears out."""

    ref: str = Field(description="who claims it: owner/name#number, or an address")
    title: str = Field(default="", description="what upstream calls it; nothing where that is not known")
    claim: str
    tried: str = Field(description="what was run")
    where: str = Field(description="on which releases")


class Report(FileModel):
    """compat.json."""

    schema_version: Literal[2]
    gaps_version: Literal[2] = Field(description="of what is left out of an observation: another fills it in otherwise")
    generated_at: Moment
    suite_version: str
    probe_sha256: str = Field(description="of what ran the issues in the cells")
    platform: Platform
    planned_cells: list[str] = Field(description="all that the run was asked for; a shard has some of them in `cells`")
    rows: Rows = Field(default="cases", description="each behaviour of a headline once, each headline, or every case")
    shard: str | None = Field(default=None, description="its part of the planned cells, such as 3/10; null: all")
    since: SinceRow | None = Field(default=None, description="what changed; null where none before it was of the same")
    jax_line: list[VersionText] = Field(
        default=[], description="all releases of jax on the line; empty where the report plans each of them"
    )
    cells: list[CellRow] = Field(description="the line in the order of its releases' days, then the arms")
    issues: list[IssueRow]
    refuted: list[RefutedRow] = Field(default_factory=list)
    stacks: list[StackRow] = Field(default_factory=list)
    observations: list[Observation]
    coverage: Coverage

    @property
    def run_here(self) -> list[CellRow]:
        """The cells that the suite ran itself: what may be concluded rests on them."""
        return [cell for cell in self.cells if cell.sent_on is None]

    @model_validator(mode="before")
    @classmethod
    def _is_of_this_schema(cls, data: Any) -> Any:
        """In a file of another schema that is all that is wrong: nothing else has to be as it is in this one."""
        for key, read in {"schema_version": SCHEMA, "gaps_version": GAPS}.items():
            found = data.get(key) if isinstance(data, dict) else read
            if found != read:
                raise _refusal({key: f"is {quoted(found)}, and this suite reads {read}: have it written anew"})
        return data

    @field_validator("observations")
    @classmethod
    def _fill_in(cls, found: Sequence[Observation], info: ValidationInfo) -> list[Observation]:
        """What the file leaves out of an observation."""
        gaps, filled = Gaps(info.data.get("issues", ())), []
        for each in found:
            # What was just read nobody else has. There are tens of thousands, and to copy one takes the longest.
            whole = each if info.mode == "json" else each.model_copy()
            said, known = vars(whole), frozenset(whole.model_fields_set)
            for name, guess in gaps.guesses(said):
                if name not in known:
                    said[name] = guess
            whole.model_fields_set.update(said)
            filled.append(whole)
        return filled

    @model_validator(mode="after")
    def _is_of_one_piece(self) -> Report:
        """What a part of it names, another part has, once: a report that was cut by hand is none."""
        cells = {cell.id: cell for cell in self.cells}
        cases = [(issue.id, case) for issue in self.issues for case in issue.cases]
        names = [f"{issue}/{case.id}" for issue, case in cases]
        known = set(names)
        seen = {f"{each.cell}/{each.issue}/{each.case}" for each in self.observations}
        ran = {each.cell for each in self.observations if each.verdict not in UNDECIDED}
        moved = {cell.moves for cell in self.cells if cell.kind == "line"}
        wrong = {
            "cells": [
                *_twice(cell.id for cell in self.cells),
                *(
                    f"{cell.id} ran without a jax"
                    for cell in self.cells
                    if cell.id in ran and "jax" not in cell.packages
                ),
            ],
            "issues": [*_twice(issue.id for issue in self.issues), *_twice(names)],
            "observations": [
                f"{each.cell}/{each.issue}/{each.case} is of no cell or case of it"
                for each in self.observations
                if each.cell not in cells or f"{each.issue}/{each.case}" not in known
            ],
            # What is computed of them rests on them.
            "stacks": [
                f"{each} is no cell of it that holds {row.along}"
                for row in self.stacks
                for each in row.cells
                if each not in cells or row.along not in cells[each].holds
            ],
        }
        for issue, case in cases:
            wrong[f"issues.{issue}.{case.id}"] = [
                *(f"{each.package} moves on no line" for each in case.intervals if each.package not in moved),
                *(
                    f"{end} is not on the line"
                    for each in case.by_rule
                    for end in (each.first, each.last)
                    if end not in self.jax_line
                ),
                *(
                    f"it was not seen in {each}"
                    for turn in case.turns
                    for each in (turn.before, turn.after)
                    if f"{each}/{issue}/{case.id}" not in seen
                ),
            ]
        if any(wrong.values()):
            raise _refusal({key: found[0] for key, found in wrong.items() if found})
        return self


def _refusal(wrong: Mapping[str, str]) -> ValidationError:
    """What is told of these keys of a report, and nothing else."""
    details = [
        InitErrorDetails(type=PydanticCustomError("report", "{it}", {"it": it}), loc=(key,), input=None)
        for key, it in wrong.items()
    ]
    return ValidationError.from_exception_data("Report", details)


def _twice(names: Iterable[str]) -> list[str]:
    return [f"{name} stands there twice" for name, count in Counter(names).items() if count > 1]
