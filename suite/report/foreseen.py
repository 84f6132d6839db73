"""A stack that nobody ran → what each case is expected to show in it, and how that is known. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from suite.judge.prediction import Name, Stopped, foresee, how, with_jaxlib
from suite.judge.rules import Run
from suite.judge.table import UNDECIDED, VERDICTS, Verdict
from suite.report.model import CellRow, Report


@dataclass(frozen=True)
class Foreseen:
    """What is expected of one case: its verdict, None where nobody knows, and in words what it shows and why."""

    issue: str
    case: str
    verdict: Verdict | None
    told: str


def foreseen(cell: CellRow, here: Report, published: Report) -> list[Foreseen]:
    """What the cases that `here` plans in `cell` are expected to show: row zero first, then the worst first.

    By the rules that `here` has, and the runs that are `published`. A version that neither the cell's id nor a lock
    tells is not known.
    """
    issues = {issue.id: issue for issue in (*published.issues, *here.issues)}
    cases = {(issue.id, case.id): case for issue in issues.values() for case in issue.cases}
    planned = {(each.issue, each.case) for each in here.observations if each.cell == cell.id}
    packages = {each.id: each.packages for each in published.cells}
    versions = with_jaxlib(cell.packages, packages.values())
    # A run may be of a part of the issues, and still row zero tells what does not import.
    row_zero = {issue.id for issue in issues.values() if issue.row_zero}
    asked = {name: case for name, case in cases.items() if name in planned or name[0] in row_zero}
    runs: dict[Name, list[Run]] = {}
    for each in published.observations:
        if (name := (each.issue, each.case)) in asked and each.verdict not in UNDECIDED:
            run = Run(each.cell, packages[each.cell], each.behaviour or each.verdict)
            runs.setdefault(name, []).append(run)
    made = []
    for name, known in foresee(asked, row_zero, versions, runs).items():
        if name not in planned:
            continue
        if isinstance(known, Stopped):
            broken = (f"{package} {versions.get(package, '')}".rstrip() for package in known.packages)
            why = f"{known.case} goes wrong" if known.case else f"{' and '.join(broken)} does not import"
            made.append(Foreseen(*name, "blocked", why))
            continue
        shown = cases[name].behaviours.get(known.behaviour or "", known.behaviour)
        verdict = next((each for each in VERDICTS if each == shown), None)
        why = how(known, versions)
        made.append(Foreseen(*name, verdict, f"{known.behaviour} ({why})" if known.behaviour else why))
    # What nobody knows stands after what is known to be bad.
    return sorted(made, key=lambda each: (each.issue not in row_zero, VERDICTS.index(each.verdict or "error")))
