"""The page, in a real browser: Chromium, headless, from a file, with nothing else to reach."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from suite.judge.table import GLYPHS, UNDECIDED, VERDICTS, Verdict
from suite.report import write as writing
from suite.report.changes import since
from suite.report.model import Observation, Report
from suite.report.site.page import View
from suite.report.write import write
from suite.timings import release_line
from suite.timings.results import RESULTS
from tests.report.test_report import EMPTY, observation, report
from tests.worlds import as_known, few, otherwise

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# A closed network refuses what a browser asks for by itself; these keep it from asking.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
NASTY = "\x1b[31mred\x1b[0m \u202e\u2066turned\u2069 </script><script>alert(1)</script><img src=x onerror=alert(1)>"
UNFOLD = "for (const each of document.querySelectorAll('details, .fold input')) each.open = each.checked = true"
WIDTH = "document.documentElement.scrollWidth"

Open = Callable[..., Page]


@pytest.fixture(scope="module", autouse=True)
def _few_timings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Real timings, of three releases and some workloads: a browser has to draw them, and axe to read them."""
    folder = tmp_path_factory.mktemp("results")
    machine = next(RESULTS.glob("*/machine.json")).parent
    commits = release_line.hashes(release_line.commits())
    wanted = [f"{commits[cell][:8]}-*.json" for cell in ("jax-0.4.31", "jax-0.4.33", "jax-0.12.0")]
    (folder / machine.name).mkdir()
    for path in (path for pattern in ("machine.json", *wanted) for path in machine.glob(pattern)):
        shutil.copy(path, folder / machine.name)
    listed = json.loads((RESULTS / "benchmarks.json").read_text(encoding="utf-8"))
    some = {name: each for name, each in listed.items() if re.match(r"version|basics\.(Scan|Matmul|Counts)\.", name)}
    (folder / "benchmarks.json").write_text(json.dumps(some), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writing, "RESULTS", folder)
        yield


@pytest.fixture(scope="module")
def site(known: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a report on some real stacks, with what it says otherwise than the one before."""
    folder = tmp_path_factory.mktemp("site")
    write(known, folder)
    return folder / "index.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium: skipped where a user has none, an error where CI has none."""
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("CI is set, and there is no Chromium: .ci/run installs one")
        pytest.skip("no Chromium on this machine: the page is not tested")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def complaints() -> list[str]:
    """What the pages complained of, and what they asked the network for."""
    return []


@pytest.fixture(autouse=True)
def _no_complaints(complaints: list[str]) -> Iterator[None]:
    complaints.clear()
    yield
    assert [] == complaints


@pytest.fixture(scope="module")
def page(browser: Browser, complaints: list[str], site: Path) -> Page:
    """The page, loaded once, for the tests that only read it or ask its picker."""
    opened = tab(browser, complaints)
    opened.goto(site.as_uri())
    return opened


@pytest.fixture(scope="module")
def visit(browser: Browser, complaints: list[str], site: Path) -> Open:
    """Load the page, or another one, anew, at an address within it: in a tab that is there, in a fifth of the time."""
    opened = tab(browser, complaints)

    def visited(address: str = "", path: Path = site, width: int = 1280) -> Page:
        opened.set_viewport_size({"width": width, "height": 720})
        opened.emulate_media(media="null", color_scheme="null")
        # From there every address is a page to load, and none a place to scroll to.
        opened.goto("about:blank")
        opened.goto(path.as_uri() + address)
        return opened

    return visited


def tab(browser: Browser, complaints: list[str], **options: Any) -> Page:
    """A tab that is heard, in a window of its own: one behind another is drawn once a second."""
    context = browser.new_context(**options)
    # A machine that runs the suite meanwhile is slow, and that is no fault of the page.
    context.set_default_timeout(120_000)
    context.on("console", lambda message: complaints.append(message.text))
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    context.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    return context.new_page()


def violations(page: Page, **options: Any) -> list[str]:
    """What axe finds wrong, with the first element of each."""
    found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]


# What is on it


