"""The pages of stacks: cells.html, each with packages, lock and metadata against runs; and stack.html.

stack.html shows the known issues of a reader's stack and the changes of an upgrade; without a script, it links to the
releases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from jax_stack_compat.packages import EVERYWHERE
from laboratory.report import summary
from laboratory.report.model import CellRow
from laboratory.report.site.compiled import compiled
from laboratory.report.site.facts import Facts
from laboratory.report.site.page import Page
from laboratory.report.site.search import script
from laboratory.report.site.table import minor_of


@dataclass(frozen=True)
class CellsView:
    """The view of cells.html: the stacks in groups.

    `elsewhere` has, for each stack, the other stacks whose results it reuses, with the number of cases.
    """

    groups: list[tuple[str, list[CellRow]]]
    elsewhere: dict[str, dict[str, int]]
    # The packages in columns; the others are folded.
    main = EVERYWHERE
    replay = summary.REPLAY.partition(" -- ")[0]


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the page of all stacks, and that of a reader's."""
    groups: dict[str, list[CellRow]] = {"The line": facts.line} if facts.line else {}
    for cell in facts.report.cells:
        if cell.kind != "line":
            groups.setdefault(cell.asks[0].question if cell.asks else "Unplanned", []).append(cell)
    title = "Stacks: everything that was run"
    yield Page("cells.html", "cells.html.jinja", title, CellsView(list(groups.items()), _elsewhere(facts)))
    yield stack(facts)


def stack(facts: Facts) -> Page:
    """Return the page of a reader's stack, with the rules and runs that its script reads."""
    minors = groupby(facts.columns, lambda cell: minor_of(cell.versions["jax"]))
    view = [(name, list(of)) for name, of in minors]
    data = {"data/stack.js": script("STACK", compiled(facts))}
    scripts = ("data/stack.js", "assets/rules.js", "assets/works.js", "assets/stack.js")
    return Page("stack.html", "stack.html.jinja", "Your stack and its upgrade", view, scripts, data)


def _elsewhere(facts: Facts) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for observation in facts.report.observations:
        if observation.ran_in:
            found.setdefault(observation.cell, Counter())[observation.ran_in] += 1
    return {cell: dict(of.most_common()) for cell, of in found.items()}
