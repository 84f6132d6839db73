"""What the tests of reports share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from suite.report import write as writing
from suite.report.compare.changes import since
from suite.report.model import Report
from tests.report.site_browser import chromium
from tests.worlds import as_known, few, otherwise


@pytest.fixture(scope="module")
def untimed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No timings in the tree: to draw those there are takes seconds for each report that is written."""
    with pytest.MonkeyPatch.context() as patched:
        for folder in ("RESULTS", "COMPILED"):
            patched.setattr(writing, folder, tmp_path_factory.mktemp("nothing"))
        yield


@pytest.fixture(scope="session")
def known() -> Report:
    """A report on some real stacks, on which every issue did what is known of it, and not what it did before."""
    made = as_known(few())
    return made.model_copy(update={"since": since(otherwise(made), made)})


# Playwright keeps an event loop running, in which nobody else can run one of theirs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium, one for each file of tests."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def complaints() -> list[str]:
    """What the pages complained of, and what they asked the network for."""
    return []


@pytest.fixture
def _no_complaints(complaints: list[str]) -> Iterator[None]:
    complaints.clear()
    yield
    assert [] == complaints