def test_every_cell_has_a_word_and_a_glyph(page: Page, known: Report) -> None:
    """Every observation of the line stands in the matrix as a glyph and a word: colour alone carries nothing."""
    of_line = {cell.id for cell in known.cells if cell.kind == "line"}
    shown: dict[str, str] = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#grid td[id]')].map(e => [e.id, e.textContent.trim()]))"
    )
    assert {
        f"cell-{each.cell}/{each.issue}/{each.case}": f"{GLYPHS[each.verdict]}{each.verdict}"
        for each in known.observations
        if each.cell in of_line
    } == shown
    assert {f"{GLYPHS[each]} {each}" for each in VERDICTS} <= set(page.locator("#legend .v").all_inner_texts())


def test_the_first_screen_has_the_counts_and_what_changed(visit: Open, known: Report) -> None:
    """Coverage, the questions and the worst changes are seen at once; these lead to their cases and their cells."""
    page = visit()

    assert f"{known.coverage.planned} observations planned" in page.locator(".counts").inner_text()
    for what in (".counts", ".doors"):
        box = page.locator(what).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 720
    assert known.since is not None
    shown = page.locator(".changes > ul > li")
    assert ["regressed"] * 8 == [each.partition(" ")[0] for each in shown.all_inner_texts()]
    folded = page.locator(".changes details li")
    assert len(known.since.changes) - 8 == folded.count() > 8
    expect(folded.first).to_be_hidden()
    first = known.since.changes[0]
    shown.first.locator("a").first.click()
    expect(page.locator(f"[id='{first.cases[0]}']")).to_be_in_viewport()
    shown.first.get_by_role("link", name=first.first).click()
    assert first.first in page.locator("#panel").inner_text()


def test_every_link_within_the_page_leads_somewhere(page: Page) -> None:
    """Each fragment that the page links to is an element of it."""
    lost = page.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href').slice(1))"
        ".filter(id => !document.getElementById(id))"
    )
    assert [] == lost
    assert page.locator("a[href^='#']").count() > 300


def test_tables_have_headers_that_name_their_rows_and_columns(page: Page) -> None:
    """A screen reader can say which case, which release and which minor release a verdict belongs to."""
    for table in page.locator("table.grid").all():
        assert table.locator("thead th[scope]").count() == table.locator("thead th").count() > 1
        assert table.locator("tbody th[scope]").count() == table.locator("tbody tr").count() > 0
    groups = page.locator("#grid th[scope=colgroup]")
    assert ["jax 0.4", "0.5", "0.6", "0.7", "0.8", "0.12"] == groups.all_inner_texts()


def test_the_three_questions_are_answered(page: Page) -> None:
    """The page says who refused first, that diffrax 0.6.0 does not go with jax 0.4.36, and what to write instead."""
    refused = page.locator("section[aria-labelledby='wraps-lower-bypass/jit'] ol").inner_text()
    assert "attribute-error 0.6.0 on" in refused
    row = page.locator(".stack tbody tr").filter(has_text="equinox 0.11.8, diffrax 0.6.0")
    versions = page.locator(".stack").first.locator("thead .release").all_inner_texts()
    assert "✗latent" == row.locator("td").nth(versions.index("0.4.36")).text_content()
    case = page.locator("section[aria-labelledby='tracer-hash-while-loop/while-loop-callable']").inner_text()
    assert "0.4.36 on" in case
    assert "holds 0.4.31–0.12.0.1" in case
    instead = page.locator("article[aria-labelledby=tracer-hash-while-loop] > .workaround").nth(1)
    assert "lambda c: f(c)" in instead.inner_text()


# What it does


def test_the_matrix_can_be_filtered(visit: Open, known: Report) -> None:
    """Package, kind, verdict and releases narrow the matrix down; the address says how, and restores it."""
    page = visit()
    cases = page.locator("#grid tr.case:visible")
    assert 0 == cases.count()

    page.select_option("#f-package", "diffrax")
    needing = [case.id for issue in known.issues for case in issue.cases if "diffrax" in case.needs]
    assert needing == cases.locator("th").all_inner_texts()
    page.select_option("#f-kind", "crash")
    page.select_option("#f-since", "0.5")
    page.check("#f-jax")
    assert ["0.5.3", "0.6.0", "0.7.0", "0.8.0", "0.12.0.1"] == page.locator("#grid .release:visible").all_inner_texts()
    told = page.locator("#f-count").inner_text()
    assert "3 of 30 cases, 5 of 11 releases" == told

    visit(page.url[page.url.index("#") :])
    assert told == page.locator("#f-count").inner_text()
    page.select_option("#f-verdict", "guarded")
    assert 0 == cases.count()


