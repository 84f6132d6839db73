"""Another release's packages, in parts that transfer one by one."""

import random
from pathlib import Path

import pytest

from laboratory.orders import bundles
from laboratory.orders.runner import unpack


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The parts of a release, in the folder of its orders."""
    monkeypatch.setattr(bundles, "_PART", 1000)
    packages, to = tmp_path / "packages", tmp_path / "orders" / "releases"
    (packages / "jax" / "__pycache__").mkdir(parents=True)
    to.mkdir(parents=True)
    (packages / "jax" / "large.bin").write_bytes(random.Random(0).randbytes(5_000))
    (packages / "jax" / "__pycache__" / "compiled.pyc").write_bytes(b"0")
    return bundles.divided(packages, "0.8.0", to)


def test_parts_are_joined_where_the_device_is(parts: list[Path]) -> None:
    """The unpacked packages are those that were packed, without what Python compiled."""
    made = unpack.unpacked(parts[0].parents[1], "0.8.0")

    assert {"large.bin"} == {path.name for path in made.rglob("*") if path.is_file()}
    assert random.Random(0).randbytes(5_000) == (made / "jax" / "large.bin").read_bytes()
    assert made == unpack.unpacked(parts[0].parents[1], "0.8.0")


def test_each_part_can_be_transferred(parts: list[Path]) -> None:
    """No part is larger than the limit, and their names are in order."""
    assert len(parts) > 5
    assert all(path.stat().st_size <= 1000 for path in parts)
    assert sorted(parts) == parts


@pytest.mark.parametrize("lost", [0, 2, -1])
def test_a_missing_part_is_noticed(parts: list[Path], lost: int) -> None:
    """If a part is missing, nothing is left unpacked, and the message says so."""
    parts[lost].unlink()

    with pytest.raises(OSError, match=r"jax 0\.8\.0 cannot be unpacked, so a part may be missing: "):
        unpack.unpacked(parts[0].parents[1], "0.8.0")
    assert not (parts[0].parent / "0.8.0").exists()


def test_a_release_that_did_not_come_along_is_named(tmp_path: Path) -> None:
    """Without any part, the message says how to bring the release."""
    with pytest.raises(OSError, match=r"it has no part of jax 0\.8\.0: write orders with --with-wheels 0\.8\.0"):
        unpack.unpacked(tmp_path, "0.8.0")
