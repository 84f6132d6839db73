"""A catalogue of the size that is meant: a hundred issues with three hundred cases, over all cells of the tree."""

from __future__ import annotations

from io import StringIO
from itertools import cycle, islice
from math import ceil

import pytest
from rich.console import Console

from suite.files import REPORTS
from suite.report import stored
from suite.report.derive import coverage
from suite.report.formats import terminal
from suite.report.formats.compat_md import compat_md
from suite.report.model import CaseRow, IssueRow, Observation, Report

ISSUES = 100
CELLS = 250


def grown(of: Report) -> Report:
    """`of` with its cases over and over, in as many issues as are meant: of each three, one needs a library.

    So all texts, costs and verdicts are as a run gives them, and each case is in the cells that its needs bring it to.
    """
    cases = [(issue, case) for issue in of.issues if not issue.row_zero for case in issue.cases]
    with_library = cycle(each for each in cases if each[1].needs != ["jax"])
    alone = cycle(each for each in cases if each[1].needs == ["jax"])
    issues: list[IssueRow] = []
    named: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for number in range(ISSUES):
        chosen = [*islice(alone, 2), next(with_library)]
        name = f"{number:03}{chosen[0][0].id[3:]}"
        rows: list[CaseRow] = []
        for place, (issue, case) in enumerate(chosen):
            rows.append(case.model_copy(update={"id": f"{place}{case.id[1:]}"}))
            named.setdefault((issue.id, case.id), []).append((name, rows[-1].id))
        issues.append(chosen[0][0].model_copy(update={"id": name, "cases": rows, "row_zero": False}))
    observations: list[Observation] = []
    for each in of.observations:
        for issue_id, case_id in named.get((each.issue, each.case), []):
            observations.append(each.model_copy(update={"issue": issue_id, "case": case_id}))
    counted = coverage(observations)
    return of.model_copy(update={"issues": issues, "observations": observations, "coverage": counted})


def thinned(of: Report, count: int) -> Report:
    """`of` with so many of its cells, picked evenly."""
    cells = [of.cells[number * len(of.cells) // count] for number in range(count)]
    kept = {cell.id for cell in cells}

    def seen(case: CaseRow) -> CaseRow:
        turns = [turn for turn in case.turns if {turn.before, turn.after} <= kept]
        return case.model_copy(update={"turns": turns})

    issues = [each.model_copy(update={"cases": list(map(seen, each.cases))}) for each in of.issues]
    stacks = [row.model_copy(update={"cells": [each for each in row.cells if each in kept]}) for row in of.stacks]
    observations = [each for each in of.observations if each.cell in kept]
    update = {"cells": cells, "issues": issues, "stacks": stacks, "observations": observations}
    return of.model_copy(update={**update, "planned_cells": [cell.id for cell in cells]})


@pytest.fixture(scope="module")
def large(published: Report) -> Report:
    """A report of the size that is meant."""
    return thinned(grown(published), CELLS)


def test_a_large_report_is_small(large: Report) -> None:
    """compat.json has at most 3 MB for a hundred issues with three hundred cases on 250 cells."""
    assert (CELLS, 3 * ISSUES) == (len(large.cells), sum(len(issue.cases) for issue in large.issues))
    assert len(stored.texts(large)["compat.json"].encode()) <= 3_000_000


def test_the_published_report_is_small() -> None:
    """The published compat.json has at most 3 MB, and no file of observations more than 1 MB."""
    folder = REPORTS / "published"

    assert (folder / "compat.json").stat().st_size <= 3_000_000
    assert max(path.stat().st_size for path in (folder / "observations").iterdir()) <= 1_000_000


def test_its_markdown_is_short(large: Report) -> None:
    """COMPAT.md takes no more than 300 bytes for each issue, all else that is in it among them."""
    assert len(compat_md(large).encode()) <= 300 * ISSUES


def test_it_is_a_screen(large: Report) -> None:
    """In a terminal of 100 columns a report on which all is as expected takes no more than forty lines."""
    screen = StringIO()

    terminal.show(large, Console(file=screen, width=100))

    assert sum(max(1, ceil(len(line) / 100)) for line in screen.getvalue().splitlines()) <= 40


def test_no_page_is_large() -> None:
    """No page of the published report has more than 400 kB, and the front page at most 200 kB."""
    folder = REPORTS / "published"
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in folder.rglob("*.html")}

    assert len(list((folder / "issues").glob("*.html"))) > ISSUES
    assert {} == {path: size for path, size in sizes.items() if size > 400_000}
    assert sizes["index.html"] <= 200_000
