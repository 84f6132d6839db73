"""Our own files, read and written."""

import errno
import json
import threading
from collections.abc import Callable
from datetime import date
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jax_stack_compat.base import files
from jax_stack_compat.base.errors import Fault
from jax_stack_compat.base.files import ROOT, FileModel
from jax_stack_compat.cell import atomic
from tests.report.on_disk import there
from tests.worlds import refused


class Row(FileModel):
    """A row of the file that the tests read."""

    name: str
    day: date
    sizes: dict[str, int]


class Table(FileModel):
    """The file that the tests read."""

    schema_version: int
    rows: list[Row]


GOOD = {"schema_version": 1, "rows": [{"name": "jax", "day": "2024-05-01", "sizes": {"0.4.30": 7}}]}
BAD_JSON = json.dumps(
    {"schema_version": "one", "rows": [{"name": "jax", "day": "soon", "sizes": {"0.4.30": None}}, {"nmae": "jax"}]}
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("table.json", json.dumps(GOOD)),
        ("table.toml", "schema_version = 1\n[[rows]]\nname = 'jax'\nday = 2024-05-01\n[rows.sizes]\n'0.4.30' = 7\n"),
    ],
)
def test_a_file_is_read(name: str, text: str) -> None:
    """JSON and TOML are read into the same model, by the ending of the file's name."""
    assert Table.model_validate(GOOD) == files.parse(Table, text, Path(name))


EVERY_KEY = ["rows.0.day", "rows.0.sizes.0.4.30", "rows.1.day", "rows.1.name", "rows.1.nmae", "rows.1.sizes"]
LONG = "1" * 5000


@pytest.mark.parametrize(
    ("name", "text", "keys"),
    [
        ("a.json", BAD_JSON, [*EVERY_KEY, "schema_version"]),
        *(("a.json", text, ["syntax"]) for text in ("", "{", '{"schema_version": 1,}')),
        ("a.json", r'{"schema_version": 1, "rows": ["\ud800"]}', ["syntax"]),
        pytest.param("a.json", "[" * 100_000, ["syntax"], id="deep"),
        pytest.param("a.json", f'{{"schema_version": {LONG}, "rows": []}}', ["syntax"], id="long-number"),
        *(("a.toml", text, ["syntax"]) for text in ("schema_version = ", "schema_version = 1\nschema_version = 2\n")),
        pytest.param("a.toml", f"schema_version = {LONG}", ["syntax"], id="toml-long-number"),
        *(("a.json", text, ["whole file"]) for text in ("[]", "null", "3", '"text"')),
    ],
)
def test_every_fault_is_told_with_its_key(name: str, text: str, keys: list[str]) -> None:
    """All faults are reported with the path to the key; for invalid syntax or a wrong type, with the file."""
    found = refused(files.parse, Table, text, Path(name))

    assert {Path(name)} == {fault.path for fault in found}
    assert keys == sorted(fault.key for fault in found)


@given(text=st.one_of(st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps)))
@settings(deadline=None, max_examples=50)
def test_whatever_stands_in_a_file_is_read_or_a_fault(text: str) -> None:
    """Reading any text succeeds or raises faults."""
    for name in ("table.json", "table.toml"):
        assert refused(files.parse, Table, text, Path(name))


def test_a_file_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    """A missing file, a folder or invalid text is a fault that names the file."""
    (tmp_path / "bytes.json").write_bytes(b'{"\xff')
    (tmp_path / "folder.json").mkdir()

    for name in ("none.json", "bytes.json", "folder.json"):
        found = refused(files.read, Table, tmp_path / name)
        assert [(tmp_path / name, "file")] == [(fault.path, fault.key) for fault in found]


def test_a_fault_names_our_file_as_the_tree_does() -> None:
    """Faults name files in the tree by the path from its root, and others by their full path."""
    assert "suite/jax_stack_compat/stack/matrix.toml: line.jax: no" == str(
        Fault(ROOT / "suite/jax_stack_compat/stack/matrix.toml", "line.jax", "no")
    )
    assert "/elsewhere/x.json: a.0: no" == str(Fault(Path("/elsewhere/x.json"), "a.0", "no"))


def test_writing_makes_the_folders(tmp_path: Path) -> None:
    """A file is written into folders that are made for it, in UTF-8, and any user may read it."""
    path = tmp_path / "one" / "other" / "file.txt"

    atomic.write(path, "text …\n")

    assert "text …\n".encode() == path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o644
    assert [path] == list(path.parent.iterdir())


def test_a_reader_sees_the_old_file_or_the_new(tmp_path: Path) -> None:
    """While a file is written over and over, a reader never sees a part of it, nor a mixture."""
    path = tmp_path / "file.txt"
    texts = ["old " * 50_000, "new " * 40_000]
    atomic.write(path, texts[0])
    done = threading.Event()

    def rewrite() -> None:
        for number in range(40):
            atomic.write(path, texts[number % 2])
        done.set()

    writer = threading.Thread(target=rewrite)
    writer.start()
    seen = set()
    while not done.is_set():
        seen.add(path.read_text(encoding="utf-8"))
    writer.join()

    assert seen <= set(texts)
    assert [path] == list(tmp_path.iterdir())


def test_files_are_replaced_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If any write or swap fails, all files are restored; other files are never touched."""
    old, new = {"a": "old a", "b": "old b", "of/gone": "old"}, {"a": "new a", "b": "new b", "of/c": "new c"}
    others = {"mine": "mine", "of/mine": "mine"}

    def fails_at(step: int) -> bool:
        """Return True if the replacement raises when the `step`th write, swap or removal fails."""
        steps = count(1)

        def failing(does: Callable[..., object]) -> Callable[..., object]:
            def act(*given: object, **named: object) -> object:
                if next(steps) == step:
                    raise OSError(errno.ENOSPC, "No space left on device", str(given[0]))
                return does(*given, **named)

            return act

        with monkeypatch.context() as patched:
            for owner, name in ((files, "write"), (Path, "replace"), (Path, "unlink")):
                patched.setattr(owner, name, failing(getattr(owner, name)))
            try:
                files.replace_all(tmp_path, new, ["of/gone"])
            except OSError:
                return True
        return False

    for name, text in {**old, **others}.items():
        atomic.write(tmp_path / name, text)
    steps = 1
    while fails_at(steps):
        assert there(tmp_path) == {name: text.encode() for name, text in {**old, **others}.items()}
        steps += 1
    assert there(tmp_path) == {name: text.encode() for name, text in {**new, **others}.items()}
    assert steps > 2 * len(new)


@pytest.mark.parametrize(
    ("name", "text", "raised"),
    [
        ("file.txt/below.txt", "new", OSError),
        ("folder", "new", OSError),
        ("file.txt", "half a character: \ud800", UnicodeEncodeError),
    ],
)
def test_what_cannot_be_written_is_raised(name: str, text: str, raised: type[Exception], tmp_path: Path) -> None:
    """A write that is impossible raises the reason and leaves the old file and nothing else."""
    (tmp_path / "file.txt").write_text("old", encoding="utf-8")
    (tmp_path / "folder").mkdir()

    with pytest.raises(raised) as caught:
        atomic.write(tmp_path / name, text)

    assert raised is UnicodeEncodeError or name.partition("/")[0] in str(caught.value)
    assert "old" == (tmp_path / "file.txt").read_text(encoding="utf-8")
    assert ["file.txt", "folder"] == sorted(path.name for path in tmp_path.rglob("*"))
