"""compat.json: the report as data. Its JSON Schema is generated from these classes and lies beside it.

What is null or empty is left out of the file, and so is what an observation's other fields say already: see
`Observation`. `compact` writes it so, and reading fills it in again.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from suite.cell.issue import Kind, Meaning, Role
from suite.files import FileModel
from suite.judge.agreement import Agreement
from suite.judge.attribution import Grounds
from suite.judge.metadata import Declared, DeclaredObserved
from suite.judge.table import Verdict
from suite.judge.verdicts import WorkaroundWord
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
    asks: list[AskRow] = Field(default=[], description="the questions for which an arm has it")
    runs: Runs = Field("all", description="what is run in it: row zero, the cases that need a library too, or all")
    python: str
    released_on: date
    packages: dict[str, str] = Field(default_factory=dict)
    lock_sha256: str = ""
    declared: Declared = Field(description="whether the packages' own metadata lets them be together")
    declared_observed: DeclaredObserved | None = Field(default=None, description="null where the stack was not tried")
    excluded_by: str | None = Field(
        default=None, description="the sentence in the packages' metadata that keeps them apart"
    )
    blocked_by: str | None = Field(default=None, description="the package that does not import in it, by row zero")


class RangeRow(FileModel):
    """A run of releases of a row's moved package on which metadata and runs compare alike."""

    declared_observed: DeclaredObserved
    first: str
    last: str
    detail: str = Field(default="", description="what was seen on the first of them, where the stack does not work")


class AmendmentRow(FileModel):
    """A requirement that would agree with the runs, and the package whose metadata should carry it."""

    kind: Literal["lacks", "over-tight"]
    package: str | None = Field(
        default=None, description="null where the release is broken by itself, or the cause is not known"
    )
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
    holds: dict[str, str]
    along: str
    cells: list[str] = Field(description="in version order of what is moved")
    ranges: list[RangeRow]
    declared: str = Field(description="what the held packages require of what is moved, as one specifier")
    amendments: list[AmendmentRow] = Field(
        default=[], description="what would agree with the runs, and who should say it"
    )


class UpstreamRow(FileModel):
    """A thread, pull request or page."""

    ref: str = Field(description="owner/name#number, or an address")
    role: Role
    title: str = Field(default="", description="what upstream calls it; nothing where that is not known")
    state: str = Field(default="", description="open, closed, merged; nothing where it is not known")


class IntervalRow(FileModel):
    """A run of releases of `package` that show one behaviour."""

    behaviour: str
    verdict: Verdict
    package: str
    first: str
    last: str
    exact: bool = Field(description="whether the release next to each end is known to differ")
    order: Literal["version", "date"] = "version"
    came_with: str = Field(
        default="", alias="with", description="what else moved at its start, where that is to blame or may be"
    )

    model_config = ConfigDict(populate_by_name=True)


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
    on: str = Field(default="", description="requirements, apart by spaces, that must all be met; nothing: every stack")
    evidence: str = ""


class WorkaroundRow(FileModel):
    """What to do instead in a case, how that is run, and where it is known not to help."""

    text: str
    pin: str = Field(default="", description="the requirements that it is, where it is a pin")
    fails: list[str] = Field(default=[], description="the stacks, as in a rule, on which it is known not to help")


class CaseRow(FileModel):
    """One variant of an issue."""

    id: str
    question: str
    needs: list[str] = Field(description="the packages that it imports")
    behaviours: dict[str, Meaning]
    rules: list[RuleRow]
    workaround: WorkaroundRow | None = None
    intervals: list[IntervalRow]
    turns: list[TurnRow] = Field(default=[], description="in version order within a branch of releases")
    source: str = Field(default="", description="its reproducer and its workaround")


