"""Fixtures shared by the tests of reports."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from laboratory.report.compare import since
from laboratory.report.model import Report
from tests.report.site_browser import chromium, tab
from tests.worlds import as_known, few, otherwise


@pytest.fixture(scope="session")
def known() -> Report:
    """Return a report on real stacks with the expected behaviour of every issue, and changes since an earlier one."""
    made = as_known(few())
    return made.model_copy(update={"since": since(otherwise(made), made)})


# Not for the session: Playwright's running event loop keeps other code from starting one.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Yield a headless Chromium, one for the tests of reports."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def complaints() -> list[str]:
    """Return the pages' errors and network requests, which must stay empty."""
    return []


@pytest.fixture(scope="module")
def opened(browser: Browser, complaints: list[str]) -> Page:
    """Return a tab, one for each file of tests."""
    return tab(browser, complaints)


@pytest.fixture
def _no_complaints(complaints: list[str]) -> Iterator[None]:
    complaints.clear()
    yield
    assert [] == complaints
