"""What a job of the release day hands to the next: data by name, checked, and no code."""

import io
import json
import lzma
import shutil
import subprocess
import tarfile
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from jax_stack_compat.base.errors import BadFile, Failed
from jax_stack_compat.base.files import ROOT
from jax_stack_compat.stack import lock, releases
from laboratory.records import archive, records
from laboratory.upkeep import handover
from tests.upkeep.test_workflows import runs

SNAPSHOT = "suite/jax_stack_compat/stack/releases.json"
STACK = "suite/jax_stack_compat/stack"
CELL = "jax-0.4.30"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty tree, with an empty state, which receives."""
    monkeypatch.setattr(handover, "ROOT", tmp_path / "tree")
    monkeypatch.setattr(records, "RECORDS", tmp_path / "tree" / "state" / "records")
    return tmp_path / "tree"


@pytest.fixture(scope="module")
def record() -> bytes:
    """A real record of a cell, as its file has it."""
    known, cells = archive.load(archive.FOLDER)
    name = next(name for name in known if name[:2] == (CELL, "stack-smoke"))
    return json.dumps(archive.record(known[name], cells[CELL])).encode()


def name_of(record: bytes) -> str:
    """The name of a record's file in an artifact."""
    read = json.loads(record)
    return f"state/records/{read['cell']}/{read['issue']}/{read['case']}.json"


def folder(tmp_path: Path, files: Mapping[str, bytes]) -> Path:
    """An artifact, as it was unpacked."""
    for name, content in files.items():
        path = tmp_path / "found" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "found"


def tar(path: Path, *members: tarfile.TarInfo, **files: bytes) -> Path:
    """An archive of files by name, and of other members."""
    with tarfile.open(path, "w") as made:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
        for member in members:
            made.addfile(member)
    return path


def received(*places: Path) -> str:
    """Receive, and return what is printed."""
    handover.receive(places, console=Console(file=(screen := StringIO()), width=300))
    return screen.getvalue()


def all_in(tree: Path) -> list[str]:
    """The files of the tree that received."""
    return sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file())


def test_data_is_taken_into_its_place(tree: Path, tmp_path: Path, record: bytes) -> None:
    """Snapshot, locks, records, names and numbers are taken byte for byte."""
    names = [f"{STACK}/locks/{CELL}.txt", SNAPSHOT, "suite/laboratory/run/sizes.json"]
    names += [f"reports/published/{name}" for name in ("names/details.json.xz", "names/jaxlib.json", "numbers.json.xz")]
    names += ["reports/published/numbers/jax.lax.csv"]
    files = {name: (ROOT / name).read_bytes() for name in names}

    assert "8 files of data taken" in received(
        folder(tmp_path, files), tar(tmp_path / "r.tar", **{name_of(record): record})
    )
    assert sorted([*names, name_of(record)]) == all_in(tree)
    assert {**files, name_of(record): record} == {name: (tree / name).read_bytes() for name in all_in(tree)}


@pytest.mark.parametrize(
    "name",
    [
        f"{STACK}/lock.py", f"{STACK}/locks/x.py", f"{STACK}/matrix.toml", f"{STACK}/locks/sub/x.txt", "noxfile.py",
        ".github/workflows/check.yml", ".git/hooks/pre-push", "suite/laboratory/__main__.py", "state/records/x.json",
        "state/records/../../noxfile.json", "state/envs/a/b/c.json", "state/records/a/b/c.new", "state/uv.toml",
        "../state/records/a/cell.json", "/etc/cron.d/x", f"{STACK}/locks/a\n.txt", "reports/published/names/x.py",
        f"./{SNAPSHOT}", "suite/sitecustomize.py", "README.md", "conftest.py", f"{STACK}/releases.json/x",
    ],
)  # fmt: skip
def test_no_other_file_is_taken(name: str, tree: Path, tmp_path: Path) -> None:
    """Code and files in other places are left out, and named."""
    said = received(tar(tmp_path / "r.tar", **{name: b"{}"}))

    assert "0 files of data taken" in said
    assert "1 files left out" in said
    assert [] == all_in(tree)