def test_a_cell_opens_what_was_seen(visit: Open) -> None:
    """A click on a cell tells behaviour, reason, expected, attempts, packages and the replay; Escape closes it."""
    page = visit("#matrix")
    page.locator("tbody[data-issue=wraps-lower-bypass] .fold input").check()
    page.locator("[id='cell-jax-0.5.3/wraps-lower-bypass/jit'] a").click()

    panel = page.locator("#panel")
    said = panel.inner_text()
    for what in ("bypassed", "run.bypassed", "as-expected", "attempts\n1", "jaxlib 0.5.3", "saw bypassed"):
        assert what in said
    assert 'nox -s "cell(jax-0.5.3)" report -- --issue wraps-lower-bypass --fresh' in said
    assert page.url.endswith("#cell-jax-0.5.3/wraps-lower-bypass/jit")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert page.evaluate("document.activeElement.closest('td').id") == "cell-jax-0.5.3/wraps-lower-bypass/jit"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.closest('td').id") == "cell-jax-0.6.0/wraps-lower-bypass/jit"


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("#cell-jax-0.6.0/wraps-lower-bypass/jit", "attribute-error"),
        ("#cell-jax-0.4.36+equinox-0.11.8+diffrax-0.6.0/stack-smoke/train-and-solve", "concrete-array-removed"),
        ("#cell-jax-0.4.36+equinox-0.11.8+diffrax-0.6.0", "latent"),
        ("#cell-jax-0.4.32/wraps-lower-bypass/jit", "plan.yanked"),
    ],
)
def test_a_permalink_opens_its_cell(visit: Open, address: str, told: str) -> None:
    """An address of a cell, of the line or of an arm, shows what was seen there, even where its row was folded."""
    page = visit(address)

    assert told in page.locator("#panel").inner_text()
    if "+" not in address:
        expect(page.locator(f"[id='{address[1:]}']")).to_be_in_viewport()


def test_a_workaround_stands_where_it_helps(page: Page, known: Report) -> None:
    """It is told of an issue that it is for; what never needed it has none."""
    view = View(known)
    for issue in known.issues:
        shown = page.locator(f"article[aria-labelledby={issue.id}] > .workaround")
        assert len(view.workarounds(issue)) == shown.count()


def test_a_stack_of_ones_own_is_told(visit: Open, tmp_path: Path) -> None:
    """A stack that nobody planned stands in a section of its own, the worst first."""
    seen = [observation(case="bad"), observation(case="good", verdict="clear", behaviour="good", reason=None)]
    of = report(*seen, observation(cell="jax-0.5.0", case="bad", verdict="clear", behaviour="good", reason=None))
    own = of.cells[0].model_copy(update={"kind": "arm"})
    write(of.model_copy(update={"cells": [of.cells[1], own]}), tmp_path)

    page = visit("", tmp_path / "index.html")
    table = page.locator("#own ~ .scroll").inner_text()
    assert "jax-0.4.30\t✗ bad some-issue/bad\t1 case" in re.sub(r"\s*\t\s*", "\t", table)


# Where it is read


def test_without_javascript_it_answers(browser: Browser, site: Path, complaints: list[str]) -> None:
    """With scripts off there is no picker; the matrix unfolds, cells lead to cases, and a table has the steps."""
    page = tab(browser, complaints, java_script_enabled=False)
    page.goto(site.as_uri())

    expect(page.locator("#picker")).to_be_hidden()
    page.locator("tbody[data-issue=wraps-lower-bypass] .fold input").check()
    page.locator("[id='cell-jax-0.6.0/wraps-lower-bypass/jit'] a").click()
    assert page.url.endswith("#wraps-lower-bypass/jit")
    expect(page.locator("[id='wraps-lower-bypass/jit']")).to_be_in_viewport()
    page.locator("#steps > summary").click()
    step = page.locator(".steps tr").filter(has=page.locator("th a", has_text="jax-0.6.0"))
    assert "wraps-lower-bypass/jit ✗ bypassed → ◐ attribute-error" in step.inner_text()
    page.locator("[id='cell-jax-0.6.0'] summary").click()
    assert "jaxlib 0.6.0" in page.locator("[id='cell-jax-0.6.0'] details").inner_text()