class IssueRow(FileModel):
    """One documented upstream problem; the first case is the headline."""

    id: str
    title: str
    kind: Kind
    story: str
    upstream: list[UpstreamRow]
    cases: list[CaseRow]
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

    In the file, `agreement` is left out where it is as-expected, and then `expected` too, which is the behaviour;
    `reason` where it is run.BEHAVIOUR; and `detail`, and a `workaround` that is not-needed, where the case's
    observation before this one that has the same behaviour says the same.
    """

    cell: str
    issue: str
    case: str
    verdict: Verdict
    behaviour: str | None = Field(default=None, description="one of the case's; null where none of them was seen")
    reason: str | None = Field(default=None, description="phase.reason; null where the verdict is clear")
    expected: str | None = Field(default=None, description="the behaviour these releases are known to show, if any")
    agreement: Agreement = "as-expected"
    workaround: WorkaroundWord = "none"
    workaround_expected: bool = Field(default=True, description="whether that is what is known of the workaround")
    attempts: int = 1
    seconds: float = Field(default=0.0, description="wall time of the last attempt")
    peak_rss_mib: int = 0
    detail: str = ""


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

    schema_version: Literal[2]
    generated_at: datetime
    suite_version: str
    probe_sha256: str = Field(description="of what ran the issues in the cells")
    platform: Platform
    planned_cells: list[str] = Field(description="all that the run was asked for; a shard has some of them in `cells`")
    shard: str | None = Field(
        default=None, description="such as 3/10: which part of the planned cells this is; null for all of them"
    )
    since: SinceRow | None = Field(
        default=None,
        description="what changed; null for a shard, for the first report, and where the one before was of other cells",
    )
    cells: list[CellRow] = Field(description="the line in the order of its releases' days, then the arms")
    issues: list[IssueRow]
    stacks: list[StackRow] = Field(default_factory=list)
    observations: list[Observation]
    coverage: Coverage

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: Any) -> Any:
        """What the file leaves out of an observation because its other fields say it."""
        data = _of_schema_1(data) if isinstance(data, dict) and data.get("schema_version") == 1 else data
        observations = data.get("observations") if isinstance(data, dict) else None
        if not isinstance(observations, list) or not all(isinstance(each, dict) for each in observations):
            return data
        told: dict[tuple[Any, ...], dict[str, Any]] = {}
        found = []
        for each in observations:
            behaviour, key = each.get("behaviour"), tuple(map(str, map(each.get, ("issue", "case", "behaviour"))))
            one = {**told.get(key, {}), **each}
            if behaviour and one.get("agreement", "as-expected") == "as-expected":
                one.setdefault("expected", behaviour)
            if behaviour and one.get("verdict") != "clear":
                one.setdefault("reason", f"run.{behaviour}")
            unneeded = {"workaround": "not-needed"} if one.get("workaround") == "not-needed" else {}
            told[key] = {"detail": one.get("detail", ""), **unneeded}
            found.append(one)
        return {**data, "observations": found}


def _of_schema_1(data: dict[str, Any]) -> dict[str, Any]:
    """An older compat.json, so that it can be compared with: its tables as rules, and no advice of its stacks'."""

    def case(each: dict[str, Any], text: str) -> dict[str, Any]:
        rules = [
            {"behaviour": one["behaviour"], "on": " ".join(one["on"]), "evidence": one["evidence"]}
            for one in each["expectations"]
        ]
        kept = {key: value for key, value in each.items() if key != "expectations"}
        return {**kept, "rules": rules, "workaround": {"text": text}}

    issues = []
    for issue in data["issues"]:
        cases = [case(each, issue["workaround"]["text"]) for each in issue["cases"]]
        issues.append({**{key: value for key, value in issue.items() if key != "workaround"}, "cases": cases})
    stacks = [{key: each[key] for key in each if key not in ("specifier", "broken_in")} for each in data["stacks"]]
    cells = [{key: each[key] for key in each if key != "broken_in"} for each in data["cells"]]
    return {**data, "schema_version": 2, "cells": cells, "issues": issues, "stacks": stacks}
