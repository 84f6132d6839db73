"""A stack that nobody ran → what each case is expected to show in it, and how that is known. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from suite.judge.prediction import Prediction, blocks, predict
from suite.judge.rules import Pins, Run, requirements
from suite.judge.table import UNDECIDED, VERDICTS, Verdict
from suite.report.model import CellRow, Report
from suite.report.shard_faults import named


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
    versions = _with_jaxlib(cell.packages, published)
    packages = {each.id: each.packages for each in published.cells}
    runs: dict[tuple[str, str], list[Run]] = {}
    for each in published.observations:
        if each.verdict not in UNDECIDED:
            run = Run(each.cell, packages[each.cell], each.behaviour or each.verdict)
            runs.setdefault((each.issue, each.case), []).append(run)
    # A run may be of a part of the issues, and still row zero tells what does not import.
    found = {
        name: predict(case, versions, runs.get(name, ()))
        for name, case in cases.items()
        if name in planned or issues[name[0]].row_zero
    }
    stops = [each for name, each in found.items() if issues[name[0]].row_zero and each.behaviour == "import-error"]
    made = []
    for issue, case in (name for name in found if name in planned):
        known, table = found[issue, case], cases[issue, case]
        stop = next((each for each in stops if not issues[issue].row_zero and blocks(each, table)), None)
        if stop is not None:
            broken = (f"{name} {versions.get(name, '')}".rstrip() for name in sorted(_names(stop) - {"jax", "jaxlib"}))
            made.append(Foreseen(issue, case, "blocked", f"{' and '.join(broken)} does not import"))
            continue
        shown = table.behaviours.get(known.behaviour or "", known.behaviour)
        verdict = next((each for each in VERDICTS if each == shown), None)
        how = _how(known, versions)
        made.append(Foreseen(issue, case, verdict, f"{known.behaviour} ({how})" if known.behaviour else how))
    # What nobody knows stands after what is known to be bad.
    return sorted(made, key=lambda each: (not issues[each.issue].row_zero, VERDICTS.index(each.verdict or "error")))


def _how(known: Prediction, versions: Pins) -> str:
    """How a prediction is known, for people; where it is unknown, what stands in its way."""
    runs = named([each.cell for each in known.runs])
    evidence = "".join(f": {each.evidence}" for each in known.rules if len(known.rules) == 1 and each.evidence)
    match known.how:
        case "run":
            return f"run as {runs}"
        case "by rule":
            return f"by rule{evidence}" + (f"; nearest: {runs}" if runs else "")
        case "between":
            return f"between {runs}"
    if missing := sorted(_names(known) - versions.keys()):
        return f"it depends on {', '.join(missing)}"
    return f"{runs} contradicts the rule that it is under" if runs else "no rule and no neighbours tell"


def _names(known: Prediction) -> set[str]:
    """The packages that the rules of a prediction name."""
    return {requirement.name for rule in known.rules for requirement in requirements(rule.on)}


def _with_jaxlib(versions: Pins, published: Report) -> Pins:
    """A jaxlib goes with its jax, where all stacks with that jax have the same."""
    of = [each.packages for each in published.cells if each.packages.get("jax") == versions.get("jax", "")]
    found = {each["jaxlib"] for each in of if "jaxlib" in each}
    return {"jaxlib": found.pop(), **versions} if len(found) == 1 else versions
