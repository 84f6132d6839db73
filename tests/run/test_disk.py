"""Disk space of environments: the plan's estimate, and `clean`."""

import shutil
from pathlib import Path
from unittest.mock import Mock

import pytest

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.stack import lock, plan, uv_call
from laboratory.cli.command_line import main
from laboratory.run import disk, environment

OLD, *_, NEW = plan.tagged("default")


def put(path: Path) -> Path:
    """Write a small file to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"one")
    return path


def linked(store: Path, name: str, *, of: str = "large.py") -> Path:
    """Make an environment with a file of its own and a link to a file in the store."""
    stored = store / "archive-v0" / of
    if not stored.exists():
        put(stored)
        (store / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n", encoding="utf-8")
    folder = environment.ENVIRONMENTS / name
    put(folder / "own.pyc")
    (folder / of).hardlink_to(stored)
    (folder / environment.MARKER).write_text("{}", encoding="utf-8")
    return folder


def test_another_python_has_other_wheels(own_store: Path) -> None:
    """On two Pythons, each compiled wheel counts twice in the download, and every other wheel once."""
    cells = [plan.cell(f"jax-0.9.2+python-{version}") for version in ("3.11", "3.13")]
    one, other = ((cell, lock.load(cell)) for cell in cells)
    binary, pure = (next(each for each in one[1].wheels if each.startswith(f"{name}==")) for name in ("jaxlib", "jax"))

    assert (False, True) == (binary in other[1].wheels, pure in other[1].wheels)
    alone = [environment.to_fetch([each]) for each in (one, other)]
    assert 0.95 * sum(alone) < environment.to_fetch([one, other]) < sum(alone)


def test_a_plan_says_what_disk_it_takes(own_store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A plan prints the disk space that environments will take, the folder, and the command that frees it."""
    assert Exit.AS_EXPECTED == main(["compat", "--plan", "--issue", "stack-smoke", "--all-headlines"])

    size = environment.to_fetch([(cell, lock.load(cell)) for cell in plan.tagged("default")])
    assert f"they will take about {disk.shown(disk.TAKEN * size)} of disk space in " in capsys.readouterr().out


def test_environments_go_and_records_stay(
    own_store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`clean` prints the space that the disk then has more, and does not touch other files."""
    monkeypatch.setattr(shutil, "disk_usage", Mock(side_effect=[Mock(free=1_000_000_000), Mock(free=1_300_000_000)]))
    linked(uv_call.STORE, OLD.id)
    linked(uv_call.STORE, NEW.id)
    kept = [put(own_store / each) for each in ("records/a/cell.json", "locks/a.txt", "logs/a.log", "envs/mine/a.py")]

    assert Exit.AS_EXPECTED == main(["clean"])

    assert "freed about 300 MB: 2 environments and the store" in capsys.readouterr().out.splitlines()[-1]
    assert [True] * 4 == [each.exists() for each in kept]
    assert ["mine"] == [each.name for each in environment.ENVIRONMENTS.iterdir() if each.is_dir()]
    assert [] == list(uv_call.STORE.glob("archive-v0/*"))


def test_an_environment_in_use_is_kept(own_store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An environment whose cell another run has reserved is kept and named, and works without the store."""
    busy = linked(uv_call.STORE, OLD.id)
    linked(uv_call.STORE, NEW.id)
    content = (busy / "large.py").read_bytes()

    with environment.reserve(OLD.id):
        assert Exit.AS_EXPECTED == main(["clean"])

    told = capsys.readouterr().out.splitlines()
    assert f"kept the environment of {OLD.id}: another run is using it" == told[0]
    assert ": 1 environment and the store of packages." in told[-1]
    assert content == (busy / "large.py").read_bytes()
    assert [] == list(uv_call.STORE.glob("archive-v0/*"))


def test_where_nothing_is_there_is_nothing_to_free(own_store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On an empty state, and after a clean, the last line says that there is nothing to free."""
    assert Exit.AS_EXPECTED == main(["clean"])
    assert "nothing to free in " in capsys.readouterr().out
    linked(uv_call.STORE, OLD.id)
    main(["clean"])
    capsys.readouterr()

    assert Exit.AS_EXPECTED == main(["clean"])
    assert "nothing to free in " in capsys.readouterr().out


def test_a_disk_that_refuses_is_a_sentence(
    own_store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An environment that cannot be removed is named by its whole path, with exit code 3, and is made again if used."""
    folder = linked(uv_call.STORE, OLD.id)
    # If root runs the tests, no removal is refused.
    monkeypatch.setattr(shutil, "rmtree", Mock(side_effect=PermissionError(13, "Permission denied", "a.py")))

    assert Exit.INCOMPLETE == main(["clean"])

    assert f"error: cannot use {folder}: Permission denied" in capsys.readouterr().err
    assert not (folder / environment.MARKER).exists()
