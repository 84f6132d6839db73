"""The facts that follow from a report's observations and rules: intervals, stacks and coverage. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from itertools import groupby
from types import MappingProxyType
from typing import get_args

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from jax_stack_compat.cell.issue import Meaning
from jax_stack_compat.judge.metadata import in_version_order, parsed, reached, requires, simplest
from jax_stack_compat.judge.prediction import Name, Prediction, foresee
from jax_stack_compat.judge.rules import Pins, Run, concerned
from jax_stack_compat.judge.verdict_table import PROPERTIES, UNDECIDED, Count, Verdict
from jax_stack_compat.judge.verdicts import by_pin, workaround_expected
from jax_stack_compat.packages import guests
from jax_stack_compat.stack.releases import Packages
from laboratory.boundaries.amendments import Tables, Trial, amendments
from laboratory.boundaries.attribution import LINKED, Blame, blame
from laboratory.boundaries.intervals import Point, ran
from laboratory.boundaries.intervals import intervals as intervals_along
from laboratory.boundaries.neighbours import LineCell, neighbours
from laboratory.report.model import (
    AmendmentRow,
    ByRuleRow,
    CaseRow,
    CellRow,
    Coverage,
    IntervalRow,
    Observation,
    RangeRow,
    Report,
    StackRow,
    TurnRow,
)

Seen = tuple[str, Verdict] | None
# The pins on each release of jax of the line, in version order; empty if unknown.
Line = Mapping[str, Pins]
NO_LINE: Line = MappingProxyType({})


def derive(report: Report, offered: Packages, line: Line = NO_LINE) -> Report:
    """Return `report` with intervals, stacks and coverage computed from its cells, issues and observations.

    Rules fill in the releases of jax on `line` that the report did not observe.
    """
    report = report.model_copy(update={"observations": with_pins(report)})
    seen: dict[Name, dict[str, Seen]] = {}
    for row in report.observations:
        what = None if row.verdict in UNDECIDED else (row.behaviour or row.verdict, row.verdict)
        seen.setdefault((row.issue, row.case), {})[row.cell] = what
    sparse = jax_line(report, line)
    ruled = by_rule(report, line, sparse)
    issues = []
    for issue in report.issues:
        cases = []
        for case in issue.cases:
            name = issue.id, case.id
            of = seen.get(name, {})
            confirmed = _with_evidence(case, report.cells, of)
            intervals, turns = along(report.cells, of, confirmed, offered)
            derived = {"intervals": intervals, "by_rule": ruled.get(name, []), "turns": turns}
            cases.append(confirmed.model_copy(update=derived))
        issues.append(issue.model_copy(update={"cases": cases}))
    report = report.model_copy(update={"issues": issues, "jax_line": sparse})
    return report.model_copy(update={"stacks": stacks(report, offered), "coverage": coverage(report.observations)})


def _with_evidence(case: CaseRow, cells: Sequence[CellRow], seen: Mapping[str, Seen]) -> CaseRow:
    """Return the case with the releases on which each rule was run."""
    runs = (Run(cell.id, cell.packages, what[0]) for cell in cells if (what := seen.get(cell.id)))
    rules = [
        rule.model_copy(update={"evidence": "; ".join(filter(None, (where, rule.note)))})
        for rule, where in zip(case.rules, ran(case.needs, case.rules, runs), strict=True)
    ]
    return case.model_copy(update={"rules": rules})


def with_pins(report: Report) -> list[Observation]:
    """Return the observations; a workaround that is a pin is judged by the cells that meet the pin."""
    cells = {cell.id: cell.packages for cell in report.cells}
    cases = {(issue.id, case.id): case for issue in report.issues for case in issue.cases}
    there: dict[Name, list[tuple[Mapping[str, str], Verdict]]] = {}
    for row in report.observations:
        there.setdefault((row.issue, row.case), []).append((cells[row.cell], row.verdict))

    def told(row: Observation) -> Observation:
        key, pins = (row.issue, row.case), cells[row.cell]
        workaround = cases[key].workaround
        if workaround is None or not workaround.pin:
            return row
        word = by_pin(workaround.pin, row.verdict, pins, there[key])
        known = workaround_expected(word, workaround.fails, pins)
        return row.model_copy(update={"workaround": word, "workaround_expected": known})

    return [told(row) for row in report.observations]


def along(
    cells: Sequence[CellRow], seen: Mapping[str, Seen], case: CaseRow, offered: Packages
) -> tuple[list[IntervalRow], list[TurnRow]]:
    """Return a case's intervals, of jax and of each package that changed it, and the neighbours that differ."""
    line = {cell.id: cell for cell in cells if cell.kind == "line"}
    runs = {cell.id: Run(cell.id, cell.packages, what[0]) for cell in cells if (what := seen.get(cell.id))}

    # Cached because the ends of most intervals are neighbours.
    @cache
    def between(before: str, after: str) -> Blame | None:
        if runs[before].behaviour == runs[after].behaviour:
            # This holds for most pairs: skip the walk over requirements.
            return None
        both = line[before], line[after]
        among = {name for cell in both for name in reached(case.needs, cell.packages, offered, cell.python)}
        among |= concerned(case.needs, case.rules)
        return blame(runs[before], runs[after], case.rules, runs.values(), among)

    known = [cell for cell in line.values() if cell.id in runs]
    of_line = [LineCell(cell.id, cell.moves, cell.packages, cell.released_on) for cell in known]
    found = [(before.id, after.id, between(before.id, after.id)) for before, after in neighbours(of_line)]
    changed = {blamed.package for _, _, blamed in found if blamed is not None and blamed.package is not None}
    rows: list[IntervalRow] = []
    for package in ("jax", *sorted(changed.difference(LINKED))):
        ids = {cell.holds[package]: cell.id for cell in line.values() if cell.moves == package}
        versions = in_version_order(ids)
        there = in_version_order(version for version, each in offered.get(package, {}).items() if each.yanked is None)
        told = intervals_along(
            [Point(version, seen.get(ids[version])) for version in versions],
            package,
            [version for version in there if versions and parsed(version) >= parsed(versions[0])],
            lambda before, after, ids=ids: between(ids[before], ids[after]),  # type: ignore[misc]
        )
        rows += [IntervalRow(**asdict(interval)) for interval in told]
    turns = [
        TurnRow(before=one, after=other, package=to.package, grounds=to.grounds, blame=str(to), evidence=to.evidence)
        for one, other, to in found
        if to is not None
    ]
    return rows, turns


