"""The findings that follow from a report's runs alone. Pure functions.

Upstream's threads were not searched, so a finding may be known there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from jax_stack_compat.judge.verdict_table import GOOD, UNDECIDED
from laboratory.report import summary
from laboratory.report.model import CaseRow, IssueRow, Observation, Report, StackRow

Sort = Literal["came-back", "outlives-its-fix", "workaround-fails", "latent"]

SORTS: Mapping[Sort, str] = {
    "came-back": "Fixed, then affected again",
    "outlives-its-fix": "Still there after the fix",
    "workaround-fails": "The workaround fails",
    "latent": "Allowed, but broken",
}


@dataclass(frozen=True)
class Evidence:
    """One observed fact: where, its verdict and its detail. `target` is the site's page for it."""

    where: str
    verdict: str
    told: str
    target: str


@dataclass(frozen=True)
class ReportFinding:
    """A sentence on what the runs show, with its evidence."""

    id: str
    sort: Sort
    title: str
    text: str
    evidence: tuple[Evidence, ...]


def findings(report: Report) -> list[ReportFinding]:
    """Return every finding of `report`, by sort."""
    found = [*_failing_workarounds(report)]
    seen = summary.by_case(report.observations)
    for issue in report.issues:
        for case in issue.cases:
            found += _came_back(report, issue, case)
        decided = {case.id: _decided(report, seen[issue.id, case.id]) for case in issue.cases}
        found += _outlives_its_fix(report, issue, decided)
    found += [finding for row in report.stacks for finding in _of_stack(report, row)]
    order = list(SORTS)
    return sorted(found, key=lambda finding: order.index(finding.sort))


def _failing_workarounds(report: Report) -> Iterator[ReportFinding]:
    """Yield a finding for each group of equal observations whose workaround fails."""
    instead = {(issue.id, case.id): case.workaround for issue in report.issues for case in issue.cases}
    groups: dict[tuple[str, str, str | None, str, str], list[Observation]] = {}
    for row in report.observations:
        if row.workaround == "fails":
            groups.setdefault((row.issue, row.case, row.behaviour, row.verdict, row.detail), []).append(row)
    for number, of in enumerate(groups.values()):
        seen, where = of[0], of[0].cell if len(of) == 1 else f"{len(of)} stacks"
        known = " It is known to fail there." if seen.workaround_expected else ""
        workaround = instead[seen.issue, seen.case]
        told = workaround.text if workaround else ""
        text, name = f"“{told}” fails on {where}.{known}", f"{seen.issue}/{seen.case}"
        yield ReportFinding(
            f"finding-workaround-fails/{number}/{name}", "workaround-fails", name, text, (_evidence(*of),)
        )


def _came_back(report: Report, issue: IssueRow, case: CaseRow) -> Iterator[ReportFinding]:
    """Yield the symptoms that came back, if every start is attributed to the same package."""
    for package, behaviour in dict.fromkeys((span.package, span.behaviour) for span in case.intervals):
        of = [
            (row, summary.span(row, report.cells, sparse=bool(report.jax_line)))
            for row in case.intervals
            if row.package == package
        ]
        bad = [(span, where) for span, where in of if (span.behaviour, span.verdict) == (behaviour, "affected")]
        # A change that came with another package may not be this package's fault.
        if len(bad) < 2 or any(span.came_with for span, _ in bad):
            continue
        (_, first), *again = bad
        text = (
            f"“{behaviour}” on {package} {first} and, after releases without it, again on "
            f"{', '.join(where for _, where in again)}."
        )
        evidence = tuple(
            Evidence(f"{package} {where}", row.verdict, row.behaviour, f"issues/{issue.id}.html#{case.id}")
            for row, where in of
        )
        key = f"{issue.id}/{case.id}/{package}"
        yield ReportFinding(f"finding-came-back/{key}", "came-back", f"{issue.id}/{case.id}", text, evidence)


def _outlives_its_fix(
    report: Report, issue: IssueRow, decided: Mapping[str, list[Observation]]
) -> Iterator[ReportFinding]:
    """Yield a finding if other cases on the newest stack still show the headline's former symptom."""
    if issue.kind == "by-design" or not issue.cases:
        return
    headline, *others = issue.cases
    seen = decided[headline.id]
    if not seen or seen[-1].verdict not in GOOD:
        return
    now, gone = seen[-1], {row.behaviour for row in seen if row.verdict == "affected"}
    newest = [(case, of[-1]) for case in others if (of := decided[case.id])]
    still = [(case, row) for case, row in newest if row.verdict == "affected" and row.behaviour in gone]
    if not still:
        return
    fixes = ", ".join(thread.ref for thread in issue.upstream if thread.role == "fix" and thread.state == "merged")
    named = ", ".join(f"{case.id} ({row.behaviour})" for case, row in still)
    text = f"On {now.cell}, {headline.id} no longer shows the symptom, but these cases do: {named}."
    text += f" Merged upstream: {fixes}." if fixes else ""
    evidence = tuple(map(_evidence, (now, *(row for _, row in still))))
    yield ReportFinding(f"finding-outlives-its-fix/{issue.id}", "outlives-its-fix", issue.id, text, evidence)


def _decided(report: Report, of: Mapping[str, Observation]) -> list[Observation]:
    """Return a case's decided observations on the line, by date."""
    seen = [of[cell.id] for cell in summary.line(report) if cell.id in of]
    return [row for row in seen if row.verdict not in UNDECIDED]


def _of_stack(report: Report, row: StackRow) -> Iterator[ReportFinding]:
    """Yield a finding if a row's metadata allows releases that do not work with it."""
    held, advice = summary.held(row), summary.advice(row)
    cells = {cell.holds[row.along]: cell for cell in report.cells if cell.id in set(row.cells)}
    spans = [span.first if span.first == span.last else f"{span.first}–{span.last}" for span in row.ranges]
    evidence = tuple(
        Evidence(
            f"{row.along} {where}",
            part.declared_observed,
            part.detail,
            f"cells.html#{cells[part.first].id}" if part.first in cells else "",
        )
        for part, where in zip(row.ranges, spans, strict=True)
    )
    latent = [where for span, where in zip(row.ranges, spans, strict=True) if span.declared_observed == "latent"]
    if not latent:
        return
    text = f"With {held}, metadata allows {row.along} {', '.join(latent)}, which does not work."
    text += f" {advice}." if advice else ""
    name = f"finding-latent/{row.along}/" + "+".join(f"{key}-{value}" for key, value in row.holds.items())
    yield ReportFinding(name, "latent", f"{held}, by release of {row.along}", text, evidence)


def _evidence(row: Observation, *alike: Observation) -> Evidence:
    """Return an observation as evidence, with the cells of all equal observations."""
    told = f"{row.behaviour or row.reason}: {row.detail}"
    where = ", ".join(one.cell for one in (row, *alike))
    return Evidence(where, row.verdict, told, f"issues/{row.issue}.html#{row.case}@{row.cell}")
