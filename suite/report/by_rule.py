"""The behaviours that rules give for releases of jax that a report did not run. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from suite.cell.issue import Meaning
from suite.judge.metadata import in_version_order
from suite.judge.prediction import Name, Prediction, foresee
from suite.judge.rules import Pins
from suite.report.model import ByRuleRow, Report
from suite.stack.releases import guests

# The pins on each release of jax of the line, in version order; empty if unknown.
Line = Mapping[str, Pins]
NO_LINE: Line = MappingProxyType({})


def jax_line(report: Report, line: Line) -> list[str]:
    """Return all releases of jax on the line; empty if the report plans all or none of them.

    Empty for a shard too: other shards may plan the rest.
    """
    planned = _releases(report).values()
    is_sparse = bool(planned) and report.shard is None and not line.keys() <= set(planned)
    return in_version_order({*line, *planned}) if is_sparse else []


def by_rule(report: Report, line: Line) -> dict[Name, list[ByRuleRow]]:
    """Return the releases on `line` where a case was not observed and a rule covers it, in runs of neighbours.

    Releases are left out on which row zero's rules say that a package does not import. So are cases that need a guest,
    which the line never holds.
    """
    releases = jax_line(report, line)
    at = _releases(report)
    seen = {(row.issue, row.case, at[row.cell]) for row in report.observations if row.cell in at}
    cases = {(issue.id, case.id): case for issue in report.issues for case in issue.cases if not guests(case.needs)}
    row_zero = {issue.id for issue in report.issues if issue.row_zero}
    says: dict[Name, dict[str, str]] = {name: {} for name in cases}
    for version in releases:
        pins = line.get(version)
        for name, known in foresee(cases, row_zero, pins, {}).items() if pins else ():
            if isinstance(known, Prediction) and known.behaviour is not None and (*name, version) not in seen:
                says[name][version] = known.behaviour
    return {name: _rows(releases, of, cases[name].behaviours) for name, of in says.items()}


def _rows(releases: Sequence[str], says: Mapping[str, str], behaviours: Mapping[str, Meaning]) -> list[ByRuleRow]:
    rows = []
    for behaviour, group in groupby(releases, says.get):
        first, *rest = group
        if behaviour is not None:
            verdict = behaviours.get(behaviour, "different")
            last = rest[-1] if rest else first
            rows.append(ByRuleRow(behaviour=behaviour, verdict=verdict, package="jax", first=first, last=last))
    return rows


def _releases(report: Report) -> dict[str, str]:
    """Return the release of jax for each cell of the line that moves jax."""
    return {cell.id: cell.holds["jax"] for cell in report.run_here if cell.kind == "line" and cell.moves == "jax"}
