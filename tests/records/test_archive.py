"""Tests of the archive of records: unpacking restores every record, and a publish rewrites only changed files."""

import json
import lzma
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jax_stack_compat.base.errors import BadFile
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.judge.record import Part
from jax_stack_compat.stack import lock, plan
from laboratory.records import archive, keys, records
from laboratory.records.packed import Packed
from laboratory.records.seen import seen
from tests.report.on_disk import there
from tests.report.test_report import put_record, put_status

OLD, NEW = plan.cell("jax-0.4.30"), plan.cell("jax-0.6.2")
(SMOKE, BYPASS) = catalogue.select(["wraps-lower-bypass", "stack-smoke"])
RAISED = Part(
    outcome="raised", exception="ValueError", detail='"cell":null, {"seconds":null} and ñ\u2028', output="a\nb\\"
)


@pytest.fixture
def folder(elsewhere: Path) -> Path:
    """An archive of two issues in two cells; the folder of records is empty again."""
    for cell in (OLD, NEW):
        put_status(cell)
        for entry in (BYPASS, SMOKE):
            put_record(cell, entry, entry.issue.cases[0], RAISED)
    put_record(OLD, BYPASS, BYPASS.issue.cases[1], RAISED)
    assert 5 == archive.pack([OLD, NEW], elsewhere / "archive")
    return elsewhere / "archive"


