"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from suite.files import REPORTS, read
from suite.report import write as writing
from suite.report.model import Report
from suite.run import alike
from suite.stack import plan


@pytest.fixture(scope="session")
def published() -> Report:
    """The report in the tree, which takes a second to read."""
    return read(Report, REPORTS / "published" / "compat.json")


@pytest.fixture(scope="module")
def pageless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No pages and no timings beside a report that is written: they are hundreds, and not every test looks at them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writing, "site", lambda *_: {})
        for folder in ("RESULTS", "COMPILED"):
            patched.setattr(writing, folder, tmp_path_factory.mktemp("nothing"))
        yield


@pytest.fixture
def replanned() -> Iterator[None]:
    """A test that makes another plan meets nothing that was kept of the real one, and leaves nothing of its own."""
    kept = plan.cells, alike._cells
    for each in kept:
        each.cache_clear()
    yield
    for each in kept:
        each.cache_clear()
