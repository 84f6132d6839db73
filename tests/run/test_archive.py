"""Tests of the archive of records: what goes in comes out, byte for byte, and nothing of the user's is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.errors import BadFile
from suite.run import archive, records


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive of one record and one status of the cell jax-1, and an empty folder of records."""
    before = tmp_path / "before"
    for name, text in {"jax-1/cell.json": "{}", "jax-1/an-issue/a-case.json": "[1]", "jax-2/cell.json": "{}"}.items():
        (before / name).parent.mkdir(parents=True, exist_ok=True)
        (before / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(records, "RECORDS", before)
    path = tmp_path / "records.tar.xz"
    assert 2 == archive.pack(["jax-1"], path)
    monkeypatch.setattr(records, "RECORDS", tmp_path / "after")
    return path


def test_what_was_packed_is_unpacked(packed: Path) -> None:
    """The records of the cells that were asked for come back as they were, no others, and pack to the same bytes."""
    assert 2 == archive.unpack(packed)

    found = {str(each.relative_to(records.RECORDS)): each.read_text() for each in records.RECORDS.rglob("*.json")}
    assert {"jax-1/cell.json": "{}", "jax-1/an-issue/a-case.json": "[1]"} == found
    again = packed.with_name("again.tar.xz")
    archive.pack(["jax-1"], again)
    assert packed.read_bytes() == again.read_bytes()


def test_a_record_of_this_machine_is_kept(packed: Path) -> None:
    """What is on this machine already is not written over."""
    mine = records.RECORDS / "jax-1" / "an-issue" / "a-case.json"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", encoding="utf-8")

    assert 1 == archive.unpack(packed)
    assert "mine" == mine.read_text()


def test_a_broken_archive_is_named(packed: Path) -> None:
    """An archive that was cut short is a fault of that file, and no traceback."""
    packed.write_bytes(packed.read_bytes()[:60])

    with pytest.raises(BadFile, match=r"records\.tar\.xz: archive: "):
        archive.unpack(packed)
