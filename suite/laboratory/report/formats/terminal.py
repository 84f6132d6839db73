"""The report in the terminal: unexpected observations, issues that affect the newest release, and counts.

For a hundred issues, this fits one screen. Options add a line per case and a glyph per cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.judge.verdict_table import GLYPHS, PROPERTIES, VERDICTS, Verdict
from laboratory.report import standing, summary
from laboratory.report.markup import clipped, one_line
from laboratory.report.model import CaseRow, Observation, Report
from laboratory.report.summary import PLANNED_REASONS, STACK_GLYPHS, is_unexpected

_LINES_SHOWN = 20
# A longer line of cells has its glyphs under the words.
_GLYPHS_BESIDE_WORDS = 24
# The widest column of issues, in characters.
_ISSUE_WIDTH = 70


def show(
    report: Report, console: Console, *, cases: bool = False, verbose: bool = False, most: int = _LINES_SHOWN
) -> None:
    """Print the report; with `cases`, each case along the line; with `verbose`, also stacks and every cause.

    `most` limits the lines on unexpected observations, and those on affected issues.
    """
    if not report.cells:
        console.print("There are no records to report on. Run `nox -s compat` first.")
        return
    if (cases or verbose) and summary.line(report):
        _line(report, console)
    if verbose:
        _stacks(report, console)
    if odd := summary.unexpected(report):
        console.print(Text("\nNot as expected", "bold"))
    for observation in odd[:most]:
        console.print(_deviation(observation), soft_wrap=True)
    if len(odd) > most:
        console.print(f"  … and {len(odd) - most} more, in COMPAT.md")
    if not (cases or verbose):
        _standings(report, console, most)
    if undecided := list(_undecided(report) if verbose else _reasons(report)):
        console.print(Text("\nUndecided", "bold"))
    for text in undecided:
        console.print(text, soft_wrap=True)
    colour = {Exit.AS_EXPECTED: "green", Exit.INCOMPLETE: "yellow"}.get(summary.exit_code(report), "red")
    console.print(Text(f"\n{summary.last_line(report)}", style=f"bold {colour}"), soft_wrap=True)


def _standings(report: Report, console: Console, most: int) -> None:
    """Print a line for each issue that affects the newest release, the worst first, and the number of the others."""
    columns, found = standing.columns(report), standing.standings(report)
    told = [(f"{each.issue.id}/{each.seen[0].case}: {each.shows}", each) for each in found if each.is_affected]
    heading = f"\nKnown issues on {standing.label(columns[-1])}"
    if len(columns) > 1:
        heading += f", the newest of {len(columns)} releases, and the first release with each"
    console.print(Text(heading, "bold"), soft_wrap=True)
    if told_on := summary.run_on(report):
        console.print(Text(f"  {told_on}", "dim"), soft_wrap=True)
    width = min(_ISSUE_WIDTH, max((len(words) for words, _ in told[:most]), default=0))
    for words, issue in told[:most]:
        text = Text(f"  {GLYPHS[issue.verdict]} ", PROPERTIES[issue.verdict].colour)
        text.append(f"{words.ljust(width)}  {issue.when}" if len(columns) > 1 else words, "default")
        console.print(text, soft_wrap=True)
    if len(told) > most:
        console.print(f"  … and {len(told) - most} more, in COMPAT.md")
    others = [standing.verdict for standing in found if standing.now and not standing.is_affected]
    counts = [f"{GLYPHS[verdict]} {others.count(verdict)} {verdict}" for verdict in VERDICTS if verdict in others]
    counts += [f"{unknown} not known"] if (unknown := sum(standing.now is None for standing in found)) else []
    rest = f"the other issues: {', '.join(counts)}" if counts else "no other issue"
    console.print(Text(f"  {rest}; `-- --verbose` shows each case", "dim"), soft_wrap=True)


def _reasons(report: Report) -> Iterator[Text]:
    """Yield a line for each reason why observations are undecided: their number, and the first one's detail."""
    groups: dict[tuple[Verdict, str], list[Observation]] = {}
    for observation in summary.undecided_rows(report):
        groups.setdefault((observation.verdict, observation.reason or ""), []).append(observation)
    for (verdict, reason), of in groups.items():
        cells = dict.fromkeys(row.cell for row in of)
        where = of[0].cell if len(cells) == 1 else f"{len(cells)} cells"
        cases = f"{of[0].issue}/{of[0].case}" if len(of) == 1 else f"{len(of)} cases"
        text = Text(f"  {GLYPHS[verdict]} {verdict} [{reason}]", PROPERTIES[verdict].colour)
        text.append(f" {where}, {cases}", "default")
        # The plan already knew this reason for many cells, so no action is needed.
        if reason not in PLANNED_REASONS or len(cells) == 1:
            such = ", such as" if len({row.detail for row in of}) > 1 else ""
            text.append(f"{such}: {clipped(one_line(of[0].detail))}", "default")
        yield text