def stacks(report: Report, offered: Packages) -> list[StackRow]:
    """Return the rows of the arms: one for each question and set of held packages."""
    rows: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], list[CellRow]]] = {}
    for cell in report.cells:
        for ask in cell.asks:
            holds = tuple((name, version) for name, version in cell.holds.items() if name != ask.along)
            rows.setdefault(ask.question, {}).setdefault((ask.along, holds), []).append(cell)
    # Row zero decides if a stack works; beside a guest, so do the cases that need the guest.
    tables = {
        f"{issue.id}/{case.id}": case.rules
        for issue in report.issues
        for case in issue.cases
        if issue.row_zero or guests(case.needs)
    }
    seen: dict[str, list[Observation]] = {}
    for row in report.observations:
        if f"{row.issue}/{row.case}" in tables and row.verdict not in UNDECIDED:
            seen.setdefault(row.cell, []).append(row)
    return [
        _row(question, *key, cells, seen, tables, offered) for question, of in rows.items() for key, cells in of.items()
    ]


def _row(
    question: str,
    along: str,
    holds: tuple[tuple[str, str], ...],
    cells: Sequence[CellRow],
    seen: Mapping[str, Sequence[Observation]],
    tables: Tables,
    offered: Packages,
) -> StackRow:
    ordered = sorted(cells, key=lambda cell: Version(cell.holds[along]))
    told = [cell for cell in ordered if cell.declared_observed is not None]
    ranges = []
    for word, run in groupby(told, key=lambda cell: cell.declared_observed):
        of = list(run)
        ends = {"first": of[0].holds[along], "last": of[-1].holds[along]}
        detail = next((row.detail for row in seen.get(of[0].id, ()) if row.verdict != "clear"), "")
        ranges.append(RangeRow.model_validate({"declared_observed": word, **ends, "detail": detail}))
    python = ordered[0].python
    required = [requires(name, ordered[0].packages, offered, python).get(along, SpecifierSet()) for name, _ in holds]
    found = amendments([_trial(cell, seen.get(cell.id, ())) for cell in told], along, tables, offered, python)
    return StackRow(
        question=question,
        holds=dict(holds),
        along=along,
        cells=[cell.id for cell in ordered],
        ranges=ranges,
        declared=simplest(required),
        amendments=[AmendmentRow(**asdict(amendment), words=str(amendment)) for amendment in found],
    )


