"""A stack in the terminal: its observations, or its expectations if it was not run, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console
from rich.text import Text

from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.judge.prediction import AnyCase, Name, Stopped, foresee, how, with_jaxlib
from jax_stack_compat.judge.verdict_table import GLYPHS, PROPERTIES, VERDICTS, Verdict
from jax_stack_compat.packages import ASKED
from laboratory.report.markup import one_line
from laboratory.report.model import CellRow, Observation, Report
from laboratory.report.summary import is_unexpected, undecided_rows

# These need no action: they are counted, not listed. Row zero says what blocks a case, if it was run.
_ONLY_COUNTED = frozenset({"clear", "absent", "blocked", "not-run"})


@dataclass(frozen=True)
class Foreseen:
    """The expectation of one case: its verdict, None if unknown, and the behaviour with its reason in words."""

    issue: str
    case: str
    verdict: Verdict | None
    told: str


def show(report: Report, cells: Iterable[CellRow], console: Console, known: Knowledge | None = None) -> None:
    """Print the observations of `cells` in `report`; for a cell that was not run, the expectations."""
    unexplained = {id(row) for row in undecided_rows(report) if row.verdict == "blocked"}
    for cell in cells:
        seen = [row for row in report.observations if row.cell == cell.id]
        packages = ", ".join(f"{name} {cell.packages[name]}" for name in ASKED if name in cell.packages)
        console.print()
        console.print(Text(cell.id, "bold"), Text(f"({packages}, Python {cell.python})"), soft_wrap=True)
        if cell.excluded_by:
            console.print(Text(f"  excluded by the packages' metadata: {cell.excluded_by}"), soft_wrap=True)
        loud = [row for row in seen if row.verdict not in _ONLY_COUNTED or is_unexpected(row) or id(row) in unexplained]
        # If one cause kept many cases from running, list it once.
        of: dict[tuple[Verdict, str | None, str] | int, list[Observation]] = {}
        for row in sorted(loud, key=lambda row: VERDICTS.index(row.verdict)):
            of.setdefault(id(row) if row.attempts else (row.verdict, row.reason, row.detail), []).append(row)
        for alike in of.values():
            console.print(_observation(report, alike), soft_wrap=True)
        quiet = [row.verdict for row in seen if row not in loud]
        counts = ", ".join(f"{GLYPHS[each]} {quiet.count(each)} {each}" for each in VERDICTS if each in quiet)
        console.print(Text(f"  {counts or 'nothing else was planned'}", "dim"), soft_wrap=True)
        if known and seen and not any(row.attempts for row in seen):
            _expected(report, cell, known, console)


def _expected(report: Report, cell: CellRow, known: Knowledge, console: Console) -> None:
    """Print the expectations of a stack, row zero first; equal ones of an issue's cases together."""
    console.print("  not run here; expected:", soft_wrap=True)

    def alike(case: Foreseen) -> tuple[str, Verdict | None, str]:
        return case.issue if case.verdict != "blocked" else "", case.verdict, case.told

    for (issue, verdict, told), of in groupby(foreseen(cell, report, known), key=alike):
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
        wanted = first.expected or "the case has no rule for this stack"
        text.append(f"\n      not as expected ({wanted}): {command}", "yellow")
    return text


def foreseen(cell: CellRow, here: Report, known: Knowledge) -> list[Foreseen]:
    """Return the expectations of the cases that `here` plans in `cell`: row zero first, then the worst first.

    They follow from the rules of `here`, and from the published runs. A version is known only from the cell's id or
    its lock.
    """
    cases: dict[Name, AnyCase] = {**known.cases, **{(of.id, case.id): case for of in here.issues for case in of.cases}}
    planned = {(row.issue, row.case) for row in here.observations if row.cell == cell.id}
    versions = with_jaxlib(cell.packages, known.cells.values())
    # Row zero says which packages do not import, even if only some issues are run.
    row_zero = known.row_zero | {issue.id for issue in here.issues if issue.row_zero}
    asked = {name: case for name, case in cases.items() if name in planned or name[0] in row_zero}
    runs = {name: known.cases[name].runs for name in asked if name in known.cases}
    made = []
    for name, each in foresee(asked, row_zero, versions, runs).items():
        if name not in planned:
            continue
        if isinstance(each, Stopped):
            broken = (f"{package} {versions.get(package, '')}".rstrip() for package in each.packages)
            why = f"{each.case} goes wrong" if each.case else f"{' and '.join(broken)} does not import"
            made.append(Foreseen(*name, "blocked", why))
            continue
        shown = cases[name].behaviours.get(each.behaviour or "", each.behaviour)
        verdict = next((word for word in VERDICTS if word == shown), None)
        why = how(each, versions)
        made.append(Foreseen(*name, verdict, f"{each.behaviour} ({why})" if each.behaviour else why))
    # Unknown expectations come after bad ones.
    return sorted(made, key=lambda row: (row.issue not in row_zero, VERDICTS.index(row.verdict or "error")))
