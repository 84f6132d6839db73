"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from suite.files import REPORTS, read
from suite.report import write as writing
from suite.report.model import Report


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