def _undecided(report: Report) -> Iterator[Text]:
    for group in summary.undecided_causes(report):
        told = f"  {GLYPHS[group.verdict]} {group.cell}: {group.cases} {group.verdict} [{group.reason}]"
        yield Text(told, PROPERTIES[group.verdict].colour).append(f"\n      {group.detail}", "default")


def _line(report: Report, console: Console) -> None:
    """Print a line per case, with a glyph per cell of the line; long lines have the glyphs below the words."""
    cells, seen = summary.line(report), summary.by_case(report.observations)
    short = len(cells) <= _GLYPHS_BESIDE_WORDS
    table = Table.grid(padding=(0, 2, 0, 0))
    if short:
        table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    console.print(f"{cells[0].id} to {cells[-1].id}" if len(cells) > 1 else cells[0].id)
    if told_on := summary.run_on(report):
        console.print(told_on, soft_wrap=True)
    for issue in report.issues:
        heading = ("", Text(f"\n{issue.id}", style="bold"), "")
        table.add_row(*heading[0 if short else 1 :])
        for case in issue.cases:
            of_line = [seen[issue.id, case.id].get(cell.id) for cell in cells]
            strip = Text.assemble(*map(_glyph, of_line))
            told = _story(report, case, filter(None, of_line))
            for row in [(strip, f"  {case.id}", told)] if short else [(f"  {case.id}", told), ("", strip)]:
                table.add_row(*row)
    console.print(table)


def _glyph(observation: Observation | None) -> Text:
    if observation is None:
        return Text(" ")
    style = PROPERTIES[observation.verdict].colour
    return Text(GLYPHS[observation.verdict], f"{style} reverse" if is_unexpected(observation) else style)


def _story(report: Report, case: CaseRow, seen: Iterable[Observation]) -> Text:
    """Return a case's intervals in words, of jax and of each library that changed it, and its workaround."""
    text, sparse = Text(), bool(report.jax_line)
    is_one = len(case.intervals) == 1 and not sparse
    for package, intervals in groupby(case.intervals, key=lambda interval: interval.package):
        text.append("; " if text else "")
        text.append(f"by {package}: " if package != "jax" else "")
        for number, interval in enumerate(intervals):
            text.append(", " if number else "")
            text.append(interval.behaviour, PROPERTIES[interval.verdict].colour)
            text.append("" if is_one else f" {summary.span(interval, report.cells, sparse=sparse)}")
    if words := summary.workaround(seen):
        text.append(f"; {words}", "red" if "fails" in words else "green")
    return text


def _stacks(report: Report, console: Console) -> None:
    """Print a line per row of an arm: where metadata and runs agree, and which requirement would make them agree."""
    cells = {cell.id: cell.declared_observed for cell in report.cells}
    asked = ""
    for row in report.stacks:
        if row.question != asked:
            asked = row.question
            console.print(Text(f"\n{asked}", style="bold"))
        strip = "".join(STACK_GLYPHS[word] if (word := cells[cell]) else "·" for cell in row.cells)
        console.print(
            Text(f"  {strip}  {summary.held(row)}, by release of {row.along}: {summary.ranges(row)}"), soft_wrap=True
        )
        if told := summary.advice(row):
            console.print(Text(f"      {told}", "yellow"), soft_wrap=True)


def _deviation(observation: Observation) -> Text:
    text = Text(
        f"  {GLYPHS[observation.verdict]} {observation.cell} {observation.issue}/{observation.case}: ",
        style=PROPERTIES[observation.verdict].colour,
    )
    text.append(f"{observation.behaviour or observation.verdict}", "bold")
    wanted = f"expected {observation.expected}" if observation.expected else "no rule covers this stack"
    text.append(f", {wanted}", "default")
    text.append(f" [{observation.reason}]" if observation.reason else "", "dim")
    text.append(f"\n      {observation.detail}" if observation.detail else "", "default")
    text.append("" if observation.workaround_expected else f"\n      its workaround {observation.workaround}", "red")
    text.append(f"\n      {summary.replay(observation)}", "dim")
    return text
