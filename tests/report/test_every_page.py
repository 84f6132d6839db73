"""Tests of every kind of page in a real browser: accessibility and phones."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from jax_stack_compat.judge.verdict_table import UNDECIDED, VERDICTS, Verdict
from laboratory.programs import model, texts
from laboratory.programs.targets import TARGETS
from laboratory.report.compare import since
from laboratory.report.model import Observation, Report
from laboratory.report.site import timings
from laboratory.report.site.build import site
from laboratory.timings.results import COMPARED, NOISE, RESULTS
from tests.report.site_browser import UNFOLD, WIDTH, afresh, put, violations
from tests.report.test_numbers import EVERY
from tests.worlds import as_known, few, otherwise

# Each kind of page, and the sections that it has here.
PAGES: dict[str, set[str]] = {
    "index.html": {"bites"},
    "tags.html": set(),
    "issues/compute-on-aot.html#decorator-outside@jax-0.6.0": {"_instead", "_cases", "_upstream", "_devices"},
    "matrix.html": set(),
    "cells.html": {"own"},
    "findings.html": {"_workaround-fails", "_latent", "unexpected", "undecided"},
    "stack.html#jax%200.5.3..jax%200.6.0": set(),
    "releases/jax-0.7.0.html": {"turned", "numbers", "stacks"},
    "releases/jax-0.4.32.html": set(),
    "numbers.html": {"differ", "end", "changed", "rest"},
    "timings.html": set(),
    "timings/cpu-published.html": set(),
    "programs.html": set(),
    "programs/h100-jax-0.11.1.html": set(),
}
# Finds versions that break across lines; the id of a stack may break.
BROKEN = r"""() => {
  const found = [], walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (node.parentElement.closest("pre, .sha, .hidden, svg") || /\d\+\w/.test(node.data)) continue;
    for (const each of node.data.matchAll(/\d+(\.\d+)+/g)) {
      const range = document.createRange();
      range.setStart(node, each.index);
      range.setEnd(node, each.index + each[0].length);
      if (new Set([...range.getClientRects()].map(box => box.top)).size > 1) found.push(each[0] + " in " + node.data);
    }
  }
  return found;
}"""


def of_all_sorts() -> Report:
    """Return a small report with every section, every verdict, most of them unexpected, and an unplanned stack."""
    wanted = ("jax-0.4.32", "jax-0.5.3", "jax-0.6.0", "jax-0.7.0")
    made = as_known([cell for cell in few() if cell.id in wanted or "+" in cell.id])
    verdicts: Iterator[Verdict] = cycle(VERDICTS)

    def odd(seen: Observation) -> Observation:
        verdict = next(verdicts)
        nothing = {"agreement": "undecided", "behaviour": None, "workaround": "none"}
        changed = {"agreement": "changed", "workaround": "fails", "workaround_expected": False}
        return seen.model_copy(update={"verdict": verdict, **(nothing if verdict in UNDECIDED else changed)})

    issues = []
    for issue in (each for each in made.issues if each.id in ("stack-smoke", "compute-on-aot")):
        # Highlighted source costs axe as much per word as a table per row.
        cases = [
            case.model_copy(update={"source": 'def f():\n    return "s", 1  # Why.\n'}) for case in issue.cases[:1]
        ]
        cases += [case.model_copy(update={"source": ""}) for case in issue.cases[1:]]
        issues.append(issue.model_copy(update={"cases": cases, "shared_source": "import jax\n"}))
    seen = [each if each.issue == "stack-smoke" else odd(each) for each in made.observations]
    seen = [each for each in seen if each.issue in ("stack-smoke", "compute-on-aot")]
    cells = [*made.cells[:-1], made.cells[-1].model_copy(update={"asks": []})]
    now = made.model_copy(update={"issues": issues, "observations": seen, "cells": cells})
    return now.model_copy(update={"since": since(otherwise(now), now)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the site of that report, with real timings, programs for an H100 of two releases, and numbers."""
    (machine, *_) = timings.machines(RESULTS, NOISE, COMPARED)
    # With every chart axe would check numbers for a minute.
    (section, *_) = machine.sections
    charts = tuple(chart for chart in section.charts if chart.shifts)[:3]
    machine = replace(machine, name="cpu", sections=(replace(section, charts=charts),), counts=machine.counts[:3])
    found = model.load(TARGETS["h100"])
    # With every release axe would check thousands of equal rows.
    two = [each for each in found.releases if each.cell in ("jax-0.11.0", "jax-0.11.1")]
    compiled = texts.with_diffs(found.model_copy(update={"releases": two}))
    return put(site(of_all_sorts(), (machine,), (compiled,), EVERY), tmp_path_factory.mktemp("site"))


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.usefixtures("_no_complaints")
def test_a_page_is_read_by_everybody(opened: Page, folder: Path, name: str) -> None:
    """With everything open axe finds no violation; at 360 pixels only regions scroll, and no version breaks."""
    page = afresh(opened, f"{folder.as_uri()}/{name}")
    if name == "index.html":
        page.fill("#search", "jax.vmap")
        expect(page.locator("#results")).not_to_be_empty()
    page.evaluate(UNFOLD)
    page.evaluate("for (const each of document.querySelectorAll('.fold input')) each.checked = true")

    assert PAGES[name] <= {each.get_attribute("id") for each in page.locator("section > h2").all()}
    assert [] == violations(page)
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate(WIDTH) <= 360
    assert [] == page.evaluate(BROKEN)
