"""Estimates of the disk space that environments take, and the command that frees it.

uv unpacks a wheel once, into the store, and links its files into each environment: as clones if the file system has
clones, else as hard links. So a wheel takes space once, however many environments contain it, and environments work
without the store. If the file system has neither kind of link, uv copies files.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from stat import S_ISDIR

from filelock import Timeout

from suite.errors import Failed
from suite.run import environment
from suite.stack import lock, plan, uv_call
from suite.stack.lock import Lock
from suite.stack.plan import Cell

# Bytes on disk for each byte of a wheel. Measured on ext4 with uv 0.13.8: the 87 wheels of eight cells, from jax 0.4.18
# to 0.12.0.1 on CPython 3.12 and 3.13, are 1019 MB and unpack to 3753 MB. scipy has 3.3, numpy 3.6, jaxlib 3.8 (3.6 to
# 4.2 by release), and the small packages 4 to 5.
UNPACKED = 3.7
# Bytes of an environment that no other environment shares: mostly __pycache__, then folders and uv's metadata. Measured
# on 14 environments in which jax, equinox and diffrax had been imported: 13 to 19 MB, and 26 MB with numpyro.
OWN = 16_000_000


@dataclass(frozen=True)
class Freed:
    """The space that `clean` freed. `kept` are the cells whose environments are in use."""

    bytes: int
    environments: int
    kept: tuple[str, ...]


def estimate(needed: Sequence[tuple[Cell, Lock]]) -> int:
    """Return the approximate bytes of disk that the missing environments will take. Raises BadFile.

    A wheel counts once, and not at all if a finished environment has it. The wheels of one pin differ between Pythons.
    """
    missing = [(cell, pinned) for cell, pinned in needed if environment.ready(cell, pinned) is None]
    if not missing:
        return 0
    wanted = {wheel: pin for _, pinned in missing for wheel, pin in pinned.wheels.items()}
    for pinned in _installed():
        for wheel in pinned.wheels:
            wanted.pop(wheel, None)
    sizes = lock.sizes()
    return round(UNPACKED * sum(sizes.get(pin, 0) for pin in wanted.values())) + OWN * len(missing)


def _installed() -> Iterator[Lock]:
    """Yield the locks of the planned cells whose environments are finished. Raises BadFile."""
    for cell in plan.cells():
        # Reading hundreds of locks takes half a second.
        if (environment.ENVIRONMENTS / cell.id).exists() and environment.ready(cell, pinned := lock.load(cell)):
            yield pinned


def clean() -> Freed:
    """Remove the environments and the store of packages, nothing else. Raises Failed, OSError.

    An environment stays while another run has its cell reserved. The environment works without the store, since its
    files are links or copies. uv waits for a running installation.
    """
    before = _taken()
    removed, kept = 0, []
    for folder in list(_environments()):
        try:
            with environment.reserve(folder.name).acquire(timeout=0):
                # Without its marker, a half-removed environment is made again.
                (folder / environment.MARKER).unlink(missing_ok=True)
                _remove(folder)
        except Timeout:
            kept.append(folder.name)
        else:
            removed += 1
    # uv marks its caches with this file.
    if (uv_call.STORE / "CACHEDIR.TAG").exists() and (run := uv_call.run("cache", "clean")).returncode:
        raise Failed(f"cannot clear {uv_call.STORE}: {run.stderr.strip()}")
    return Freed(max(before - _taken(), 0), removed, tuple(kept))


def _environments() -> Iterator[Path]:
    """Yield the folders of environments, finished or not. SUITE_STATE may contain other folders of the user."""
    names = {path.parent.name for path in environment.ENVIRONMENTS.glob(f"*/{environment.MARKER}")}
    names |= {path.stem for path in environment.ENVIRONMENTS.glob("*.reserved")}
    for folder in (environment.ENVIRONMENTS / name for name in sorted(names)):
        if folder.is_dir() and not folder.is_symlink():
            yield folder


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except OSError as error:
        # Before Python 3.13 the error names a file without its folder.
        raise OSError(error.errno, error.strerror, str(folder)) from error


def _taken() -> int:
    """Return the bytes of disk that only the environments and the store take.

    A file with several hard links counts once, and not at all if a link is elsewhere. Clones count in full, since
    `stat` does not say what they share.
    """
    seen: dict[tuple[int, int], tuple[os.stat_result, int]] = {}
    for place, names, files in chain(os.walk(environment.ENVIRONMENTS), os.walk(uv_call.STORE)):
        for name in (*names, *files):
            # Another run may remove files at the same time.
            with suppress(FileNotFoundError):
                stat = os.lstat(os.path.join(place, name))  # noqa: PTH118 - there are 300,000
                inode = stat.st_dev, stat.st_ino
                seen[inode] = stat, seen.get(inode, (stat, 0))[1] + 1
    # On Linux and macOS, st_blocks counts units of 512 bytes, whatever the file system's block size is.
    return sum(512 * stat.st_blocks for stat, links in seen.values() if S_ISDIR(stat.st_mode) or links >= stat.st_nlink)


def shown(size: float) -> str:
    """Return a number of bytes for people: `19.1 GB`, `496 MB`."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"
