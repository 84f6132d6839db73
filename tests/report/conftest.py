"""What the tests of reports share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from suite.report import write as writing


@pytest.fixture(scope="module")
def untimed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No timings in the tree: to draw those there are takes seconds for each report that is written."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writing, "RESULTS", tmp_path_factory.mktemp("nothing"))
        yield
