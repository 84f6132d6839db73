"""The data of the pages issues/<id>.html.

The story is the issue module's docstring; other text is in the template.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jax_stack_compat.check.explain.matching import is_enough
from jax_stack_compat.check.good import good_for
from jax_stack_compat.judge.verdict_table import SYMPTOMS, UNDECIDED, VERDICTS, Verdict
from jax_stack_compat.judge.verdicts import goes_wrong
from jax_stack_compat.judge.wording import named
from jax_stack_compat.packages import guests
from laboratory.boundaries.attribution import Grounds
from laboratory.orders.compared import DeviceCell, DeviceRow
from laboratory.programs.case_rows import Device, of_issue
from laboratory.report import summary
from laboratory.report.model import CaseRow, CellRow, IssueRow, Observation, SignatureRow, WorkaroundRow
from laboratory.report.site.facts import Facts, StripRun
from laboratory.report.site.page import Page
from laboratory.report.site.table import Grid, Stretch, grids, kind_of, stretches
from laboratory.report.site.timeline import Axis, began, cause, is_mended, nearest, ticks, timeline, verified
from laboratory.report.standing import Now, label, now

_RELATED_SHOWN = 5
_STATES_SHOWN = 3

# The grounds for a turn's blame, in words around the packages that moved.
GROUNDS: Mapping[Grounds, str] = {
    "run": "as runs show, the cause is the update of {}",
    "rule": "by the rules below, the cause is the update of {}",
    "together": "the cause is unknown; the change {}",
}


@dataclass(frozen=True)
class Alike:
    """Stacks beside the line with equal observations, by row; each stack is (label, cell)."""

    rows: dict[str, list[tuple[str, str]]]
    seen: Observation

    @property
    def count(self) -> int:
        """The number of stacks."""
        return sum(map(len, self.rows.values()))


@dataclass(frozen=True)
class CaseView:
    """The view of a case: its intervals and observations.

    The first of `axes` is of the package that causes it. `began` is the release that brought a symptom that has ended.
    `lacking` is True if its function is absent on some releases, `failing` if another failure hides it on some.
    `shown` are its results on the newest bad release and on the nearest good one.
    """

    row: CaseRow
    now: Now | None
    began: str
    lacking: bool
    failing: bool
    shown: list[Observation]
    runs: list[StripRun]
    axes: list[Axis]
    line: list[Stretch]
    elsewhere: list[Alike]

    @property
    def everywhere(self) -> str:
        """Where it was tested, for a state that did not change."""
        failing = ", where no other failure hides it" if self.failing else ""
        return f"on every tested release{' that has it' if self.lacking else ''}{failing}"

    def named(self, cell: CellRow) -> str:
        """Return a cell of the line by its release of the package that causes the case, `jax 0.4.33`."""
        packages = [axis.package for axis in self.axes if axis.package in cell.versions]
        return f"{packages[0]} {cell.versions[packages[0]]}" if packages else ""


@dataclass(frozen=True)
class Instead:
    """A workaround, and its cases grouped by the releases on which it was run.

    `source` is its code, and `elsewhere` says where that ran on other inputs than its example's.
    """

    text: str
    source: str
    elsewhere: str
    cases: dict[str, list[str]]


@dataclass(frozen=True)
class IssueView:
    """The view of an issue's page.

    `without` has the cases that fail somewhere and have no workaround. `good` has the newest stack on which the issue
    goes wrong, with the releases that are good there and the cases that are not the headline, in words. `never_right`
    is True if the headline is bad on each release of the line. `related` has each issue that concerns the same names or
    areas as this one, with those names and areas. `grids` has the stacks with the guests that its cases need. `devices`
    has the programs that were compiled for devices and not run, `on_devices` the cases that ran there.
    """

    issue: IssueRow
    ticks: list[tuple[float, str, bool]]
    cases: list[CaseView]
    instead: list[Instead]
    without: list[str]
    good: tuple[CellRow, str, str] | None
    never_right: bool
    signatures: list[tuple[SignatureRow, list[str]]]
    odd: list[Observation]
    related: list[tuple[IssueRow, list[str]]]
    grids: list[Grid]
    devices: list[Device]
    on_devices: list[tuple[DeviceCell, list[DeviceRow]]]
    grounds = GROUNDS

    @property
    def others(self) -> str:
        """The other cases whose state is not the headline's: "1 affected since jax 0.8.2, 2 clear", the worst first.

        If these would be many, the counts alone.
        """
        known = (case.now for case in self.cases if case.now)
        states = [(now.verdict, f" since {now.release}" if now.before else "") for now in known]
        differ = [state for state in states[1:] if state != states[0]]
        if len(set(differ)) > _STATES_SHOWN:
            differ = [(verdict, "") for verdict, _ in differ]
        counts = sorted(Counter(differ).items(), key=lambda each: (VERDICTS.index(each[0][0]), each[0][1]))
        return ", ".join(f"{count} {verdict}{since}" for (verdict, since), count in counts)

    @property
    def ruled(self) -> list[Verdict]:
        """The verdicts of bands by rule, the worst first."""
        found = {band.of.verdict for case in self.cases for axis in case.axes for band in axis.bands if not band.is_run}
        return sorted(found, key=VERDICTS.index)


def pages(facts: Facts) -> Iterator[Page]:
    """Yield a page for each issue."""
    rarity = Counter(name for issue in facts.report.issues for name in issue.touches)
    for issue in facts.report.issues:
        view = IssueView(
            issue,
            ticks([version for version, _ in facts.places]),
            [_case(facts, issue, case) for case in issue.cases],
            _instead(facts, issue),
            [case.id for case in issue.cases if case.workaround is None and _needs_workaround(facts, issue, case)],
            _good(facts, issue),
            facts.never_well(facts.verdicts(issue, issue.cases[0])),
            _signatures(issue),
            _odd(facts, issue),
            _related(facts, issue, rarity),
            grids(
                [row for row in facts.report.stacks if guests(issue.packages) & {*row.holds, row.along}], facts.cells
            ),
            of_issue(facts.programs, issue.id),
            _on_devices(facts, issue),
        )
        yield Page(f"issues/{issue.id}.html", "issues.html.jinja", issue.heading, view, ("assets/issue.js",))


def _on_devices(facts: Facts, issue: IssueRow) -> list[tuple[DeviceCell, list[DeviceRow]]]:
    """Return the cases of an issue that ran on a device, by the device's cell."""
    of = [(cell, [row for row in cell.rows if row.issue == issue.id and row.ran_there]) for cell in facts.devices]
    return [(cell, rows) for cell, rows in of if rows]