def test_links_are_not_followed(tree: Path, tmp_path: Path) -> None:
    """A link or a device in an artifact is left out, also if its name is one that is taken."""
    members = []
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
        member = tarfile.TarInfo(SNAPSHOT)
        member.type, member.linkname = kind, "/etc/passwd"
        members.append(member)
    found = folder(tmp_path, {"a": b""})
    (found / SNAPSHOT).parent.mkdir(parents=True)
    (found / SNAPSHOT).symlink_to(releases.PATH)
    (found / "state").symlink_to("/etc")

    assert "0 files of data taken" in received(tar(tmp_path / "r.tar", *members), found)
    assert [] == all_in(tree)


@pytest.mark.parametrize(
    ("change", "moved"),
    [
        ({"extra": 1}, ""),
        ({"attempts": []}, ""),
        ({"cell": "jax-0.4.31"}, ""),
        ({}, "jax-0.9.2"),
        ({"case": "../x"}, ""),
    ],
)
def test_a_record_that_is_not_one_is_left_out(
    change: dict[str, object], moved: str, tree: Path, tmp_path: Path, record: bytes
) -> None:
    """A record with other fields, without attempts, or of another cell than its path says, is left out."""
    name = name_of(record).replace(CELL, moved or CELL)
    text = json.dumps({**json.loads(record), **change}).encode()

    assert "1 files left out" in received(tar(tmp_path / "r.tar", **{name: text}))
    assert [] == all_in(tree)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (SNAPSHOT, b"{}"), (SNAPSHOT, b"import os"), (SNAPSHOT, b"\xff"), (f"{STACK}/locks/jax-0.4.30.txt", b"jax"),
        (f"{STACK}/locks/jax-0.4.30.txt", b"--index-url http://evil\n"), ("reports/published/numbers.json.xz", b"x"),
        ("suite/laboratory/run/sizes.json", b"[" * 100_000), ("reports/published/names/jax.json", b"print()"),
        ("reports/published/numbers.json.xz", lzma.compress(b" " * 70 * 2**20)),
        (f"{STACK}/locks/jax-0.4.30.txt", b"evil @ https://evil/evil-1-py3-none-any.whl\n"),
    ],
)  # fmt: skip
def test_bad_data_takes_nothing(name: str, content: bytes, tree: Path, tmp_path: Path, record: bytes) -> None:
    """A snapshot, lock or list that cannot be read is a fault with its path, and nothing is taken."""
    with pytest.raises(BadFile, match=name.rpartition("/")[2]):
        received(tar(tmp_path / "r.tar", **{name_of(record): record, name: content}))
    assert [] == all_in(tree)


def test_there_are_limits(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is too large, and too many files, take nothing; neither does what is no archive."""
    monkeypatch.setattr(handover, "_MOST", 10)
    with pytest.raises(Failed, match="larger than"):
        received(tar(tmp_path / "r.tar", a=b"01234567890"))
    monkeypatch.setattr(handover, "_MOST_FILES", 1)
    with pytest.raises(Failed, match="larger than"):
        received(tar(tmp_path / "r.tar", a=b"", b=b""))
    (tmp_path / "r.tar").write_bytes(b"not an archive")
    with pytest.raises(Failed, match="neither a folder nor a tar archive"):
        received(tmp_path / "r.tar")


def test_the_records_of_a_part_arrive(tree: Path, tmp_path: Path, record: bytes) -> None:
    """The step that packs a part's records packs the new ones, and `receive` takes them."""
    part = folder(tmp_path, {"state/records/jax-0.4.20/a/old.json": b"{}", "began": b"", name_of(record): record})
    old, began = part / "state/records/jax-0.4.20/a/old.json", part / "began"
    for path, seconds in ((old, 1), (began, 2)):
        subprocess.run(["touch", "--date", f"@{seconds}", path], check=True)
    (script,) = [script for _, job, _, script in runs() if job == "run" and "tar " in script]
    subprocess.run([shutil.which("bash") or "bash", "-eo", "pipefail", "-c", script], cwd=part, check=True)

    assert "1 files of data taken" in received(part / "records.tar")
    assert [name_of(record)] == all_in(tree)


def test_every_lock_is_known(tmp_path: Path, tree: Path) -> None:
    """Locks of the line, of arms, of guests and of other Pythons are taken."""
    paths = sorted(lock.LOCKS.iterdir())[::25]
    files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths}

    assert f"{len(files)} files of data taken\n" == received(folder(tmp_path, files))
