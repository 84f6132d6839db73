"""The page stack.html: a stack's known issues and an upgrade's changes; without a script, links to the releases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from suite.report.model import CellRow
from suite.report.site.compiled import compiled
from suite.report.site.facts import Facts
from suite.report.site.page import Page
from suite.report.site.search import script
from suite.report.site.table import minor_of


@dataclass(frozen=True)
class StackView:
    """The view of stack.html without a question: the cells of the line by minor release of jax."""

    minors: list[tuple[str, list[CellRow]]]


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the page, with the rules and runs that its script reads."""

    def minor(cell: CellRow) -> str:
        return minor_of({**cell.holds, **cell.packages}["jax"])

    view = StackView([(name, list(of)) for name, of in groupby(facts.columns, minor)])
    data = {"data/stack.js": script("STACK", compiled(facts))}
    scripts = ("data/stack.js", "assets/rules.js", "assets/stack.js")
    yield Page("stack.html", "stack.html.jinja", "Your stack and its upgrade", view, scripts, data)
