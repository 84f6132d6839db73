"""What the page computes of a report, without a browser: rows, runs, timelines, steps, grids, findings, source."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from suite.judge.table import TABLE
from suite.report.model import CellRow, Report
from suite.report.site import page
from suite.report.site.embed import verdict_styles
from suite.report.site.page import View
from suite.report.site.timings import Series
from tests.report.test_report import cell_row, report


def cells(*versions: str) -> list[CellRow]:
    """The line's cells of these releases of jax."""
    return [CellRow.model_validate(cell_row(f"jax-{version}")) for version in versions]


def test_the_picker_starts_with_a_year() -> None:
    """Before anybody picks, the newest stack that was tried is compared with that of a year before."""
    days = (date(2025, 1, 1), date(2025, 6, 1), date(2025, 7, 1), date(2026, 6, 30), date(2026, 7, 1))
    line = [
        cell.model_copy(update={"released_on": day, "declared_observed": "supported" if day < days[4] else None})
        for cell, day in zip(cells("0.6.0", "0.7.0", "0.8.0", "0.9.0", "0.10.0"), days, strict=True)
    ]

    assert ("jax-0.7.0", "jax-0.9.0") == View(report().model_copy(update={"cells": line})).year


# Stacks


def test_a_grid_has_a_row_for_what_is_held(known: Report) -> None:
    """Rows that ask the same share the columns of all their versions; where a row has no stack there is no mark."""
    grid = View(known).grids[0]

    assert "I keep my libraries and upgrade jax" == grid.question
    assert ["0.4.35", "0.4.36", "0.4.37", "0.4.38", "0.7.0"] == grid.versions
    _, marks = grid.rows[0]
    assert ["supported", "latent", "latent", "latent", "latent"] == [mark.told for mark in marks if mark]


# Source, style and data


@pytest.mark.parametrize(
    ("method", "device"), [("time_execute", True), ("track_device_busy", True), ("time_dispatch", False)]
)
@pytest.mark.parametrize("variant", ["", "(512)"])
def test_a_line_says_whose_time_it_is(method: str, variant: str, device: bool) -> None:
    """The device's time is told from the host's by the phase, of a workload with sizes too."""
    assert device == Series("any", f"basics.Matmul.{method}{variant}", (), frozenset(), None).device


def test_every_verdict_has_a_colour_and_is_listed_once() -> None:
    """The page's style defines what the verdicts' table refers to; neither it nor a script lists them again."""
    folder = Path(page.__file__).parent / "templates" / "page"
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in ("page.css", "page.js")}
    for each in TABLE:
        assert f".{each.name} {{ --b: var(--{each.css}); --i: var(--{each.css}-ink); }}" in verdict_styles()
        assert f"--{each.css}: " in texts["page.css"]
        assert f"--{each.css}-ink: " in texts["page.css"]
    for name, text in texts.items():
        mark = r"\.{}\b" if name.endswith(".css") else r"[\"'`]{}[\"'`]"
        found = [each.name for each in TABLE if re.search(mark.format(each.name), text)]
        assert set(found) <= {"documented", "absent", "blocked"}, name
