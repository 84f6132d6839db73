"""Tests of the pages of releases, metadata, timings and programs in a real browser: accessibility and phones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from suite.programs import model, texts
from suite.programs.targets import TARGETS
from suite.report.model import Report
from suite.report.site import timings
from suite.report.site.build import site
from suite.report.site.timings import TimedMachine
from suite.timings.results import COMPARED, NOISE, RESULTS
from tests.report.site_browser import UNFOLD, WIDTH, put, violations

PAGES = (
    *("releases/jax-0.7.0.html", "releases/jax-0.4.32.html", "releases/jax-0.12.0.1.html"),
    *("metadata.html", "timings.html", "timings/cpu-published.html"),
    *(
        "programs.html",
        "programs/h100-jax-0.11.1.html",
        "issues/compute-on-aot.html",
        "issues/names-gone-from-jax.html",
    ),
)
# Versions that break across lines, by text node.
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
    """Write the site of a report on real stacks, with real timings, and programs for an H100 of two releases."""
    (machine, *_) = timings.machines(RESULTS, NOISE, COMPARED)
    found = model.load(TARGETS["h100"])
    # With every release axe would check thousands of equal rows.
    two = [each for each in found.releases if each.cell in ("jax-0.11.0", "jax-0.11.1")]
    compiled = texts.with_diffs(found.model_copy(update={"releases": two}))
    return put(site(known, (small(machine),), (compiled,)), tmp_path_factory.mktemp("site"))


def small(machine: TimedMachine) -> TimedMachine:
    """Return a machine with some of its charts, because checking every number of all takes a minute."""
    (published, *_) = machine.sections
    charts = tuple(chart for chart in published.charts if chart.shifts)[:3]
    return replace(machine, name="cpu", sections=(replace(published, charts=charts),), counts=machine.counts[:3])


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_read_by_everybody(opened: Page, complaints: list[str], folder: Path, name: str) -> None:
    """Pages with everything open have no violations; at 360 pixels only regions scroll and no version breaks."""
    complaints.clear()
    opened.set_viewport_size({"width": 1000, "height": 720})
    opened.goto((folder / name).as_uri())
    opened.evaluate(UNFOLD)
    assert [] == violations(opened)
    opened.set_viewport_size({"width": 360, "height": 720})

    assert opened.evaluate(WIDTH) <= 360
    assert [] == opened.evaluate(BROKEN)
    assert [] == complaints
