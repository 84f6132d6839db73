"""The two knowledges that tests of this room ask: the small world, and the published one."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.check import knowledge
from suite.check.knowledge import Knowledge
from tests.check import worlds


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the small knowledge instead of the published one."""
    monkeypatch.setattr(knowledge, "load", worlds.knowledge)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def published() -> Knowledge:
    """The published knowledge, read once."""
    return knowledge.load()
