"""The report in a terminal: a line per case, a glyph per cell, what wants a look, and the counts."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from suite.judge import GLYPHS, Verdict
from suite.report.model import CaseRow, IssueRow, Observation, Report
from suite.report.summary import Exit, exit_code, last_line, replay, span, undecided, unexpected

COLOURS: dict[Verdict, str] = {
    "clear": "green",
    "affected": "red",
    "guarded": "yellow",
    "absent": "dim",
    "not-run": "dim",
    "unavailable": "dim",
    "conflict": "dim",
    "flaky": "magenta",
}
_MOST_DEVIATIONS = 20


def show(report: Report, console: Console) -> None:
    """Print the report."""
    if not report.cells:
        console.print("There are no records to report on: `nox -s compat` makes some.")
        return
    console.print(_table(report))
    for title, listed in (("Not as expected", unexpected(report)), ("Not decided", undecided(report))):
        if listed:
            console.print(f"\n[bold]{title}[/bold]")
        for each in listed[:_MOST_DEVIATIONS]:
            console.print(_deviation(each))
        if len(listed) > _MOST_DEVIATIONS:
            console.print(f"  … and {len(listed) - _MOST_DEVIATIONS} more, in reports/latest/COMPAT.md")
    colour = {Exit.AS_EXPECTED: "green", Exit.INCOMPLETE: "yellow"}.get(exit_code(report), "red")
    console.print()
    console.print(Text(last_line(report), style=f"bold {colour}"), soft_wrap=True)


def _table(report: Report) -> Table:
    versions = [cell.packages["jax"] for cell in report.cells]
    header = versions[0] if len(versions) == 1 else f"{versions[0]} … {versions[-1]}"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("issue / case", no_wrap=True)
    table.add_column(f"jax {header}", no_wrap=True)
    table.add_column("what was seen, by jax release")
    table.add_column("workaround", no_wrap=True)
    for issue in report.issues:
        table.add_row(Text(issue.id, style="bold"))
        for case in issue.cases:
            table.add_row(
                f"  {case.id}", _strip(report, issue, case), _story(report, case), _workaround(report, issue, case)
            )
    return table


def _observations(report: Report, issue: IssueRow, case: CaseRow) -> list[Observation]:
    return [each for each in report.observations if (each.issue, each.case) == (issue.id, case.id)]


def _strip(report: Report, issue: IssueRow, case: CaseRow) -> Text:
    strip = Text()
    for each in _observations(report, issue, case):
        style = COLOURS.get(each.verdict, "bold magenta")
        strip.append(GLYPHS[each.verdict], f"{style} reverse" if each in unexpected(report) else style)
    return strip


def _story(report: Report, case: CaseRow) -> Text:
    story = Text()
    for number, interval in enumerate(case.intervals):
        story.append("; " if number else "")
        story.append(f"{GLYPHS[interval.verdict]} {interval.behaviour}", COLOURS.get(interval.verdict, "magenta"))
        if len(case.intervals) > 1 or len(report.cells) == 1:
            story.append(f" {span(interval, report.cells)}")
    return story


def _workaround(report: Report, issue: IssueRow, case: CaseRow) -> Text:
    seen = {each.workaround for each in _observations(report, issue, case)}
    worst = next((name for name in ("fails", "holds", "not-needed") if name in seen), "")
    return Text(worst.replace("-", " "), style="red" if worst == "fails" else "")


def _deviation(each: Observation) -> Text:
    text = Text(
        f"  {GLYPHS[each.verdict]} {each.cell} {each.issue}/{each.case}: ", style=COLOURS.get(each.verdict, "magenta")
    )
    text.append(f"{each.behaviour or each.verdict}", "bold")
    text.append(f", expected {each.expected}" if each.expected else ", nothing was expected", "default")
    text.append(f" [{each.reason}]" if each.reason else "", "dim")
    text.append(f"\n      {each.detail}" if each.detail else "", "default")
    text.append("\n      its workaround fails" if each.workaround == "fails" else "", "red")
    text.append(f"\n      {replay(each)}", "dim")
    return text
