"""A report → what its runs show and no upstream thread says, each with a text to paste upstream. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from packaging.version import Version

from suite.judge.table import GLYPHS, GOOD, UNDECIDED
from suite.report import summary
from suite.report.formats.markup import said
from suite.report.model import CaseRow, CellRow, IntervalRow, IssueRow, Observation, Report, StackRow

Sort = Literal["not-known", "came-back", "outlives-its-fix", "workaround-fails", "latent", "over-tight"]

SORTS: Mapping[Sort, str] = {
    "not-known": "Seen, and not known",
    "came-back": "Well, then affected again",
    "outlives-its-fix": "Still there after the fix",
    "workaround-fails": "The workaround does not hold",
    "latent": "Allowed, and does not work",
    "over-tight": "Excluded, and works",
}


_GLYPHS: Mapping[str, str] = {str(verdict): glyph for verdict, glyph in GLYPHS.items()}


@dataclass(frozen=True)
class Evidence:
    """One thing that was seen: where, how it was judged, and in which words. `target` is an id on the page."""

    where: str
    verdict: str
    told: str
    target: str


@dataclass(frozen=True)
class Finding:
    """What the runs show: in a sentence, with the evidence, and as a text for an upstream tracker."""

    id: str
    sort: Sort
    title: str
    text: str
    evidence: tuple[Evidence, ...]
    report: str


def findings(report: Report) -> list[Finding]:
    """Everything that follows from `report` alone and is worth telling upstream, by sort."""
    found = [*_not_known(report)]
    for issue in report.issues:
        for case in issue.cases:
            found += came_back(report, issue, case)
        found += outlives_its_fix(report, issue)
    found += _failing(report)
    found += [each for row in report.stacks for each in of_stack(report, row)]
    order = list(SORTS)
    return sorted(found, key=lambda each: order.index(each.sort))


def came_back(report: Report, issue: IssueRow, case: CaseRow) -> list[Finding]:
    """A symptom that a package had, lost and has again, where each time it began by that package."""
    found = []
    for package, behaviour in dict.fromkeys((each.package, each.behaviour) for each in case.intervals):
        of = [each for each in case.intervals if each.package == package]
        bad = [each for each in of if each.behaviour == behaviour and each.verdict == "affected"]
        # What came with another package's release is not this one's to mend.
        if len(bad) < 2 or any(each.came_with for each in bad):
            continue
        told = [summary.span(each, report.cells) for each in bad]
        text = (
            f"“{behaviour}” on {package} {told[0]}, and, after releases that do not show it, again on "
            f"{', '.join(told[1:])}."
        )
        evidence = tuple(_interval(report, issue, case, each) for each in of)
        body = _body(report, issue, case, text, evidence, _first_cell(report, bad[-1]))
        name = f"finding-came-back/{issue.id}/{case.id}/{package}"
        found.append(Finding(name, "came-back", f"{issue.id}/{case.id}", text, evidence, body))
    return found


def outlives_its_fix(report: Report, issue: IssueRow) -> list[Finding]:
    """Cases that show on the newest stack of the line what the headline showed once, and shows there no longer."""
    if issue.kind == "by-design" or not issue.cases:
        return []
    headline, *others = issue.cases
    now, before = _newest(report, issue, headline)
    if now is None or now.verdict not in GOOD:
        return []
    gone = {each.behaviour for each in before if each.verdict == "affected"}
    still = []
    for case in others:
        newest, _ = _newest(report, issue, case)
        if newest is not None and newest.verdict == "affected" and newest.behaviour in gone:
            still.append((case, newest))
    if not still:
        return []
    fixes = ", ".join(each.ref for each in issue.upstream if each.role == "fix" and each.state == "merged")
    named = ", ".join(f"{case.id} ({each.behaviour})" for case, each in still)
    text = f"On {now.cell} {headline.id} no longer shows the symptom, and these cases still do: {named}."
    text += f" Merged upstream: {fixes}." if fixes else ""
    evidence = tuple(_evidence(each) for each in (now, *(each for _, each in still)))
    body = _body(report, issue, still[0][0], text, evidence, still[0][1].cell)
    return [Finding(f"finding-outlives-its-fix/{issue.id}", "outlives-its-fix", issue.id, text, evidence, body)]


def _newest(report: Report, issue: IssueRow, case: CaseRow) -> tuple[Observation | None, list[Observation]]:
    """What a case shows on the newest stack of the line in which it was decided, and on those before it."""
    of = {each.cell: each for each in _of(report, issue, case) if each.verdict not in UNDECIDED}
    known = [of[cell.id] for cell in summary.line(report) if cell.id in of]
    return (known[-1], known[:-1]) if known else (None, [])


def of_stack(report: Report, row: StackRow) -> list[Finding]:
    """Releases that a row's metadata allows and that do not work with it, and those it excludes and that do."""
    found = []
    held, advice = summary.held(row), summary.advice(row)
    for sort, says in (("latent", "allows, and it does not work"), ("over-tight", "excludes, and it works")):
        of = [each for each in row.ranges if each.declared_observed == sort]
        if not of:
            continue
        where = ", ".join(each.first if each.first == each.last else f"{each.first}–{each.last}" for each in of)
        text = f"With {held}, metadata {says}: {row.along} {where}." + (f" {advice}." if advice else "")
        cells = {cell.holds[row.along]: cell for cell in report.cells if cell.id in set(row.cells)}
        evidence = tuple(
            Evidence(
                f"{row.along} {each.first}" + (f"–{each.last}" if each.last != each.first else ""),
                each.declared_observed,
                each.detail,
                f"cell-{cells[each.first].id}" if each.first in cells else "",
            )
            for each in row.ranges
        )
        first = cells.get(of[0].first)
        body = "\n".join(
            [
                text,
                "",
                f"| {row.along} | metadata against runs | seen on the first of them |",
                "|---|---|---|",
                *(f"| {each.where} | {each.verdict} | {_row_text(each.told)} |" for each in evidence),
                "",
                *(_environment(report, first) if first else []),
            ]
        )
        name = f"finding-{sort}/{row.along}/" + "+".join(f"{key}-{value}" for key, value in row.holds.items())
        title = f"{held}, along {row.along}"
        found.append(Finding(name, "latent" if sort == "latent" else "over-tight", title, text, evidence, body))
    return found


