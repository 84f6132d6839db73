"""What a report says beyond its observations, computed from them: intervals, stacks, coverage. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from suite.judge import verdicts as judge
from suite.judge.verdicts import Point, Verdict
from suite.report.model import CellRow, Coverage, IntervalRow, Observation, RangeRow, Report, StackRow
from suite.stack.releases import Packages

Seen = tuple[str, Verdict] | None


def derive(report: Report, offered: Packages) -> Report:
    """`report` with its intervals, stacks and coverage computed anew from its cells, issues and observations."""
    seen: dict[tuple[str, str], dict[str, Seen]] = {}
    for each in report.observations:
        what = None if each.verdict in judge.UNDECIDED else (each.behaviour or each.verdict, each.verdict)
        seen.setdefault((each.issue, each.case), {})[each.cell] = what
    line = [cell for cell in report.cells if cell.kind == "line"]
    issues = [
        issue.model_copy(
            update={
                "cases": [
                    case.model_copy(
                        update={"intervals": intervals(line, seen.get((issue.id, case.id), {}), case.needs, offered)}
                    )
                    for case in issue.cases
                ]
            }
        )
        for issue in report.issues
    ]
    return report.model_copy(
        update={"issues": issues, "stacks": stacks(report, offered), "coverage": coverage(report.observations)}
    )


def intervals(
    line: Sequence[CellRow], seen: Mapping[str, Seen], needs: Iterable[str], offered: Packages
) -> list[IntervalRow]:
    """A case's intervals over the releases of jax, and over those of a library where one of them changed it.

    `line` is in the order of its days, and the intervals are in the order of versions.
    """
    # What changed on the day of a release, other than by a release between the two of its own package.
    changed: dict[str, set[str]] = {}
    before: Seen = None
    for cell in line:
        now = seen.get(cell.id)
        if now is not None:
            if before is not None and before != now:
                changed.setdefault(cell.moves, set()).add(cell.holds[cell.moves])
            before = now
    found: list[IntervalRow] = []
    for package in ("jax", "equinox", "diffrax"):
        if package != "jax" and (package not in needs or package not in changed):
            continue
        points = {cell.holds[package]: seen.get(cell.id) for cell in line if cell.moves == package}
        there = [version for version, release in offered.get(package, {}).items() if release.yanked is None]
        oldest = min(points, key=Version, default="0")
        found += [
            IntervalRow(**asdict(each))
            for each in judge.intervals(
                [Point(version, points[version]) for version in judge.in_version_order(list(points))],
                package,
                [version for version in judge.in_version_order(there) if Version(version) >= Version(oldest)],
                changed.get(package, set()),
            )
        ]
    return found


def stacks(report: Report, offered: Packages) -> list[StackRow]:
    """The rows of the arms: one for each question and what is held to answer it."""
    rows: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[CellRow]] = {}
    for cell in report.cells:
        for ask in cell.asks:
            holds = tuple((name, version) for name, version in cell.holds.items() if name != ask.along)
            rows.setdefault((ask.question, ask.along, holds), []).append(cell)
    details = {each.cell: each.detail for each in reversed(report.observations) if _breaks_row_zero(each)}
    questions = list(dict.fromkeys(question for question, _, _ in rows))
    ordered = sorted(rows.items(), key=lambda row: questions.index(row[0][0]))
    return [_row(*key, cells, details, offered) for key, cells in ordered]


def _row(
    question: str,
    along: str,
    holds: tuple[tuple[str, str], ...],
    cells: Sequence[CellRow],
    details: Mapping[str, str],
    offered: Packages,
) -> StackRow:
    ordered = sorted(cells, key=lambda cell: Version(cell.holds[along]))
    told = [cell for cell in ordered if cell.declared_observed is not None]
    ranges = []
    for word, run in groupby(told, key=lambda cell: cell.declared_observed):
        of = list(run)
        ends = {"first": of[0].holds[along], "last": of[-1].holds[along]}
        ranges.append(RangeRow.model_validate({"declared_observed": word, **ends, "detail": details.get(of[0].id, "")}))
    # What breaks first is what has to say so; what breaks later may be another.
    broken = next((cell.broken_in for cell in told if cell.declared_observed == "latent"), None)
    required = [
        requirement.specifier
        for name, version in holds
        for requirement in map(Requirement, offered[name][version].requires_dist)
        # It is for the package that breaks to require what it needs, where that shows.
        if requirement.name == along and requirement.marker is None and (broken not in dict(holds) or broken == name)
    ]
    declared = _simplest(required)
    tried = {cell.holds[along]: cell.declared_observed in ("supported", "over-tight") for cell in told}
    specifier = judge.reconciled(tried, declared)
    return StackRow(
        question=question,
        holds=dict(holds),
        along=along,
        cells=[cell.id for cell in ordered],
        ranges=ranges,
        declared=declared,
        specifier=None if specifier == declared else specifier,
        broken_in=broken,
    )


def _simplest(specifiers: Iterable[SpecifierSet]) -> str:
    """All of `specifiers` as one, with the highest of their lower bounds."""
    parts = {str(part) for each in specifiers for part in each}
    lower = sorted((part for part in parts if part.startswith(">=")), key=lambda part: Version(part[2:]))
    return ",".join([*lower[-1:], *sorted(part for part in parts if part not in lower)])


def _breaks_row_zero(each: Observation) -> bool:
    return each.issue == "stack-smoke" and each.verdict not in judge.UNDECIDED and each.verdict != "clear"


def coverage(observations: Sequence[Observation]) -> Coverage:
    """How many of the planned observations there are."""
    verdicts = [each.verdict for each in observations]
    counts = {name: verdicts.count(name) for name in ("unavailable", "conflict", "error", "not-run")}
    return Coverage(
        planned=len(verdicts),
        run=len(verdicts) - sum(counts.values()),
        unavailable=counts["unavailable"] + counts["conflict"],
        error=counts["error"],
        not_run=counts["not-run"],
    )
