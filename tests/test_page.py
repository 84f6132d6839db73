"""The page, in a real browser: Chromium, headless, from a file, with nothing else to reach."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from suite.files import REPORTS, read
from suite.report.model import Report
from suite.report.write import write

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# A closed network refuses what a browser asks for by itself; these keep it from asking.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium: skipped where a user has none, an error where CI has none."""
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("CI is set, and there is no Chromium: .ci/run installs one")
        pytest.skip("no Chromium on this machine: the page is not tested")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture(scope="module")
def published() -> Report:
    """The report in the tree: real observations."""
    return read(Report, REPORTS / "published" / "compat.json")


@pytest.fixture
def page(browser: Browser, published: Report, tmp_path: Path) -> Iterator[Page]:
    """The page made from the published report, opened from its file; what it complains of or asks for is a failure."""
    write(published, tmp_path)
    opened = browser.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    opened.goto((tmp_path / "index.html").as_uri())
    yield opened
    assert complaints == []
    opened.close()


def test_every_case_has_a_word_for_every_cell(page: Page, published: Report) -> None:
    """A verdict is written out in every cell of every grid: colour alone carries nothing."""
    words = page.locator("table.grid td .word").all_inner_texts()
    line = {cell.id for cell in published.cells if cell.kind == "line"}
    verdicts = [
        each.verdict
        for issue in published.issues
        for case in issue.cases
        for each in published.observations
        if (each.issue, each.case) == (issue.id, case.id) and each.cell in line
    ]
    compared = {cell.id: cell.declared_observed or "not tried" for cell in published.cells}
    assert words[: len(verdicts)] == verdicts
    stacks = [compared[cell] for row in published.stacks for cell in row.cells]
    assert sorted(words[len(verdicts) :]) == sorted(stacks)


def test_the_counts_are_on_the_first_screen(page: Page, published: Report) -> None:
    """The coverage line is visible without scrolling on an ordinary screen."""
    counts = page.locator(".counts")
    box = counts.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 720
    assert f"{published.coverage.planned} observations planned" in counts.inner_text()


def test_every_link_within_the_page_leads_somewhere(page: Page) -> None:
    """Each fragment that the page links to is an element of it."""
    targets = [link.get_attribute("href") or "" for link in page.locator("a[href^='#']").all()]
    assert targets
    assert [target for target in targets if page.locator(f"[id='{target[1:]}']").count() != 1] == []


def test_a_case_opens_to_what_was_seen(page: Page, published: Report) -> None:
    """Behind a case lie its observations, one row a cell, with the detail."""
    issue = published.issues[-1]
    details = page.locator(f"details[id='{issue.id}/{issue.cases[0].id}']")
    assert not details.locator("table").is_visible()
    details.locator("summary").click()
    assert details.locator("table").is_visible()
    seen = [each for each in published.observations if (each.issue, each.case) == (issue.id, issue.cases[0].id)]
    assert details.locator("tbody tr").count() == len(seen)


def test_the_page_fits_a_phone(page: Page) -> None:
    """On 360 pixels nothing but the tables' own regions scrolls sideways."""
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_tables_have_headers_that_name_their_rows_and_columns(page: Page) -> None:
    """A screen reader can say which case and which release a verdict belongs to."""
    for table in page.locator("table.grid").all():
        assert table.locator("thead th[scope=col]").count() == table.locator("thead th").count() > 1
        assert table.locator("tbody th[scope=row]").count() == table.locator("tbody tr").count() > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_both_themes(page: Page, scheme: str) -> None:
    """Every verdict's cell has at least the contrast that WCAG asks of text, 4.5 to 1, in light and in dark."""
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    ratios = page.evaluate(
        """() => [...document.querySelectorAll('header span, table.grid td')].map(cell => {
            const parse = colour => {
                const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
                canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
                return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
            };
            const luminance = colour => parse(colour).map(v => v / 255)
                .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
                .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
            const style = getComputedStyle(cell);
            const [a, b] = [luminance(style.color), luminance(style.backgroundColor)].sort((x, y) => y - x);
            return (a + 0.05) / (b + 0.05);
        })"""
    )
    assert ratios
    assert min(ratios) >= 4.5
