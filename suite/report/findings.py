"""The findings that follow from a report's runs alone. Pure functions.

None of them says whether upstream knows; that was not looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from suite.judge.table import GOOD, UNDECIDED
from suite.report import summary
from suite.report.model import CaseRow, IssueRow, Observation, Report, StackRow

Sort = Literal["not-known", "came-back", "outlives-its-fix", "workaround-fails", "latent"]

SORTS: Mapping[Sort, str] = {
    "not-known": "Observed, but not expected",
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
    odd = [each for each in report.seen_here if each.agreement not in ("as-expected", "spurious")]
    failing = [each for each in report.seen_here if each.workaround == "fails"]
    found = [*_alike(report, "not-known", odd), *_alike(report, "workaround-fails", failing)]
    seen = summary.by_case(report.observations)
    for issue in report.issues:
        for case in issue.cases:
            found += _came_back(report, issue, case)
        decided = {case.id: _decided(report, seen[issue.id, case.id]) for case in issue.cases}
        found += _outlives_its_fix(report, issue, decided)
    found += [each for row in report.stacks for each in _of_stack(report, row)]
    order = list(SORTS)
    return sorted(found, key=lambda each: order.index(each.sort))


def _alike(report: Report, sort: Sort, observations: Iterable[Observation]) -> Iterator[ReportFinding]:
    """Yield a finding for each group of equal observations of one case."""
    cases = {(issue.id, case.id): (issue, case) for issue in report.issues for case in issue.cases}
    groups: dict[tuple[str, str, str | None, str, str], list[Observation]] = {}
    for row in observations:
        if (row.issue, row.case) in cases:
            groups.setdefault((row.issue, row.case, row.behaviour, row.verdict, row.detail), []).append(row)
    for number, of in enumerate(groups.values()):
        seen, where = of[0], of[0].cell if len(of) == 1 else f"{len(of)} stacks"
        issue, case = cases[seen.issue, seen.case]
        if sort == "not-known":
            text = (
                f"{seen.expected or 'Nothing'} is documented, but {seen.behaviour or 'something else'} was observed "
                f"({seen.verdict}), on {where}."
            )
        else:
            known = " It is known to fail there." if seen.workaround_expected else ""
            text = f"“{_instead(issue, case)}” fails on {where}.{known}"
        key = f"{number}/{issue.id}/{case.id}"
        yield ReportFinding(f"finding-{sort}/{key}", sort, f"{issue.id}/{case.id}", text, (_evidence(*of),))


def _came_back(report: Report, issue: IssueRow, case: CaseRow) -> Iterator[ReportFinding]:
    """Yield the symptoms that came back, if each start is put down to the same package."""
    for package, behaviour in dict.fromkeys((each.package, each.behaviour) for each in case.intervals):
        of = [
            (row, summary.span(row, report.cells, sparse=bool(report.jax_line)))
            for row in case.intervals
            if row.package == package
        ]
        bad = [(each, where) for each, where in of if (each.behaviour, each.verdict) == (behaviour, "affected")]
        # A change that came with another package may not be this package's fault.
        if len(bad) < 2 or any(each.came_with for each, _ in bad):
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
    now, gone = seen[-1], {each.behaviour for each in seen if each.verdict == "affected"}
    newest = [(case, of[-1]) for case in others if (of := decided[case.id])]
    still = [(case, each) for case, each in newest if each.verdict == "affected" and each.behaviour in gone]
    if not still:
        return
    fixes = ", ".join(each.ref for each in issue.upstream if each.role == "fix" and each.state == "merged")
    named = ", ".join(f"{case.id} ({each.behaviour})" for case, each in still)
    text = f"On {now.cell}, {headline.id} no longer shows the symptom, but these cases do: {named}."
    text += f" Merged upstream: {fixes}." if fixes else ""
    evidence = tuple(map(_evidence, (now, *(each for _, each in still))))
    yield ReportFinding(f"finding-outlives-its-fix/{issue.id}", "outlives-its-fix", issue.id, text, evidence)


def _decided(report: Report, of: Mapping[str, Observation]) -> list[Observation]:
    """Return a case's decided observations on the line, by date."""
    seen = [of[cell.id] for cell in summary.line(report) if cell.id in of]
    return [each for each in seen if each.verdict not in UNDECIDED]


def _of_stack(report: Report, row: StackRow) -> Iterator[ReportFinding]:
    """Yield a finding if a row's metadata allows releases that do not work with it."""
    held, advice = summary.held(row), summary.advice(row)
    cells = {cell.holds[row.along]: cell for cell in report.cells if cell.id in set(row.cells)}
    spans = [each.first if each.first == each.last else f"{each.first}–{each.last}" for each in row.ranges]
    evidence = tuple(
        Evidence(
            f"{row.along} {where}",
            part.declared_observed,
            part.detail,
            f"cells.html#{cells[part.first].id}" if part.first in cells else "",
        )
        for part, where in zip(row.ranges, spans, strict=True)
    )
    latent = [where for each, where in zip(row.ranges, spans, strict=True) if each.declared_observed == "latent"]
    if not latent:
        return
    text = f"With {held}, metadata allows {row.along} {', '.join(latent)}, which does not work."
    text += f" {advice}." if advice else ""
    name = f"finding-latent/{row.along}/" + "+".join(f"{key}-{value}" for key, value in row.holds.items())
    yield ReportFinding(name, "latent", f"{held}, by release of {row.along}", text, evidence)


def _evidence(row: Observation, *alike: Observation) -> Evidence:
    """Return an observation as evidence, with the cells of all that are like it."""
    told = f"{row.behaviour or row.reason}: {row.detail}"
    where = ", ".join(one.cell for one in (row, *alike))
    return Evidence(where, row.verdict, told, f"issues/{row.issue}.html#{row.case}@{row.cell}")


def _instead(issue: IssueRow, case: CaseRow) -> str:
    """Return a case's workaround or, without one, those of the issue's other cases."""
    return case.workaround.text if case.workaround else issue.workaround
