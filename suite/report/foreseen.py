"""The expected behaviour of each case in a stack that was not run, and how it is known. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from suite.judge.prediction import Name, Stopped, foresee, how, with_jaxlib
from suite.judge.rules import Run
from suite.judge.table import UNDECIDED, VERDICTS, Verdict
from suite.report.model import CellRow, Report


@dataclass(frozen=True)
class Foreseen:
    """The expectation of one case: its verdict, None if unknown, and the behaviour with its reason in words."""

    issue: str
    case: str
    verdict: Verdict | None
    told: str


def foreseen(cell: CellRow, here: Report, published: Report) -> list[Foreseen]:
    """Return the expectations of the cases that `here` plans in `cell`: row zero first, then the worst first.

    They follow from the rules of `here` and the runs of `published`. A version is known only from the cell's id or
    its lock.
    """
    issues = {issue.id: issue for issue in (*published.issues, *here.issues)}
    cases = {(issue.id, case.id): case for issue in issues.values() for case in issue.cases}
    planned = {(row.issue, row.case) for row in here.observations if row.cell == cell.id}
    packages = {row.id: row.packages for row in published.cells}
    versions = with_jaxlib(cell.packages, packages.values())
    # Row zero says which packages do not import, even if only some issues are run.
    row_zero = {issue.id for issue in issues.values() if issue.row_zero}
    asked = {name: case for name, case in cases.items() if name in planned or name[0] in row_zero}
    runs: dict[Name, list[Run]] = {}
    for observation in published.observations:
        if (name := (observation.issue, observation.case)) in asked and observation.verdict not in UNDECIDED:
            run = Run(observation.cell, packages[observation.cell], observation.behaviour or observation.verdict)
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
        verdict = next((word for word in VERDICTS if word == shown), None)
        why = how(known, versions)
        made.append(Foreseen(*name, verdict, f"{known.behaviour} ({why})" if known.behaviour else why))
    # Unknown expectations come after bad ones.
    return sorted(made, key=lambda row: (row.issue not in row_zero, VERDICTS.index(row.verdict or "error")))
