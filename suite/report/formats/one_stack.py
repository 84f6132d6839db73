"""A stack in the terminal: its observations, or its expectations if it was not run, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from suite.judge.table import GLYPHS, PROPERTIES, VERDICTS, Verdict
from suite.report.foreseen import Foreseen, foreseen
from suite.report.markup import one_line
from suite.report.model import CellRow, Observation, Report
from suite.report.summary import is_unexpected

_NAMED_PACKAGES = ("jax", "equinox", "diffrax")
# These need no action: they are counted, not listed. Row zero says what blocks a case.
_ONLY_COUNTED = frozenset({"clear", "absent", "blocked", "not-run"})


def show(report: Report, cells: Iterable[CellRow], console: Console, published: Report | None = None) -> None:
    """Print the observations of `cells` in `report`; for one that was not run, the expectations from `published`."""
    for cell in cells:
        seen = [row for row in report.observations if row.cell == cell.id]
        packages = ", ".join(f"{name} {cell.packages[name]}" for name in _NAMED_PACKAGES if name in cell.packages)
        console.print()
        console.print(Text(cell.id, "bold"), Text(f"({packages}, Python {cell.python})"), soft_wrap=True)
        if cell.excluded_by:
            console.print(Text(f"  excluded by the packages' metadata: {cell.excluded_by}"), soft_wrap=True)
        loud = [row for row in seen if row.verdict not in _ONLY_COUNTED or is_unexpected(row)]
        # List a cause once that kept many cases from running.
        of: dict[tuple[Verdict, str | None, str] | int, list[Observation]] = {}
        for row in sorted(loud, key=lambda row: VERDICTS.index(row.verdict)):
            of.setdefault(id(row) if row.attempts else (row.verdict, row.reason, row.detail), []).append(row)
        for alike in of.values():
            console.print(_observation(report, alike), soft_wrap=True)
        quiet = [row.verdict for row in seen if row not in loud]
        counts = ", ".join(f"{GLYPHS[each]} {quiet.count(each)} {each}" for each in VERDICTS if each in quiet)
        console.print(Text(f"  {counts or 'nothing else was planned'}", "dim"), soft_wrap=True)
        if published and seen and not any(row.attempts for row in seen):
            _expected(report, cell, published, console)


def _expected(report: Report, cell: CellRow, published: Report, console: Console) -> None:
    """Print the expectations of a stack, row zero first; equal ones of an issue's cases together."""
    console.print("  not run here; expected:", soft_wrap=True)

    def alike(case: Foreseen) -> tuple[str, Verdict | None, str]:
        return case.issue if case.verdict != "blocked" else "", case.verdict, case.told

    for (issue, verdict, told), of in groupby(foreseen(cell, report, published), key=alike):
        cases = [expectation.case for expectation in of]
        name = f"{issue}/{', '.join(cases)}" if issue else f"{len(cases)} case{'s' * (len(cases) != 1)}"
        mark, colour = (GLYPHS[verdict], PROPERTIES[verdict].colour) if verdict else ("?", "dim")
        text = Text(f"  {mark} {verdict or 'unknown'}", colour).append(f" {name}: {one_line(told)}", "default")
        console.print(text, soft_wrap=True)


def _observation(report: Report, alike: Sequence[Observation]) -> Text:
    first = alike[0]
    text = Text(f"  {GLYPHS[first.verdict]} {first.verdict}", PROPERTIES[first.verdict].colour)
    name = f"{first.issue}/{first.case}" if len(alike) == 1 else f"{len(alike)} cases"
    text.append(f" {name}: {first.behaviour or first.reason}", "default")
    if first.detail:
        text.append(f"\n      {one_line(first.detail)}", "default")
    if first.workaround == "holds":
        of = next(
            case for issue in report.issues if issue.id == first.issue for case in issue.cases if case.id == first.case
        )
        told = of.workaround.text if of.workaround else ""
        text.append(f"\n      workaround, tested here: {one_line(told)}", "green")
    elif first.workaround == "fails":
        text.append("\n      workaround fails here", "red")
    if is_unexpected(first):
        command = f"nox -s run -- {first.cell} --issue {first.issue} --fresh"
        text.append(f"\n      not as expected ({first.expected or 'nothing was expected'}): {command}", "yellow")
    return text
