"""stack.html: what bites a stack, and what an upgrade of it brings; without a script, a way to the releases' pages."""

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
class Stack:
    """What stack.html shows before anybody asks: the cells of the line by minor release of jax."""

    minors: list[tuple[str, list[CellRow]]]


def pages(facts: Facts) -> Iterator[Page]:
    """The page, and the rules and runs that its script reads."""

    def minor(cell: CellRow) -> str:
        return minor_of({**cell.holds, **cell.packages}["jax"])

    view = Stack([(name, list(of)) for name, of in groupby(facts.columns, minor)])
    data = {"data/stack.js": script("STACK", compiled(facts))}
    scripts = ("data/stack.js", "assets/rules.js", "assets/stack.js")
    yield Page("stack.html", "stack.html.jinja", "Your stack, and its next", view, scripts, data)
