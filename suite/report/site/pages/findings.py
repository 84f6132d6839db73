"""findings.html: what follows from the runs, what is not as expected, and what was not decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from suite.report import summary
from suite.report.findings import SORTS, Finding, Sort, findings
from suite.report.model import Observation
from suite.report.site.facts import Facts
from suite.report.site.page import Page
from suite.report.site.table import kind_of
from suite.report.summary import Undecided

# For more there is no room on a page; compat.json has all of them.
_FINDINGS, _ROWS = 60, 100


@dataclass(frozen=True)
class Unexpected:
    """One case that showed the very same, not as expected, in these cells."""

    seen: Observation
    cells: list[str]


@dataclass(frozen=True)
class View:
    """What findings.html shows; of each list that is cut, how many there are."""

    sorts: Mapping[Sort, list[Finding]]
    count: int
    unexpected: list[Unexpected]
    unexpected_count: int
    undecided: list[Undecided]
    undecided_count: int
    words = SORTS

    @property
    def shown(self) -> int:
        """How many findings are shown."""
        return sum(map(len, self.sorts.values()))


def pages(facts: Facts) -> Iterator[Page]:
    """The page of findings."""
    found, undecided = findings(facts.report), summary.undecided(facts.report)
    unexpected: dict[object, Unexpected] = {}
    for each in summary.unexpected(facts.report):
        key = each.issue, each.case, kind_of(each)
        unexpected.setdefault(key, Unexpected(each, [])).cells.append(each.cell)
    view = View(
        {sort: of for sort in SORTS if (of := [each for each in found[:_FINDINGS] if each.sort == sort])},
        len(found),
        list(unexpected.values())[:_ROWS],
        len(unexpected),
        undecided[:_ROWS],
        len(undecided),
    )
    yield Page("findings.html", "findings.html.jinja", "Findings: what the runs show", view)