@pytest.fixture
def emptied(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of records, as on another machine."""
    monkeypatch.setattr(records, "RECORDS", tmp_path / "emptied")
    return tmp_path / "emptied"


def test_what_was_packed_is_unpacked(folder: Path, emptied: Path) -> None:
    """Each record and status comes back with the same content, its keys in order, and packs to the same bytes."""
    packed = there(folder)

    assert 7 == archive.unpack(folder)
    assert _files(folder.parent / "records") == _files(emptied)
    assert 5 == archive.pack([NEW, OLD], folder.parent / "again")
    assert packed == there(folder.parent / "again")
    assert 0 == archive.unpack(folder)


def test_packed_records_are_seen_as_on_disk(folder: Path, emptied: Path) -> None:
    """In memory, each case is judged as it is from its file, and the disk stays empty."""
    packed = Packed(folder)
    pairs = [(cell, entry, case) for cell in (OLD, NEW) for entry in (BYPASS, SMOKE) for case in entry.issue.cases]
    in_memory = [seen(*pair, lock.load(pair[0]), packed) for pair in pairs]
    assert not emptied.exists()

    archive.unpack(folder)
    assert in_memory == [seen(*pair, lock.load(pair[0])) for pair in pairs]
    assert 5 == sum(each is not None for each in in_memory)
    assert [records.status(cell.id) for cell in (OLD, NEW)] == [packed.status(cell.id) for cell in (OLD, NEW)]


def test_a_packed_record_of_other_code_does_not_count(
    folder: Path, emptied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a change of the probe no packed record counts."""
    monkeypatch.setattr(keys, "probe_sha256", lambda: "0" * 64)

    assert Packed(folder).of_cell(OLD, BYPASS, BYPASS.issue.cases[0], lock.load(OLD)) is None


def test_a_record_of_this_machine_is_kept(folder: Path, emptied: Path) -> None:
    """A record that is already on this machine is not overwritten."""
    mine = records.path_of(OLD.id, BYPASS.issue.id, BYPASS.issue.cases[0].id)
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", encoding="utf-8")

    assert 6 == archive.unpack(folder)
    assert "mine" == mine.read_text(encoding="utf-8")


def test_a_record_of_older_code_gives_way(folder: Path, emptied: Path) -> None:
    """After a pull, a record of another lock is replaced by the packed one of the tree's; one of the tree's stays."""
    first, second = BYPASS.issue.cases[:2]
    put_status(OLD)
    older = put_record(OLD, BYPASS, first, RAISED, lock_sha256="0" * 64)
    mine = put_record(OLD, BYPASS, second, RAISED)
    before = mine.read_bytes()

    assert 5 == archive.unpack(folder)
    assert records.of_cell(OLD, BYPASS, first, lock.load(OLD)) is not None
    assert before == mine.read_bytes()
    assert 5 == archive.pack([OLD, NEW], folder)
    assert older.exists()


def test_two_processes_unpack_at_once(folder: Path, emptied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second process that unpacks everything between any write and its rename disturbs nothing."""
    replace = Path.replace

    def other_first(new: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "replace", replace)
        archive.unpack(folder)
        return replace(new, target)

    monkeypatch.setattr(Path, "replace", other_first)
    assert 1 <= archive.unpack(folder)
    assert _files(folder.parent / "records") == _files(emptied)


def cut_short(name: str, folder: Path) -> None:
    """Cut off the end of a file."""
    path = folder / f"{name}.jsonl.xz"
    path.write_bytes(path.read_bytes()[:-20])


def edited(old: str, new: str, folder: Path) -> None:
    """Put something else into the file of an issue."""
    path = folder / "stack-smoke.jsonl.xz"
    path.write_bytes(lzma.compress(re.sub(old, new, lzma.decompress(path.read_bytes()).decode()).encode()))


@pytest.mark.parametrize(
    ("damage", "most", "says"),
    [
        *(
            (partial(cut_short, name), archive._MOST, rf"{name}\.jsonl\.xz: archive: .*`git checkout .*` restores it")
            for name in ("wraps-lower-bypass", "_cells")
        ),
        (partial(edited, "", ""), 3000, "together with earlier files, it unpacks to more than 0 MiB"),
        (partial(edited, '"issue":"', '"issue":"../../'), archive._MOST, "'../../stack-smoke' is not an id"),
        (partial(edited, r'(\["jax-[\d.]+",)"[^"]*",', r"\1"), archive._MOST, "is cut short"),
        (partial(edited, '"key":', '"keys":'), archive._MOST, "KeyError: 'key'"),
        # A pipe is not waited for.
        (lambda folder: os.mkfifo(folder / "a-pipe.jsonl.xz"), archive._MOST, r"a-pipe.*: OSError: it is a pipe"),
        (lambda folder: (folder / "_cells.jsonl.xz").unlink(), archive._MOST, rf"_cells.*: has no {OLD.id}"),
    ],
)
def test_what_nobody_packed_is_not_unpacked(
    folder: Path,
    emptied: Path,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path], object],
    most: int,
    says: str,
) -> None:
    """An archive that is damaged, too large, leads elsewhere or lacks something is a fault; nothing is unpacked."""
    damage(folder)
    monkeypatch.setattr(archive, "_MOST", most)

    with pytest.raises(BadFile, match=says):
        archive.unpack(folder)
    assert {} == _files(emptied)


def test_what_does_not_hold_is_left_out(folder: Path) -> None:
    """A record is not packed if its case is not in the tree, or if it is of another lock or cell."""
    (first, second, *_) = BYPASS.issue.cases
    put_record(NEW, BYPASS, second, RAISED, lock_sha256="0" * 64)
    path = records.path_of(NEW.id, BYPASS.issue.id, first.id)
    path.with_name("retired.json").write_bytes(path.read_bytes())
    gone = records.path_of(NEW.id, "retired", first.id)
    gone.parent.mkdir()
    gone.write_bytes(path.read_bytes())
    put_status(NEW, at="2026-11-24T00:00:00Z")
    names = ["wraps-lower-bypass.jsonl.xz", "stack-smoke.jsonl.xz"]
    before = [(folder / name).read_bytes() for name in names]

    assert 5 == archive.pack([OLD, NEW], folder)
    assert before == [(folder / name).read_bytes() for name in names]
    put_status(NEW, at="2026-11-25T00:00:00Z")
    path.write_bytes(records.path_of(OLD.id, BYPASS.issue.id, first.id).read_bytes())
    assert 4 == archive.pack([OLD, NEW], folder)


def test_a_publish_changes_what_it_has_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of an issue with another record is written; the others keep their bytes, whatever xz packs them."""
    compress = lzma.compress
    monkeypatch.setattr(lzma, "compress", lambda text: compress(text, preset=1))
    before = there(folder)
    put_status(NEW, at="2026-11-24T00:00:00Z")
    put_record(NEW, BYPASS, BYPASS.issue.cases[1], RAISED)

    assert 6 == archive.pack([OLD, NEW], folder)
    after = there(folder)
    assert {"_cells.jsonl.xz", "wraps-lower-bypass.jsonl.xz"} == {
        name for name in before if before[name] != after[name]
    }


def test_the_records_of_a_cell_without_a_run_are_not_read(folder: Path, emptied: Path) -> None:
    """A cell whose status is the archive's keeps the archive's records."""
    for cell in (OLD, NEW):
        put_status(cell)
    before = there(folder)

    assert 5 == archive.pack([OLD, NEW], folder)
    assert before == there(folder)


def test_the_file_of_an_issue_that_is_gone_is_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If an issue's module cannot be read, its records are kept."""
    for name in ("retired", "unread"):
        (folder / f"{name}.jsonl.xz").write_bytes(lzma.compress(b""))
    monkeypatch.setattr(catalogue, "unread", lambda: {"unread": None})

    archive.pack([OLD, NEW], folder)

    names = ["_cells", "stack-smoke", "unread", "wraps-lower-bypass"]
    assert [f"{name}.jsonl.xz" for name in names] == sorted(path.name for path in folder.iterdir())


def test_a_record_that_cannot_be_read_is_named(elsewhere: Path) -> None:
    """A broken file among the records is a fault of that file."""
    put_status(OLD)
    path = records.path_of(OLD.id, BYPASS.issue.id, BYPASS.issue.cases[0].id)
    path.parent.mkdir(parents=True)
    path.write_text('{"key": ', encoding="utf-8")

    with pytest.raises(BadFile, match=rf"{path.name}: record: JSONDecodeError: .* \(remove the file"):
        archive.pack([OLD], elsewhere / "archive")


def _files(folder: Path) -> dict[str, Any]:
    """Path → JSON, with objects as lists, because their order counts."""
    files = there(folder)
    return {name: json.loads(files[name], object_pairs_hook=list) for name in files if name.endswith(".json")}
