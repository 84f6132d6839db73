"""The page findings.html: findings, unexpected observations and undecided ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from laboratory.report import summary
from laboratory.report.findings import SORTS, ReportFinding, Sort, findings
from laboratory.report.model import Observation
from laboratory.report.site.facts import Facts
from laboratory.report.site.page import Page
from laboratory.report.site.table import kind_of
from laboratory.report.summary import Undecided

# The page's limits; compat.json has everything.
_MAX_FINDINGS, _MAX_ROWS = 60, 100


@dataclass(frozen=True)
class FindingsView:
    """The view of findings.html: lists, and the full length of each list that is cut.

    `unexpected` has the unexpected observations, equal ones of one case together.
    """

    sorts: Mapping[Sort, list[ReportFinding]]
    count: int
    unexpected: list[list[Observation]]
    unexpected_count: int
    undecided: list[Undecided]
    undecided_count: int
    words = SORTS

    @property
    def shown(self) -> int:
        """The number of findings on the page."""
        return sum(map(len, self.sorts.values()))


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the page of findings."""
    found, undecided = findings(facts.report), summary.undecided_causes(facts.report)
    unexpected: dict[object, list[Observation]] = {}
    for observation in summary.unexpected(facts.report):
        key = observation.issue, observation.case, kind_of(observation)
        unexpected.setdefault(key, []).append(observation)
    view = FindingsView(
        {sort: of for sort in SORTS if (of := [finding for finding in found[:_MAX_FINDINGS] if finding.sort == sort])},
        len(found),
        list(unexpected.values())[:_MAX_ROWS],
        len(unexpected),
        undecided[:_MAX_ROWS],
        len(undecided),
    )
    yield Page("findings.html", "findings.html.jinja", "Findings: what the runs show", view)
