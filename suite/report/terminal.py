"""The report in a terminal: a line per case, a glyph per cell, what wants a look, and the counts."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from suite.judge import GLYPHS, Verdict
from suite.report.model import CaseRow, Observation, Report
from suite.report.summary import Exit, exit_code, last_line, replay, span, undecided, unexpected, workaround

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
_MOST = 20


def show(report: Report, console: Console) -> None:
    """Print the report."""
    if not report.cells:
        console.print("There are no records to report on: `nox -s compat` makes some.")
        return
    console.print(_table(report))
    odd = unexpected(report)
    if odd:
        console.print("\n[bold]Not as expected[/bold]")
    for each in odd[:_MOST]:
        console.print(_deviation(each), soft_wrap=True)
    if len(odd) > _MOST:
        console.print(f"  … and {len(odd) - _MOST} more, in COMPAT.md")
    groups = undecided(report)
    if groups:
        console.print("\n[bold]Not decided[/bold]")
    for group in groups:
        line = f"  {GLYPHS[group.verdict]} {group.cell}: {group.cases} {group.verdict} [{group.reason}]"
        console.print(Text(line, COLOURS.get(group.verdict, "bold magenta")), soft_wrap=True)
        console.print(Text(f"      {group.detail}"), soft_wrap=True)
    colour = {Exit.AS_EXPECTED: "green", Exit.INCOMPLETE: "yellow"}.get(exit_code(report), "red")
    console.print()
    console.print(Text(last_line(report), style=f"bold {colour}"), soft_wrap=True)


def _table(report: Report) -> Table:
    versions = [cell.packages["jax"] for cell in report.cells]
    table = Table.grid(padding=(0, 2, 0, 0))
    table.title = Text(f"jax {versions[0]} to {versions[-1]}" if len(versions) > 1 else f"jax {versions[0]}")
    table.title_justify = "left"
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for issue in report.issues:
        table.add_row()
        table.add_row("", Text(issue.id, style="bold"), "")
        for case in issue.cases:
            seen = [each for each in report.observations if (each.issue, each.case) == (issue.id, case.id)]
            table.add_row(_strip(report, seen), f"  {case.id}", _story(report, case, seen))
    return table


def _strip(report: Report, seen: list[Observation]) -> Text:
    strip, odd = Text(), unexpected(report)
    for each in seen:
        style = COLOURS.get(each.verdict, "bold magenta")
        strip.append(GLYPHS[each.verdict], f"{style} reverse" if each in odd else style)
    return strip


def _story(report: Report, case: CaseRow, seen: list[Observation]) -> Text:
    story = Text()
    for number, interval in enumerate(case.intervals):
        story.append(", " if number else "")
        story.append(interval.behaviour, COLOURS.get(interval.verdict, "magenta"))
        if len(case.intervals) > 1:
            story.append(f" {span(interval, report.cells)}")
    if told := workaround(seen):
        story.append(f"; {told}", "red" if "fails" in told else "green")
    return story


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