def _trial(cell: CellRow, seen: Sequence[Observation]) -> Trial:
    """Return a cell's results: the behaviour of each case, and the cases that fail."""
    shown = {f"{row.issue}/{row.case}": row.behaviour or row.verdict for row in seen}
    fails = frozenset(f"{row.issue}/{row.case}" for row in seen if row.verdict != "clear")
    # An arm can move the interpreter, as any package.
    return Trial(cell.id, {**cell.packages, "python": cell.python}, shown, fails)


def coverage(observations: Sequence[Observation]) -> Coverage:
    """Return the number of planned observations, by how they are counted."""
    counts = Counter(PROPERTIES[row.verdict].counted for row in observations)
    return Coverage(planned=len(observations), **{count: counts[count] for count in get_args(Count)})


# Releases of jax that the report did not run


def jax_line(report: Report, line: Line) -> list[str]:
    """Return all releases of jax on the line; empty if the report plans all or none of them.

    Empty for a shard too: other shards may plan the rest.
    """
    planned = set(report.jax_releases.values())
    is_sparse = bool(planned) and report.shard is None and not line.keys() <= planned
    return in_version_order({*line, *planned}) if is_sparse else []


def by_rule(report: Report, line: Line, releases: Sequence[str]) -> dict[Name, list[ByRuleRow]]:
    """Return the `releases` where a case was not observed and a rule covers it, in runs of neighbours.

    A release is left out if row zero's rules say that a needed package does not import there. Cases that need a guest
    are left out, since no cell of the line has a guest.
    """
    at = report.jax_releases
    seen = {(row.issue, row.case, at[row.cell]) for row in report.observations if row.cell in at}
    cases = {(issue.id, case.id): case for issue in report.issues for case in issue.cases if not guests(case.needs)}
    row_zero = {issue.id for issue in report.issues if issue.row_zero}
    says: dict[Name, dict[str, str]] = {name: {} for name in cases}
    for version in releases:
        pins = line.get(version)
        for name, known in foresee(cases, row_zero, pins, {}).items() if pins else ():
            if isinstance(known, Prediction) and known.behaviour is not None and (*name, version) not in seen:
                says[name][version] = known.behaviour
    return {name: _spans(releases, of, cases[name].behaviours) for name, of in says.items()}


def _spans(releases: Sequence[str], says: Mapping[str, str], behaviours: Mapping[str, Meaning]) -> list[ByRuleRow]:
    rows = []
    for behaviour, group in groupby(releases, says.get):
        over = list(group)
        if behaviour is not None:
            verdict = behaviours.get(behaviour, "different")
            rows.append(ByRuleRow(behaviour=behaviour, verdict=verdict, package="jax", first=over[0], last=over[-1]))
    return rows
