"""Another release's packages for orders: installed here, packed, and cut into parts that transfer one by one.

They are the packages of the release's cell, as its lock pins them, and for a GPU jax's plugin. CUDA's own libraries are
the machine's. `run.py --release` joins and unpacks the parts.
"""

from __future__ import annotations

import tarfile
from collections.abc import Sequence
from io import RawIOBase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from jax_stack_compat.base.errors import Failed, Misused
from jax_stack_compat.stack import lock, plan, uv_call

if TYPE_CHECKING:
    from typing_extensions import Buffer

# In bytes: a transfer may be limited to 64 MiB, with the project's tree in it.
_PART = 45 * 2**20
# The parts of the names of jax's plugins for a GPU, the newest first.
_OF_GPU = ("cuda13", "cuda12")
_INSTALL = ("pip", "install", "--quiet", "--no-deps", "--only-binary=:all:")


def pack(release: str, device: str, to: Path) -> list[Path]:
    """Write the parts of a release of jax into the folder `to`, and return them. Raises Misused, Failed, OSError."""
    cell = plan.cell(f"jax-{release}")
    if cell.unavailable is not None:
        raise Misused(f"jax {release} cannot be installed: {cell.unavailable[1]}")
    to.mkdir(parents=True, exist_ok=True)
    for old in to.glob(f"{release}.tar.xz.*"):
        old.unlink()
    with TemporaryDirectory(dir=to) as scratch:
        packages = Path(scratch, "packages")
        target = [*_INSTALL, "--python-version", cell.python, "--target", str(packages)]
        _uv(*target, "--require-hashes", "--requirements", str(lock.load(cell).path))
        if device == "gpu":
            _add_plugin(target, release)
        return divided(packages, release, to)


def divided(packages: Path, release: str, to: Path) -> list[Path]:
    """Pack a folder of packages into the parts of a release, and return them. Raises OSError."""
    parts = _Parts(to, release)
    with tarfile.open(fileobj=parts, mode="w|xz", format=tarfile.PAX_FORMAT) as archive:
        archive.add(packages, arcname=".", filter=_plain)
    return parts.finish()


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Return a member without its owner; what Python compiled is left out."""
    if "__pycache__" in member.name:
        return None
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


def _add_plugin(target: Sequence[str], release: str) -> None:
    """Install the newest plugin for a GPU that a release has. Raises Failed if there is none."""
    for number, cuda in enumerate(_OF_GPU, 1):
        try:
            _uv(*target, f"jax-{cuda}-plugin=={release}", f"jax-{cuda}-pjrt=={release}")
        except Failed:
            if number == len(_OF_GPU):
                raise
        else:
            return


def _uv(*words: str) -> None:
    ran = uv_call.run(*words)
    if ran.returncode:
        raise Failed(
            f"the packages cannot be installed: {(ran.stderr.strip().splitlines() or ['uv said nothing'])[-1]}"
        )


class _Parts(RawIOBase):
    """A stream that cuts what is written to it into files."""

    def __init__(self, folder: Path, release: str) -> None:
        self._folder, self._release = folder, release
        self._waiting = bytearray()
        self.found: list[Path] = []

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Buffer, /) -> int:
        """Keep some bytes, and write each part that is full."""
        size = len(memoryview(data))
        self._waiting += memoryview(data)
        while len(self._waiting) >= _PART:
            self._put(self._waiting[:_PART])
            del self._waiting[:_PART]
        return size

    def finish(self) -> list[Path]:
        """Write the last part, and return all."""
        self._put(self._waiting)
        return self.found

    def _put(self, content: bytearray) -> None:
        path = self._folder / f"{self._release}.tar.xz.{len(self.found):02}"
        path.write_bytes(content)
        self.found.append(path)
