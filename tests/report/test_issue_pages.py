"""Tests of the pages of issues, matrix, stacks and findings in a real browser."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser, Page, expect

from laboratory.report.model import Report
from laboratory.report.site.build import site
from laboratory.report.summary import REPLAY
from tests.report.on_disk import there as files
from tests.report.site_browser import UNFOLD, WIDTH, afresh, built, put, tab
from tests.report.test_report import EMPTY, observation, report, with_issue
from tests.report.test_small import FOLDER as SMALL

pytestmark = pytest.mark.usefixtures("_no_complaints")
NASTY = "\x1b[31mred\x1b[0m \u202e\u2066turned\u2069 </script><script>alert(1)</script><img src=x onerror=alert(1)>"
# Files published beside the pages.
ELSEWHERE = re.compile(r"compat\.json|timings\.json|COMPAT\.md|observations/[a-z0-9-]+\.csv")

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def made(known: Report) -> dict[str, str]:
    """Return the site of a report on real stacks."""
    return site(known, ())


@pytest.fixture(scope="module")
def folder(made: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the site; return its folder."""
    return put(made, tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def visit(opened: Page, folder: Path) -> Open:
    """Reload a page of this site, or of another one, at an address within it."""

    def visited(address: str, of: Path = folder, width: int = 1280) -> Page:
        return afresh(opened, f"{of.as_uri()}/{address}", width)

    return visited


def ids(text: str) -> Counter[str]:
    """Return the ids of a page's elements."""
    return Counter(re.findall(r"<[^<>]*\sid=\"?([^\s\">]+)", text))


@pytest.mark.parametrize("name", ["some", "small"])
def test_every_link_leads_somewhere(made: dict[str, str], name: str) -> None:
    """Every link within the site leads to an existing page and element, and ids are unique."""
    if name == "small":
        # It has timings and programs, too.
        assets = {path: text for path, text in made.items() if path.startswith("assets/")}
        made = assets | {path: text.decode() for path, text in files(SMALL).items()}
    there = {path: ids(text) for path, text in made.items() if path.endswith(".html")}
    lost, count = [], 0
    for path in there:
        for target in re.findall(r'<(?:a|link|script)[^<>]*\s(?:href|src)="?([^\s">]+)', made[path]):
            to, _, fragment = urljoin(f"http://site/{path}", target).removeprefix("http://site/").partition("#")
            if to.startswith("https://") or ELSEWHERE.fullmatch(to):
                continue
            count += 1
            if to not in made or (fragment and fragment not in there[to]):
                lost.append(f"{path}: {target}")
    assert [] == lost
    assert count > 100
    assert [] == [f"{path}: {name}" for path, of in there.items() for name, many in of.items() if many > 1]


def test_every_cell_of_every_case_has_an_address(known: Report, made: dict[str, str]) -> None:
    """An issue's page has one element for each observation of the issue."""
    for issue in known.issues:
        there = {name for name in ids(made[f"issues/{issue.id}.html"]) if "@" in name}
        assert {f"{each.case}@{each.cell}" for each in known.observations if each.issue == issue.id} == there


def test_the_matrix_can_be_filtered(visit: Open, known: Report) -> None:
    """Filters by package, kind and verdict are kept in the address, restored from it, and can be undone."""
    page = visit("matrix.html")
    cases = page.locator(".matrix tr.case:visible")
    assert 0 == cases.count()
    page.locator(".fold input").last.check()
    unfolded = cases.count()

    page.select_option("#f-package", "diffrax")
    alike = page.locator("#alike a").all_text_contents()
    needing = [f"{issue.id}/{case.id}" for issue in known.issues for case in issue.cases if "diffrax" in case.needs]
    shown_there = [case.split("/")[1] for case in needing if case not in alike]
    assert shown_there == cases.locator("th").all_inner_texts()
    page.select_option("#f-kind", "crash")
    told = page.locator("#f-count").inner_text()
    crashing = [case for issue in known.issues if issue.kind == "crash" for case in issue.cases]
    shown, every = sum("diffrax" in case.needs for case in crashing), sum(len(issue.cases) for issue in known.issues)
    assert f"{shown} of {every} cases" == told
    expect(page).to_have_url(re.compile("matrix.html#package=diffrax,kind=crash$"))
    page.select_option("#f-verdict", "documented")
    assert shown > cases.count()
    for name in ("verdict", "kind", "package"):
        page.select_option(f"#f-{name}", "")
    assert unfolded == cases.count() > 0

    page = visit("matrix.html#package=diffrax,kind=crash")
    assert told == page.locator("#f-count").inner_text()
    page.select_option("#f-package", "")
    page.select_option("#f-kind", "")
    assert 0 == cases.count()


def test_the_keyboard_walks_the_matrix(visit: Open) -> None:
    """The matrix is one Tab stop; arrows move to the next verdict, or to the next row at the same release."""
    page = visit("matrix.html")
    links = page.locator(".matrix td a")
    assert 1 == page.locator(".matrix td a[tabindex='0']").count()

    focused = "document.activeElement.getAttribute('href')"
    links.first.focus()
    page.keyboard.press("ArrowRight")
    assert links.nth(1).get_attribute("href") == page.evaluate(focused)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    below = page.locator(".matrix tr.issue").nth(1).locator("td a").first
    assert below.get_attribute("href") == page.evaluate(focused)


def test_a_cell_can_be_linked(visit: Open, browser: Browser) -> None:
    """An observation is two actions from the matrix; its panel copies the link, and Escape restores focus."""
    page = visit("matrix.html")
    of_issue = page.locator("tbody", has_text="wraps-lower-bypass")
    of_issue.locator(".fold input").check()
    of_issue.locator("tr.case", has=page.get_by_text("jit", exact=True)).locator("td a").first.click()
    expect(page).to_have_url(re.compile("issues/wraps-lower-bypass.html#jit@jax-0.4.31$"))

    panel = page.locator(".panel")
    page.locator("[id='jit@jax-0.5.3'] a").click()
    expect(panel.locator("h2")).to_have_text("jit on jax-0.5.3")
    said = panel.inner_text()
    for what in ("jit on jax-0.5.3", "affected bypassed", "run.bypassed", "expected", "attempts\n1", "saw bypassed"):
        assert what in said
    assert REPLAY.format(cell="jax-0.5.3", issue="wraps-lower-bypass") in said
    assert panel.locator("a[href='../cells.html#jax-0.5.3']").count() == 1
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel.get_by_role("button", name="Copy link").click()
    expect(panel.get_by_role("button", name="Copied")).to_be_visible()
    assert page.url == page.evaluate("navigator.clipboard.readText()")
    assert page.url.endswith("#jit@jax-0.5.3")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert "jit@jax-0.5.3" == page.evaluate("document.activeElement.parentNode.id")
    page.keyboard.press("Enter")
    expect(panel).to_be_visible()
    panel.locator("nav a").last.click()
    expect(panel.locator("h2")).to_have_text("jit on jax-0.6.0")
    page.go_back()
    expect(panel.locator("h2")).to_have_text("jit on jax-0.5.3")


def test_a_link_that_cannot_be_copied_is_selected(visit: Open) -> None:
    """If the clipboard refuses, the address is selected in a field."""
    page = visit("issues/wraps-lower-bypass.html#jit@jax-0.5.3")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    page.get_by_role("button", name="Copy link").click()

    expect(page.locator(".panel input")).to_be_focused()
    assert page.url == page.evaluate("getSelection().toString()")


def test_a_cell_beside_the_line_can_be_linked(visit: Open, known: Report) -> None:
    """A stack of an arm has its own address, link and command, even if others showed the same."""
    arm = next(
        seen.cell
        for seen in reversed(known.observations)
        if seen.issue == "tracer-hash-while-loop" and "+equinox" in seen.cell and seen.case == "diffeqsolve"
    )
    page = visit(f"issues/tracer-hash-while-loop.html#diffeqsolve@{arm}")

    assert REPLAY.format(cell=arm, issue="tracer-hash-while-loop") in page.locator(".panel").inner_text()
    expect(page.locator(f"[id='diffeqsolve@{arm}'] a")).to_be_in_viewport()


def test_without_javascript_they_answer(browser: Browser, folder: Path, complaints: list[str]) -> None:
    """Without scripts the matrix unfolds, an address leads to its marked release, and no form is shown."""
    page = tab(browser, complaints, java_script_enabled=False)
    page.goto(f"{folder.as_uri()}/matrix.html")

    expect(page.locator("#filters")).to_be_hidden()
    page.locator("tbody", has_text="wraps-lower-bypass").locator(".fold input").check()
    page.locator("tr.case", has=page.get_by_text("jit", exact=True)).locator("td a").last.click()
    expect(page).to_have_url(re.compile("issues/wraps-lower-bypass.html#jit@jax-0.6.0$"))
    target = page.locator("[id='jit@jax-0.6.0']")
    expect(target).to_be_in_viewport()
    assert "solid" == target.evaluate("each => getComputedStyle(each).outlineStyle")
    told = page.locator(".alike > li", has=target).inner_text()
    for what in ("guarded", "run.attribute-error", "saw attribute-error", 'nox -s "cell(jax-0.6.0)"'):
        assert what in told
    page.goto(f"{folder.as_uri()}/cells.html#jax-0.6.0")
    box = page.locator("[id='jax-0.6.0'] details").bounding_box()
    assert box is not None
    assert box["height"] > 2 * page.locator("[id='jax-0.7.0'] details").evaluate("each => each.offsetHeight")
    for path, form in (("index.html", "#ask"), ("stack.html", "#asking")):
        page.goto(f"{folder.as_uri()}/{path}")
        expect(page.locator(form)).to_be_hidden()
    page.context.close()


def test_they_print(visit: Open) -> None:
    """The matrix prints unfolded and as wide as the paper, and an issue prints unfolded."""
    page = visit("matrix.html", width=1030)
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.locator(".matrix tr.case").first.is_visible()
    assert page.evaluate(WIDTH) <= 1030

    page = visit("issues/wraps-lower-bypass.html", width=1030)
    page.emulate_media(media="print")
    expect(page.get_by_label("jit, source", exact=True)).to_be_visible()
    assert page.evaluate(WIDTH) <= 1030


@pytest.mark.parametrize("name", ["empty", "nasty"])
def test_a_hostile_report_is_shown(visit: Open, name: str, tmp_path: Path) -> None:
    """Pages stay safe and readable on a phone with tags, escapes, direction marks, huge texts and empty ones."""
    nasty = report(observation(detail=NASTY), observation(case="long", agreement="changed", detail="x" * 10_000_000))
    nasty = with_issue(nasty, title=NASTY, story=f"{NASTY}\n\n    {NASTY}\n\n- `{NASTY}` **{NASTY}**")
    built({"empty": EMPTY, "nasty": nasty}[name], tmp_path)

    names = [f"{each}.html" for each in ("index", "matrix", "cells", "findings", "timings")]
    names += ["issues/some-issue.html"] if name == "nasty" else []
    for path in names:
        page = visit(path, tmp_path, 360)
        page.evaluate(UNFOLD)
        assert page.evaluate(WIDTH) <= 360
        if path == "index.html":
            page.fill("#search", NASTY)
            expect(page.locator("#results")).not_to_be_empty()
        own = "script[src^='assets/'], script[src^='../assets/'], script[src^='data/']"
        assert page.locator("script").count() == page.locator(own).count()
        assert 0 == page.locator("img").count()
        text = page.locator("body").inner_text()
        assert not re.search("[\x1b\u202a-\u202e\u2066-\u2069]", text)
        assert len(text) < 60_000
    if name == "nasty":
        assert "\\u001b[31mred" in text
        assert "\\u202e" in text
        assert "10,000,000 characters in the data" in text
        page.locator("[id='headline@jax-0.4.30'] a").click()
        expect(page.locator(".panel")).to_contain_text("<script>alert(1)</script>")
