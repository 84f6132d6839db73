"""The pages of device programs in a real browser: for a screen reader, by night, and on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.programs import model, session, texts
from suite.programs.targets import TARGETS
from suite.report.site.build import site
from suite.run import catalogue
from tests.report.site_browser import UNFOLD, WIDTH, chromium, put, tab, violations
from tests.worlds import as_known

PAGES = ("programs.html", "programs/h100-jax-0.11.1.html", "issues/compute-on-aot.html")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with the programs that are kept for an H100, of two releases that differ, and one issue."""
    issues = [each for each in catalogue.entries() if each.issue.id == "compute-on-aot"]
    report = as_known([session.cell("jax-0.11.0"), session.cell("jax-0.11.1")], issues)
    kept = texts.with_diffs(model.load(TARGETS["h100"]))
    # Of every release axe would look at thousands of rows, all of a kind.
    two = [each for each in kept.releases if each.cell in ("jax-0.11.0", "jax-0.11.1")]
    compiled = kept.model_copy(update={"releases": two})
    return put(site(report, (), (compiled,)), tmp_path_factory.mktemp("site"))


def test_the_pages_are_read_by_everybody(folder: Path) -> None:
    """All of it open, axe finds nothing by day and night; on 360 pixels only regions scroll, and nothing is fetched."""
    complaints: list[str] = []
    with chromium() as browser:
        page = tab(browser, complaints)
        for name in PAGES:
            page.set_viewport_size({"width": 1000, "height": 720})
            page.emulate_media(color_scheme="light")
            page.goto((folder / name).as_uri())
            page.evaluate(UNFOLD)
            found = {"light": violations(page)}
            page.emulate_media(color_scheme="dark")
            found["dark"] = violations(page, runOnly=["color-contrast"])
            page.set_viewport_size({"width": 360, "height": 720})

            assert {"light": [], "dark": []} == found, name
            assert page.evaluate(WIDTH) <= 360, name
    assert [] == complaints
