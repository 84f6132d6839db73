"""A cell that no environment can be made for: an error or unavailable, in one sentence, and never a verdict."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from suite.__main__ import main
from suite.catalogue import catalogue
from suite.errors import Exit
from suite.report import summary
from suite.report.assemble import assemble
from suite.run import environment
from suite.stack import lock
from tests.real_cell import CELL


def test_a_lock_whose_hash_does_not_match_is_refused(elsewhere: Path) -> None:
    """With one hash of its lock changed a cell is not installed: an error, and never a verdict about upstream."""
    text, path = lock.load(CELL).text, elsewhere / "lock.txt"
    wrong = re.sub(r"(jaxtyping==\S+ \\\n    --hash=sha256:)[0-9a-f]{64}", rf"\g<1>{'0' * 64}", text)
    assert wrong != text
    path.write_text(wrong, encoding="utf-8")

    with pytest.raises(environment.Unprepared) as caught:
        environment.prepare(CELL, lock.parse(wrong, path))
    assert ("error", "install.hash") == (caught.value.verdict, caught.value.reason)


def test_an_index_out_of_reach_is_an_error(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no index and an empty cache every case of the cell is `error`, and the report's exit code is not 0."""
    nowhere = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_CACHE_DIR": str(elsewhere / "cache")}
    for name, value in {**nowhere, "UV_HTTP_TIMEOUT": "1", "UV_HTTP_RETRIES": "0", "UV_FIND_LINKS": ""}.items():
        monkeypatch.setenv(name, value)
    assert Exit.AS_EXPECTED == main(["record", CELL.id])
    report = assemble([CELL], catalogue.entries())
    assert Exit.INCOMPLETE == summary.exit_code(report)
    assert {("error", "install.network")} == {(each.verdict, each.reason) for each in report.observations}
    assert report.coverage.planned == report.coverage.error


def test_a_uv_that_is_killed_is_named_as_that(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where uv is ended in the middle, the last it said is not taken for what went wrong."""
    fake = elsewhere / "uv"
    fake.write_text('#!/bin/sh\ntest "$1" = venv || { echo Using Python 3.12.1 environment >&2; kill -KILL $$; }\n')
    fake.chmod(0o755)
    monkeypatch.setattr("uv.find_uv_bin", lambda: str(fake))

    with pytest.raises(environment.Unprepared) as caught:
        environment.prepare(CELL, lock.load(CELL))
    assert ("error", "install.failed") == (caught.value.verdict, caught.value.reason)
    assert caught.value.detail.startswith("uv pip sync: error: it was ended by SIGKILL")


def test_without_an_interpreter_the_cell_is_unavailable(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no CPython of the cells is to be had, one sentence says so, and nothing is skipped."""
    nothing = elsewhere / "nothing"
    nothing.mkdir()
    for name in ("HOME", "PATH", "PYENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.setenv(name, str(nothing))
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    main(["record", CELL.id])
    said = capsys.readouterr().out
    assert f"no CPython {CELL.python} on this machine" in said
    assert f"uv python install {CELL.python}" in said
    report = assemble([CELL], catalogue.entries())
    assert Exit.INCOMPLETE == summary.exit_code(report)
    assert {("unavailable", "plan.no-interpreter")} == {(each.verdict, each.reason) for each in report.observations}