def _case(facts: Facts, issue: IssueRow, case: CaseRow) -> CaseView:
    of, verdicts = facts.seen[issue.id, case.id], facts.verdicts(issue, case)
    jax = facts.report.jax_releases
    ran = {jax[cell] for cell, verdict in verdicts.items() if cell in jax and verdict not in UNDECIDED}
    due = cause(case)
    axes = timeline(case, facts.report.cells, facts.report.jax_line, ran)
    return CaseView(
        case,
        now(facts.columns, verdicts, case.turns),
        began(facts.columns, verdicts, case.turns),
        "absent" in verdicts.values(),
        "different" in verdicts.values(),
        nearest(facts.columns, of),
        facts.runs(verdicts, [case]),
        sorted(axes, key=lambda axis: axis.package != due),
        stretches(
            (cell.holds["jax"] if cell.moves == "jax" else f"{cell.moves} {cell.holds[cell.moves]}", of[cell.id])
            for cell in facts.columns
            if cell.id in of
        ),
        _elsewhere(facts, of),
    )


def _elsewhere(facts: Facts, of: Mapping[str, Observation]) -> list[Alike]:
    """Return the observations beside the line, each stack once, the worst first."""
    on_line = {cell.id for cell in facts.columns}
    left = {cell: each for cell, each in of.items() if cell not in on_line}
    found: dict[object, Alike] = {}

    def put(row: str, label: str, seen: Observation) -> None:
        found.setdefault(kind_of(seen), Alike({}, seen)).rows.setdefault(row, []).append((label, seen.cell))

    for row in facts.report.stacks:
        name = f"Releases of {row.along}, with {summary.held(row)}"
        for id in row.cells:
            if id in left:
                put(name, facts.cells[id].holds[row.along], left.pop(id))
    for seen in left.values():
        put("", seen.cell, seen)
    return sorted(found.values(), key=lambda alike: VERDICTS.index(alike.seen.verdict))


def _instead(facts: Facts, issue: IssueRow) -> list[Instead]:
    """Return each workaround once, with the cases that needed it, by where it helped or failed."""
    found: dict[str, Instead] = {}
    for case in issue.cases:
        if case.workaround is None or not _needs_workaround(facts, issue, case):
            continue
        needing = {id: row for id, row in facts.seen[issue.id, case.id].items() if is_mended(row.verdict)}
        text, package = case.workaround.text, cause(case)
        told, beside = (
            verified(facts.line, needing, package, sparse=facts.is_sparse),
            summary.workaround(needing.values()),
        )
        helps = f"the workaround {told or 'helps on other stacks'}"
        where = [helps] if told or "holds" in beside else []
        where += [f"the {beside}"] if "fails" in beside else []
        ran = _ran_elsewhere(facts, case.workaround)
        of_text = found.setdefault(text, Instead(text, case.workaround_source, ran, {})).cases
        of_text.setdefault("; ".join(where) or "the workaround was not tested", []).append(case.id)
    return list(found.values())


