"""issues/<id>.html: what an issue is, what to do instead, when it turned, and what was seen in every stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from suite.check.explain import SYMPTOMS
from suite.judge.attribution import Grounds
from suite.judge.table import UNDECIDED, VERDICTS, Verdict
from suite.programs.case_rows import Device, of_issue
from suite.report import summary
from suite.report.model import CaseRow, IssueRow, Observation, SignatureRow, TurnRow
from suite.report.site.facts import Facts, Run
from suite.report.site.page import Page
from suite.report.site.table import Grid, Stretch, grids, kind_of, stretches
from suite.report.site.timeline import Axis, is_mended, ticks, timeline, verified
from suite.report.standing import Now, Standing, now
from suite.stack.releases import guests

# So many issues that concern the same functions are named.
_RELATED = 5

# What a turn is put down to rests on this.
GROUNDS: Mapping[Grounds, str] = {
    "run": "the runs show it",
    "rule": "the rules say so",
    "together": "what of it is to blame is not known",
}


@dataclass(frozen=True)
class Turn:
    """Neighbours on the line in which a case shows different behaviours, and what was seen in both."""

    row: TurnRow
    before: Observation
    after: Observation


@dataclass(frozen=True)
class Alike:
    """Stacks beside the line in which the very same was seen, in the rows that they are of: (label, cell) each."""

    rows: dict[str, list[tuple[str, str]]]
    seen: Observation

    @property
    def count(self) -> int:
        """How many stacks."""
        return sum(map(len, self.rows.values()))


@dataclass(frozen=True)
class CaseView:
    """A case, drawn and told."""

    row: CaseRow
    now: Now | None
    runs: list[Run]
    axes: list[Axis]
    turns: list[Turn]
    line: list[Stretch]
    elsewhere: list[Alike]


@dataclass(frozen=True)
class Instead:
    """What to do instead, and where that was verified: the same of some cases together."""

    text: str
    cases: dict[str, list[str]]


@dataclass(frozen=True)
class View:
    """What a page of an issue shows.

    `without` are cases that bite somewhere, and for which nothing is known to do. `nowhere_right`: on no release of the
    line are all cases well; `never_right` are the cases that are well on none. `related` are issues with what of the
    stack they concern both. `grids` are the stacks that hold the guests that its cases need.
    `devices`: what programs show that were compiled for devices, and not run.
    """

    issue: IssueRow
    of: Standing
    ticks: list[tuple[float, str, bool]]
    cases: list[CaseView]
    instead: list[Instead]
    without: list[str]
    nowhere_right: bool
    never_right: list[str]
    signatures: list[tuple[SignatureRow, list[str]]]
    odd: list[Observation]
    related: list[tuple[IssueRow, list[str]]]
    grids: list[Grid]
    devices: list[Device]
    grounds = GROUNDS

    @property
    def ruled(self) -> list[Verdict]:
        """The verdicts that a band has by rule, the worst first."""
        found = {band.of.verdict for case in self.cases for axis in case.axes for band in axis.bands if not band.is_run}
        return sorted(found, key=VERDICTS.index)

    @property
    def packages(self) -> list[str]:
        """What its cases need."""
        return list(dict.fromkeys(name for case in self.issue.cases for name in case.needs))


def pages(facts: Facts) -> Iterator[Page]:
    """A page for each issue."""
    rarity = Counter(name for issue in facts.report.issues for name in issue.touches)
    for issue in facts.report.issues:
        view = View(
            issue,
            facts.standings[issue.id],
            ticks([version for version, _ in facts.places]),
            [_case(facts, issue, case) for case in issue.cases],
            _instead(facts, issue),
            [case.id for case in issue.cases if case.workaround is None and _bites(facts, issue, case)],
            facts.never_well(facts.worst(issue)),
            [case.id for case in issue.cases if facts.never_well(facts.verdicts(issue, case))],
            _signatures(issue),
            _odd(facts, issue),
            _related(facts, issue, rarity),
            grids([row for row in facts.report.stacks if _guests(issue) & {*row.holds, row.along}], facts.cells),
            of_issue(facts.programs, issue.id),
        )
        yield Page(f"issues/{issue.id}.html", "issues.html.jinja", issue.heading, view, ("assets/issue.js",))


def _guests(issue: IssueRow) -> frozenset[str]:
    return guests(name for case in issue.cases for name in case.needs)


def _case(facts: Facts, issue: IssueRow, case: CaseRow) -> CaseView:
    of, verdicts = facts.seen[issue.id, case.id], facts.verdicts(issue, case)
    ran = {
        cell.holds["jax"]
        for cell in facts.line
        if cell.moves == "jax" and verdicts.get(cell.id, "not-run") not in UNDECIDED
    }
    return CaseView(
        case,
        now(facts.columns, verdicts, case.turns),
        facts.runs(verdicts, [case]),
        timeline(case, facts.report.cells, facts.report.jax_line, ran),
        [Turn(each, of[each.before], of[each.after]) for each in case.turns],
        stretches(
            (cell.holds["jax"] if cell.moves == "jax" else f"{cell.moves} {cell.holds[cell.moves]}", of[cell.id])
            for cell in facts.columns
            if cell.id in of
        ),
        _elsewhere(facts, of),
    )


def _elsewhere(facts: Facts, of: Mapping[str, Observation]) -> list[Alike]:
    """What was seen beside the line, each stack once, the worst first."""
    on_line = {cell.id for cell in facts.columns}
    left = {cell: each for cell, each in of.items() if cell not in on_line}
    found: dict[object, Alike] = {}

    def put(row: str, label: str, each: Observation) -> None:
        found.setdefault(kind_of(each), Alike({}, each)).rows.setdefault(row, []).append((label, each.cell))

    for row in facts.report.stacks:
        name = f"{summary.held(row)}, along {row.along}"
        for id in row.cells:
            if id in left:
                put(name, facts.cells[id].holds[row.along], left.pop(id))
    for each in left.values():
        put("", each.cell, each)
    return sorted(found.values(), key=lambda alike: VERDICTS.index(alike.seen.verdict))


def _instead(facts: Facts, issue: IssueRow) -> list[Instead]:
    """What to do instead, each text once, with the cases in which it was needed, and where it holds or fails there."""
    found: dict[str, Instead] = {}
    for case in issue.cases:
        if case.workaround is None or not _bites(facts, issue, case):
            continue
        of = facts.seen[issue.id, case.id]
        told, elsewhere = verified(facts.line, of, sparse=facts.is_sparse), summary.workaround(of.values())
        where = (
            [f"on jax it {told}"] if told else ["it holds on stacks beside the line"] if "holds" in elsewhere else []
        )
        where += [elsewhere] if "fails" in elsewhere else []
        of_text = found.setdefault(case.workaround.text, Instead(case.workaround.text, {})).cases
        of_text.setdefault("; ".join(where) or "that was not run", []).append(case.id)
    return list(found.values())


def _bites(facts: Facts, issue: IssueRow, case: CaseRow) -> bool:
    return any(is_mended(each.verdict) for each in facts.seen[issue.id, case.id].values())


def _signatures(issue: IssueRow) -> list[tuple[SignatureRow, list[str]]]:
    """By what text the symptoms are known, each once, with the cases that have it.

    What keeps a case from running is no symptom of the issue: row zero, or the issue of that package, tells it.
    """
    found: dict[tuple[str, str, str, str], tuple[SignatureRow, list[str]]] = {}
    for case in issue.cases:
        for each in case.signatures:
            if case.behaviours.get(each.behaviour) not in SYMPTOMS:
                continue
            key = each.behaviour, each.type, each.message, each.module
            found.setdefault(key, (each, []))[1].append(case.id)
    return list(found.values())


def _odd(facts: Facts, issue: IssueRow) -> list[Observation]:
    """The observations that are not as documented, one for each that says something else."""
    found: dict[object, Observation] = {}
    for case in issue.cases:
        for each in facts.seen[issue.id, case.id].values():
            if summary.is_unexpected(each):
                found.setdefault((case.id, kind_of(each)), each)
    return list(found.values())


def _related(facts: Facts, issue: IssueRow, rarity: Counter[str]) -> list[tuple[IssueRow, list[str]]]:
    """The issues that concern the same, those first that share what few have."""
    found = []
    for other in facts.report.issues:
        shared = [name for name in issue.touches if name in other.touches]
        if shared and other.id != issue.id:
            found.append((other, sorted(shared, key=lambda name: (rarity[name], name))))
    found.sort(key=lambda each: (-sum(1 / rarity[name] for name in each[1]), each[0].id))
    return found[:_RELATED]
