"""The page cells.html: every stack with its packages, its lock, and its metadata against the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from suite.report import summary
from suite.report.model import CellRow, Observation
from suite.report.site.facts import Facts
from suite.report.site.page import Page

# The packages in columns; the others are folded.
MAIN = ("jax", "jaxlib", "equinox", "diffrax")


@dataclass(frozen=True)
class CellsView:
    """The view of cells.html: the stacks in groups, and the unplanned ones with their observations.

    `elsewhere` has for a stack the equal stacks in which some of its cases ran, with the number of cases.
    """

    groups: list[tuple[str, list[CellRow]]]
    elsewhere: dict[str, dict[str, int]]
    own: list[tuple[CellRow, list[Observation], int]]
    main = MAIN
    replay = summary.REPLAY.partition(" -- ")[0]


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the page of all stacks."""
    groups: dict[str, list[CellRow]] = {"The line": facts.line} if facts.line else {}
    for cell in facts.report.cells:
        if cell.kind != "line":
            groups.setdefault(cell.asks[0].question if cell.asks else "Unplanned", []).append(cell)
    title = "Stacks: everything that was run"
    yield Page("cells.html", "cells.html.jinja", title, CellsView(list(groups.items()), _elsewhere(facts), facts.own))


def _elsewhere(facts: Facts) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for observation in facts.report.observations:
        if observation.ran_in:
            found.setdefault(observation.cell, Counter())[observation.ran_in] += 1
    return {cell: dict(of.most_common()) for cell, of in found.items()}
