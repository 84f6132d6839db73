"""A real browser for the tests of the site: headless Chromium that reads files and cannot reach a network."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from jax_stack_compat.base.files import replace_all
from laboratory.report.model import Report
from laboratory.report.site.build import site

# Not by the package's own module, which reads it in the locale's encoding.
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None
)
# A closed network refuses what a browser asks for by itself; these keep it from asking.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
WIDTH = "document.documentElement.scrollWidth"
UNFOLD = "for (const each of document.querySelectorAll('details')) each.open = true"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a headless Chromium; without one, skip the test, or fail in CI."""
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("CI is set, and there is no Chromium: .ci/run installs one")
        pytest.skip("no Chromium on this machine: the site is not tested")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


def tab(browser: Browser, complaints: list[str], **options: Any) -> Page:
    """Return a tab with its errors collected, in its own window, because hidden tabs are drawn once a second."""
    context = browser.new_context(**options)
    # A loaded machine is slow; do not blame the page.
    context.set_default_timeout(120_000)
    context.on("console", lambda message: complaints.append(message.text))
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    context.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    return context.new_page()


def afresh(page: Page, address: str, width: int = 1000) -> Page:
    """Load an address in a screen of this width, from a blank page, so that a fragment is more than a scroll."""
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(media="null", color_scheme="null")
    page.goto("about:blank")
    page.goto(address)
    return page


def put(files: Mapping[str, str], folder: Path) -> Path:
    """Write the files of a site into `folder`."""
    replace_all(folder, files)
    return folder


def built(report: Report, folder: Path) -> Path:
    """Write the site of a report, without timings, into `folder`."""
    return put(site(report, ()), folder)


# The rows of a table and entries of a list share a template, so axe need not check hundreds.
REPEATED = ("tbody", "tr", "li", "dt", "dd", "article")
BEYOND_SIX = {"exclude": [[f"{element}:nth-child(n+7)"] for element in REPEATED]}


def _axe(page: Page, options: dict[str, Any]) -> list[Any]:
    found: list[Any] = page.evaluate("([context, options]) => axe.run(context, options)", [BEYOND_SIX, options])[
        "violations"
    ]
    return found


def violations(page: Page) -> list[str]:
    """Return axe's violations in both colour schemes, with the first element of each; long lists are cut to six."""
    # The page's policy forbids what axe would fetch.
    asked: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    page.evaluate(AXE)
    page.emulate_media(color_scheme="light")
    found = _axe(page, asked)
    # A theme changes colours only.
    page.emulate_media(color_scheme="dark")
    found += _axe(page, {**asked, "runOnly": ["color-contrast"]})
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]
