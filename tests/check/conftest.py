"""Fixtures: the small and the published knowledge, and a function that runs commands as typed."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.check import knowledge
from jax_stack_compat.check.find import index
from jax_stack_compat.check.knowledge import Knowledge
from laboratory.cli.command_line import main
from tests.check import worlds

Said: TypeAlias = Callable[..., tuple[Exit, str]]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the small knowledge instead of the published one."""
    monkeypatch.setattr(knowledge, "load", worlds.knowledge)
    monkeypatch.setattr(index, "load", worlds.index)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def published() -> Knowledge:
    """The published knowledge, read once."""
    return knowledge.load()


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """Run a command as typed; return its exit code and its output."""

    def run(*typed: str) -> tuple[Exit, str]:
        code = main([*typed])
        out, err = capsys.readouterr()
        return code, out + err

    return run
