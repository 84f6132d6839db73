"""The report in a terminal: a line per case, a glyph per cell, what wants a look, and the counts."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from suite.errors import Exit
from suite.judge.table import GLYPHS, PROPERTIES
from suite.report import summary
from suite.report.model import CaseRow, Observation, Report
from suite.report.summary import STACK_GLYPHS, is_unexpected

_MOST = 20
# A line of more cells than this has its glyphs under the words.
_SHORT = 24


def show(report: Report, console: Console) -> None:
    """Print the report."""
    if not report.cells:
        console.print("There are no records to report on: `nox -s compat` makes some.")
        return
    if summary.line(report):
        _line(report, console)
    _stacks(report, console)
    if odd := summary.unexpected(report):
        console.print(Text("\nNot as expected", "bold"))
    for each in odd[:_MOST]:
        console.print(_deviation(each), soft_wrap=True)
    if len(odd) > _MOST:
        console.print(f"  … and {len(odd) - _MOST} more, in COMPAT.md")
    if groups := summary.undecided(report):
        console.print(Text("\nNot decided", "bold"))
    for group in groups:
        told = f"  {GLYPHS[group.verdict]} {group.cell}: {group.cases} {group.verdict} [{group.reason}]"
        console.print(Text(told, PROPERTIES[group.verdict].colour), soft_wrap=True)
        console.print(Text(f"      {group.detail}"), soft_wrap=True)
    colour = {Exit.AS_EXPECTED: "green", Exit.INCOMPLETE: "yellow"}.get(summary.exit_code(report), "red")
    console.print(Text(f"\n{summary.last_line(report)}", style=f"bold {colour}"), soft_wrap=True)


def _line(report: Report, console: Console) -> None:
    """A line per case, a glyph per cell of the line; with a short line, the words beside the glyphs."""
    cells = summary.line(report)
    seen: dict[tuple[str, str], dict[str, Observation]] = {}
    for each in report.observations:
        seen.setdefault((each.issue, each.case), {})[each.cell] = each
    short = len(cells) <= _SHORT
    table = Table.grid(padding=(0, 2, 0, 0))
    if short:
        table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    console.print(f"{cells[0].id} to {cells[-1].id}" if len(cells) > 1 else cells[0].id)
    for issue in report.issues:
        heading = ("", Text(f"\n{issue.id}", style="bold"), "")
        table.add_row(*heading[0 if short else 1 :])
        for case in issue.cases:
            of_case = seen.get((issue.id, case.id), {})
            of_line = [of_case.get(cell.id) for cell in cells]
            strip = Text.assemble(*map(_glyph, of_line))
            told = _story(report, case, filter(None, of_line))
            for row in [(strip, f"  {case.id}", told)] if short else [(f"  {case.id}", told), ("", strip)]:
                table.add_row(*row)
    console.print(table)


def _glyph(each: Observation | None) -> Text:
    if each is None:
        return Text(" ")
    style = PROPERTIES[each.verdict].colour
    return Text(GLYPHS[each.verdict], f"{style} reverse" if is_unexpected(each) else style)


def _story(report: Report, case: CaseRow, seen: Iterable[Observation]) -> Text:
    text = Text()
    for package, told in summary.story(case, report.cells):
        text.append("; " if text else "")
        text.append(f"by {package}: " if package != "jax" else "")
        for number, each in enumerate(told):
            text.append(", " if number else "")
            text.append(each.behaviour, PROPERTIES[each.verdict].colour)
            text.append(f" {each.where}" if each.where else "")
    if words := summary.workaround(seen):
        text.append(f"; {words}", "red" if "fails" in words else "green")
    return text


def _stacks(report: Report, console: Console) -> None:
    """A line per row of an arm: where metadata and runs agree, and what would make them."""
    cells = {cell.id: cell.declared_observed for cell in report.cells}
    asked = ""
    for row in report.stacks:
        if row.question != asked:
            asked = row.question
            console.print(Text(f"\n{asked}", style="bold"))
        strip = "".join(STACK_GLYPHS[word] if (word := cells[each]) else "·" for each in row.cells)
        console.print(Text(f"  {strip}  {summary.held(row)}, along {row.along}: {summary.ranges(row)}"), soft_wrap=True)
        if told := summary.advice(row):
            console.print(Text(f"      {told}", "yellow"), soft_wrap=True)


def _deviation(each: Observation) -> Text:
    text = Text(
        f"  {GLYPHS[each.verdict]} {each.cell} {each.issue}/{each.case}: ", style=PROPERTIES[each.verdict].colour
    )
    text.append(f"{each.behaviour or each.verdict}", "bold")
    text.append(f", expected {each.expected}" if each.expected else ", nothing was expected", "default")
    text.append(f" [{each.reason}]" if each.reason else "", "dim")
    text.append(f"\n      {each.detail}" if each.detail else "", "default")
    text.append("" if each.workaround_expected else f"\n      its workaround {each.workaround}", "red")
    text.append(f"\n      {summary.replay(each)}", "dim")
    return text
