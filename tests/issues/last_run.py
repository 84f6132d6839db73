"""The published report, for the tests of issue modules, once a test has asked for it."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from jax_stack_compat.judge.metadata import parsed
from jax_stack_compat.judge.verdict_table import UNDECIDED
from laboratory.report.model import CaseRow, Observation, Report

# The table of offences has functions of an issue alone.
_READ: list[Report] = []


def keep(report: Report) -> None:
    """Keep the report of the last full run."""
    _READ[:] = [report]


def last_run() -> Report:
    """Return the report of the last full run."""
    return _READ[0]


@cache
def rows() -> Mapping[tuple[str, str], CaseRow]:
    """Return each case as it was published."""
    return {(issue.id, case.id): case for issue in last_run().issues for case in issue.cases}


@cache
def seen() -> Mapping[tuple[str, str], list[Observation]]:
    """Return the decided observations of each case."""
    found: dict[tuple[str, str], list[Observation]] = {}
    for row in last_run().observations:
        if row.verdict not in UNDECIDED:
            found.setdefault((row.issue, row.case), []).append(row)
    return found


class Change(NamedTuple):
    """A change of a case's verdict between two releases of a package."""

    package: str
    last: str
    first: str
    before: str
    after: str

    def is_in(self, release: str) -> bool:
        """Return True if the change came with a release, or with one between the two that cannot be installed."""
        return self.first == release or parsed(self.last) < parsed(release) <= parsed(self.first)


def changes(issue: str, case: str) -> Iterator[Change]:
    """Yield the changes of a case: along each package's releases, and those that a run or rule puts on a package."""
    row = rows()[issue, case]
    of_packages = {each.package for each in row.intervals}
    for package in of_packages:
        intervals = [each for each in row.intervals if each.package == package]
        for one, other in pairwise(intervals):
            yield Change(package, one.last, other.first, one.verdict, other.verdict)
    verdicts = {each.cell: each.verdict for each in seen().get((issue, case), ())}
    for turn in row.turns:
        package, _, releases = turn.blame.partition(" ")
        last, arrow, first = releases.partition(" → ")
        if arrow and turn.package == package:
            yield Change(package, last, first, verdicts.get(turn.before, ""), verdicts.get(turn.after, ""))


def oldest(issue: str, case: str, package: str) -> Iterator[tuple[str, str]]:
    """Yield the oldest release of a package on which a case was run, and its verdict there."""
    for each in rows()[issue, case].intervals:
        if each.package == package:
            yield each.first, each.verdict
            return