def _not_known(report: Report) -> list[Finding]:
    odd = [each for each in report.observations if each.agreement not in ("as-expected", "spurious")]
    found = []
    for number, (issue, case, of) in enumerate(_grouped(report, odd)):
        seen = of[0]
        text = (
            f"{seen.expected or 'Nothing'} is documented, and {seen.behaviour or 'something else'} was seen "
            f"({seen.verdict}), on {_cells(of)}."
        )
        evidence = (_evidence(*of),)
        body = _body(report, issue, case, text, evidence, seen.cell)
        name = f"finding-not-known/{number}/{issue.id}/{case.id}"
        found.append(Finding(name, "not-known", f"{issue.id}/{case.id}", text, evidence, body))
    return found


def _failing(report: Report) -> list[Finding]:
    failing = [each for each in report.observations if each.workaround == "fails"]
    found = []
    for number, (issue, case, of) in enumerate(_grouped(report, failing)):
        known = "" if of[0].workaround_expected is False else " It is known to fail there."
        text = f"“{issue.workaround}” does not help on {_cells(of)}.{known}"
        evidence = (_evidence(*of),)
        body = _body(report, issue, case, text, evidence, of[0].cell)
        name = f"finding-workaround-fails/{number}/{issue.id}/{case.id}"
        found.append(Finding(name, "workaround-fails", f"{issue.id}/{case.id}", text, evidence, body))
    return found


def _grouped(report: Report, observations: Iterable[Observation]) -> list[tuple[IssueRow, CaseRow, list[Observation]]]:
    """Observations that say the same of the same case, together."""
    cases = {(issue.id, case.id): (issue, case) for issue in report.issues for case in issue.cases}
    groups: dict[tuple[str, str, str | None, str, str], list[Observation]] = {}
    for each in observations:
        groups.setdefault((each.issue, each.case, each.behaviour, each.verdict, each.detail), []).append(each)
    return [(*cases[key[0], key[1]], of) for key, of in groups.items() if key[:2] in cases]


def _of(report: Report, issue: IssueRow, case: CaseRow) -> list[Observation]:
    return [each for each in report.observations if (each.issue, each.case) == (issue.id, case.id)]


def _cells(of: Sequence[Observation]) -> str:
    return of[0].cell if len(of) == 1 else f"{len(of)} stacks"


def _evidence(each: Observation, *alike: Observation) -> Evidence:
    """What was seen, and everywhere where it was."""
    told = f"{each.behaviour or each.reason}: {each.detail}"
    where = ", ".join(one.cell for one in (each, *alike))
    return Evidence(where, each.verdict, told, f"{each.issue}/{each.case}")


def _interval(report: Report, issue: IssueRow, case: CaseRow, each: IntervalRow) -> Evidence:
    where = f"{each.package} {summary.span(each, report.cells)}"
    return Evidence(where, each.verdict, each.behaviour, f"{issue.id}/{case.id}")


def _first_cell(report: Report, interval: IntervalRow) -> str:
    return next(
        (
            cell.id
            for cell in report.cells
            if cell.kind == "line"
            and cell.moves == interval.package
            and Version(cell.holds[interval.package]) == Version(interval.first)
        ),
        "",
    )


def _body(report: Report, issue: IssueRow, case: CaseRow, text: str, evidence: Sequence[Evidence], cell_id: str) -> str:
    """A report as a tracker takes it: the claim, the evidence, how to see it, and on what."""
    cell = next((each for each in report.cells if each.id == cell_id), None)
    threads = ", ".join(each.ref for each in issue.upstream)
    return "\n".join(
        [
            f"{case.question} {text}",
            "",
            "| where | seen | |",
            "|---|---|---|",
            *(
                f"| {each.where} | {_GLYPHS[each.verdict]} {each.verdict} | {_row_text(each.told)} |"
                for each in evidence
            ),
            "",
            *(["```python", case.source.rstrip(), "```", ""] if case.source else []),
            f"Workaround: {issue.workaround}",
            "",
            *(_environment(report, cell, issue) if cell else []),
            f"Related: {threads}",
        ]
    )


def _environment(report: Report, cell: CellRow, issue: IssueRow | None = None) -> list[str]:
    pins = " ".join(f"{name}=={version}" for name, version in cell.packages.items())
    where = f"{report.platform.system} {report.platform.machine}, {report.platform.device}"
    replay = summary.REPLAY.format(cell=cell.id, issue=issue.id if issue else _row_zero(report))
    return [f"Seen with CPython {cell.python} on {where}: {pins}", "", f"    {replay}", ""]


def _row_zero(report: Report) -> str:
    return next((issue.id for issue in report.issues if issue.row_zero), report.issues[0].id)


def _row_text(text: str) -> str:
    """Text in a row of a Markdown table."""
    return said(" ".join(text[:300].split())).replace("|", "\\|")
