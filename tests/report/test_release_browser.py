"""The pages of releases, metadata and timings in a real browser: for a screen reader, on a phone, and on paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from suite.report.model import Report
from suite.report.site import timings
from suite.report.site.build import site
from suite.report.site.timings import Machine
from suite.timings.results import COMPARED, NOISE, RESULTS
from tests.report.site_browser import UNFOLD, WIDTH, put, tab, violations
from tests.report.test_report import EMPTY

PAGES = (
    *("releases/jax-0.7.0.html", "releases/jax-0.4.32.html", "releases/jax-0.12.0.1.html"),
    *("metadata.html", "timings.html", "timings/cpu-published.html"),
)
# Text nodes with a version that does not lie on one line: each with the version.
BROKEN = r"""() => {
  const found = [], walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (node.parentElement.closest("pre, .sha, .hidden, svg")) continue;
    for (const each of node.data.matchAll(/\d+(\.\d+)+/g)) {
      const range = document.createRange();
      range.setStart(node, each.index);
      range.setEnd(node, each.index + each[0].length);
      if (new Set([...range.getClientRects()].map(box => box.top)).size > 1) found.push(each[0] + " in " + node.data);
    }
  }
  return found;
}"""


@pytest.fixture(scope="module")
def folder(known: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a report on some real stacks, with the real timings of some benchmarks."""
    (machine, *_) = timings.machines(RESULTS, NOISE, COMPARED)
    return put(site(known, (small(machine),)), tmp_path_factory.mktemp("site"))


def small(machine: Machine) -> Machine:
    """Some charts of a machine: to look at every number of all of them takes a minute."""
    (published, *_) = machine.sections
    charts = tuple(chart for chart in published.charts if chart.shifts)[:3]
    return replace(machine, name="cpu", sections=(replace(published, charts=charts),), counts=machine.counts[:3])


@pytest.fixture(scope="module")
def page(browser: Browser, complaints: list[str]) -> Page:
    """A tab for all the pages."""
    return tab(browser, complaints)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_read_by_everybody(page: Page, complaints: list[str], folder: Path, name: str) -> None:
    """All of it open, axe finds nothing by day and night; on 360 pixels only regions scroll, and no version breaks."""
    complaints.clear()
    page.set_viewport_size({"width": 1000, "height": 720})
    page.emulate_media(color_scheme="light")
    page.goto((folder / name).as_uri())
    page.evaluate(UNFOLD)
    found = {"light": violations(page)}
    page.emulate_media(color_scheme="dark")
    found["dark"] = violations(page, runOnly=["color-contrast"])
    page.set_viewport_size({"width": 360, "height": 720})

    assert {"light": [], "dark": []} == found
    assert page.evaluate(WIDTH) <= 360
    assert [] == page.evaluate(BROKEN)
    assert [] == complaints


def test_every_link_leads_to_a_place(page: Page, folder: Path) -> None:
    """What these pages link to within the site is a file of it, and on these pages an element."""
    pages = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.html")}
    mine = {
        path for path in pages if path.parent.name in ("releases", "timings") or path.stem in ("metadata", "timings")
    }
    # Other pages are other tests': whether a link of theirs leads to a place is known where they are made.
    elsewhere = {
        "issues",
        "cells.html",
        "stack.html",
        "matrix.html",
        "tags.html",
        "findings.html",
        "feed.xml",
        "timings.json",
    }
    wrong = []
    for path in sorted(mine):
        page.goto(path.as_uri())
        for target in page.evaluate("[...document.querySelectorAll('a')].map(each => each.getAttribute('href'))"):
            name, _, fragment = target.partition("#")
            if target.startswith("https://"):
                continue
            to = (path.parent / name).resolve() if name else path
            if elsewhere & set(to.relative_to(folder.resolve()).parts):
                continue
            if not to.exists() or (fragment and f'id="{fragment}"' not in pages.get(to, "")):
                wrong.append(f"{path.name}: {target}")

    assert [] == wrong


@pytest.mark.parametrize("name", ["metadata.html", "timings.html"])
def test_an_empty_report_has_its_pages(page: Page, complaints: list[str], name: str, tmp_path: Path) -> None:
    """A report of nothing has pages that say so, and nothing is wrong with them."""
    complaints.clear()
    put(site(EMPTY, ()), tmp_path)
    page.goto((tmp_path / name).as_uri())

    assert [] == violations(page)
    assert [] == complaints
