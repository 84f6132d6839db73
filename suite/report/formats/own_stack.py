"""A stack in a terminal: what was seen in it, the worst first, with what to do about it."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from suite.judge.table import GLYPHS, PROPERTIES, VERDICTS
from suite.report.formats.markup import printable
from suite.report.model import CellRow, Observation, Report
from suite.report.summary import is_unexpected

_KNOWN_BY = ("jax", "equinox", "diffrax")
# What nobody has to do anything about is counted, and not listed; what blocks a case, row zero tells.
_QUIET = frozenset({"clear", "absent", "blocked", "not-run"})


def show(report: Report, cells: Iterable[CellRow], console: Console) -> None:
    """Print what `report` has of `cells`."""
    for cell in cells:
        seen = [each for each in report.observations if each.cell == cell.id]
        packages = ", ".join(f"{name} {cell.packages[name]}" for name in _KNOWN_BY if name in cell.packages)
        console.print()
        console.print(Text(cell.id, "bold"), Text(f"({packages}, Python {cell.python})"), soft_wrap=True)
        if cell.excluded_by:
            console.print(Text(f"  the packages' own metadata excludes it: {cell.excluded_by}"), soft_wrap=True)
        loud = [each for each in seen if each.verdict not in _QUIET or is_unexpected(each)]
        for each in sorted(loud, key=lambda each: VERDICTS.index(each.verdict)):
            console.print(_observation(report, each), soft_wrap=True)
        quiet = [each.verdict for each in seen if each not in loud]
        counts = ", ".join(f"{GLYPHS[each]} {quiet.count(each)} {each}" for each in VERDICTS if each in quiet)
        console.print(Text(f"  {counts or 'nothing else was planned'}", "dim"), soft_wrap=True)


def _observation(report: Report, each: Observation) -> Text:
    text = Text(f"  {GLYPHS[each.verdict]} {each.verdict}", PROPERTIES[each.verdict].colour)
    text.append(f" {each.issue}/{each.case}: {each.behaviour or each.reason}", "default")
    if each.detail:
        text.append(f"\n      {printable(' '.join(each.detail.split()))}", "default")
    if each.workaround == "holds":
        of = next(
            case for issue in report.issues if issue.id == each.issue for case in issue.cases if case.id == each.case
        )
        told = of.workaround.text if of.workaround else ""
        text.append(f"\n      what helps, run here: {printable(' '.join(told.split()))}", "green")
    elif each.workaround == "fails":
        text.append("\n      its workaround does not help here", "red")
    if is_unexpected(each):
        command = f"nox -s run -- {each.cell} --issue {each.issue} --fresh"
        text.append(f"\n      not as expected ({each.expected or 'nothing was expected'}): {command}", "yellow")
    return text