# The words of inputs for people, around their dtype.
_SHAPES = {
    **{"one": "{} array of one number", "empty": "empty {} array"},
    **{"square": "{} square matrix", "batch": "{} batch of matrices"},
}
_VALUES = {"unit": "{} between 0 and 1", "zero": "zero-filled {}"}


def _input(arguments: str) -> str:
    """Return the arguments of a call for people: "unit float32 square" is a float32 square matrix between 0 and 1."""
    return ", ".join(map(_argument, arguments.split(",")))


def _argument(text: str) -> str:
    """Return an argument for people: its values, dtype and shape."""
    *values, dtype, shape = text.split()
    told = _SHAPES.get(shape, f"{{}} {shape}").format(dtype)
    return _VALUES.get(values[0], f"{values[0]} {{}}").format(told) if values else told


def _ran_elsewhere(facts: Facts, instead: WorkaroundRow) -> str:
    """Return where a workaround ran on other inputs than its example's, for people."""
    if instead.pin:
        return ""
    if instead.elsewhere is None:
        return "The workaround was run on the example alone."
    inputs, cells = instead.elsewhere.inputs, instead.elsewhere.cells
    on = "in a second program" if inputs == ["program"] else f"on other inputs ({'; '.join(map(_input, inputs))})"
    where = "; ".join(label(facts.cells[cell]) for cell in cells if cell in facts.cells)
    ran = f"The workaround was also run {on}, on the stacks of these releases: {where}."
    if instead.is_verified:
        return ran
    failed = ", ".join(label(facts.cells[cell]) for cell, of in cells.items() if of and cell in facts.cells)
    return f"{ran} The workaround does not help everywhere on {failed}."


def _needs_workaround(facts: Facts, issue: IssueRow, case: CaseRow) -> bool:
    return any(is_mended(each.verdict) for each in facts.seen[issue.id, case.id].values())


def _good(facts: Facts, issue: IssueRow) -> tuple[CellRow, str, str] | None:
    """Return the newest stack on which an issue goes wrong, of the line if possible, and the good releases there.

    If the headline does not go wrong there, the cases that do come last. A different failure is no symptom.
    """
    known = next(each for each in facts.knowledge.issues if each.id == issue.id)
    for cell in facts.newest_first:
        rows = [(case, facts.seen[issue.id, case.id].get(cell.id)) for case in known.cases]
        wrong = [case for case, row in rows if row and row.verdict != "different" and goes_wrong(row.verdict)]
        if wrong:
            told = good_for(known, wrong, cell.versions, facts.knowledge).told
            # The headline may be right there, or documented.
            one = len(wrong) == 1
            cases = f"case {wrong[0].id} goes" if one else f"cases {named([case.id for case in wrong])} go"
            of = "" if known.cases[0] in wrong else f"on which the {cases} wrong"
            return (cell, told, of) if told else None
    return None


def _signatures(issue: IssueRow) -> list[tuple[SignatureRow, list[str]]]:
    """Return the signatures by which `explain` finds the issue, each once, with the cases that have it.

    A failure that keeps a case from running is not a symptom; row zero or another issue reports it. What no rule of a
    case expects was not seen in it.
    """
    found: dict[tuple[str, str, str, str], tuple[SignatureRow, list[str]]] = {}
    for case in issue.cases:
        for signature in case.signatures:
            if case.behaviours.get(signature.behaviour) not in SYMPTOMS:
                continue
            if case.rules and signature.behaviour not in {rule.behaviour for rule in case.rules}:
                continue
            everyday = signature.everyday
            if not is_enough(signature.type, signature.message, everyday=everyday, known_by=issue.known_by):
                continue
            key = signature.behaviour, signature.type, signature.message, signature.module
            found.setdefault(key, (signature, []))[1].append(case.id)
    return list(found.values())


def _odd(facts: Facts, issue: IssueRow) -> list[Observation]:
    """Return the unexpected observations, one for each different kind."""
    found: dict[object, Observation] = {}
    for case in issue.cases:
        for seen in facts.seen[issue.id, case.id].values():
            if summary.is_unexpected(seen):
                found.setdefault((case.id, kind_of(seen)), seen)
    return list(found.values())


def _related(facts: Facts, issue: IssueRow, rarity: Counter[str]) -> list[tuple[IssueRow, list[str]]]:
    """Return the issues that concern the same names or areas, those with the rarest in common first."""
    found = []
    for other in facts.report.issues:
        shared = [name for name in issue.touches if name in other.touches]
        if shared and other.id != issue.id:
            found.append((other, sorted(shared, key=lambda name: (rarity[name], name))))
    found.sort(key=lambda each: (-sum(1 / rarity[name] for name in each[1]), each[0].id))
    return found[:_RELATED_SHOWN]