def test_the_page_fits_a_phone(visit: Open) -> None:
    """On 360 pixels nothing but the tables' own regions scrolls sideways, whatever is open."""
    page = visit(width=360)
    assert page.evaluate(WIDTH) <= 360

    page.evaluate("location.hash = 'cell-jax-0.6.0/wraps-lower-bypass/jit'")
    expect(page.locator("#panel")).to_be_visible()
    page.evaluate(UNFOLD)
    assert page.evaluate(WIDTH) <= 360


def test_the_page_prints(visit: Open) -> None:
    """It prints to PDF, with the matrix unfolded and as wide as the paper."""
    page = visit(width=1030)

    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.locator("#grid tr.case").first.is_visible()
    assert page.evaluate(WIDTH) <= 1030


def of_all_sorts() -> Report:
    """A small report with every section and every verdict, most of them odd, and a stack that was nobody's plan."""
    wanted = ("jax-0.5.3", "jax-0.6.0", "jax-0.7.0")
    made = as_known([cell for cell in few() if cell.id in wanted or "+" in cell.id])
    verdicts: Iterator[Verdict] = cycle(VERDICTS)

    def odd(each: Observation) -> Observation:
        verdict = next(verdicts)
        nothing = {"agreement": "spurious", "behaviour": None, "workaround": "none"}
        changed = {"agreement": "changed", "workaround": "fails", "workaround_expected": False}
        return each.model_copy(update={"verdict": verdict, **(nothing if verdict in UNDECIDED else changed)})

    issues = []
    for issue in (each for each in made.issues if each.id in ("stack-smoke", "compute-on-aot")):
        # Each word of marked source costs axe as much as a row of a table.
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


def test_axe_finds_nothing(visit: Open, tmp_path: Path) -> None:
    """With every section, everything open and every verdict shown axe finds no violation, by day and by night."""
    write(of_all_sorts(), tmp_path)
    page = visit("#cell-jax-0.6.0/compute-on-aot/decorator-outside", tmp_path / "index.html")
    sections = {"upgrade", "matrix", "issues", "findings", "stacks", "timings", "open", "own", "cells", "since"}
    assert sections == {each.get_attribute("id") for each in page.locator("section > h2").all()}
    page.evaluate(UNFOLD)
    page.check("#f-words")

    page.emulate_media(color_scheme="light")
    assert [] == violations(page)
    # A theme changes colours only.
    page.emulate_media(color_scheme="dark")
    assert [] == violations(page, runOnly=["color-contrast"])


# What it must bear


@pytest.mark.parametrize("name", ["empty", "nasty"])
def test_a_hostile_report_is_shown(visit: Open, name: str, tmp_path: Path) -> None:
    """Tags, escapes, direction marks, ten megabytes or nothing: a page that is safe and can be read on a phone."""
    nasty = report(observation(detail=NASTY), observation(case="long", agreement="changed", detail="x" * 10_000_000))
    write({"empty": EMPTY, "nasty": nasty}[name], tmp_path)

    page = visit("", tmp_path / "index.html", 360)
    page.evaluate(UNFOLD)

    assert page.evaluate(WIDTH) <= 360
    assert page.locator("script").count() == 2
    text = page.locator("body").inner_text()
    assert not re.search("[\x1b\u202a-\u202e\u2066-\u2069]", text)
    if name == "nasty":
        assert "\\u001b[31mred" in text
        assert "\\u202e" in text
        assert "10,000,000 characters in compat.json" in text
        assert len(text) < 60_000
        page.goto(page.url + "#cell-jax-0.4.30/some-issue/headline")
        assert "<script>alert(1)</script>" in page.locator("#panel").inner_text()
