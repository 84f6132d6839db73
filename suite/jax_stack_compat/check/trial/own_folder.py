"""Folders for environments of one run: another run never has the same folder, and killed runs leave none for long."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def own_folder(parent: Path) -> Iterator[Path]:
    """Yield the path of a new folder, and remove the folder at the end. Raises OSError."""
    parent.mkdir(parents=True, exist_ok=True)
    _sweep(parent)
    with tempfile.NamedTemporaryFile("w", prefix="run-", suffix=".lock", dir=parent, delete=False) as lock:
        # The system releases the lock, however this process ends.
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield Path(lock.name).with_suffix("")
        finally:
            _remove(lock)


def _sweep(parent: Path) -> None:
    """Remove the folders of runs that were killed."""
    for path in parent.glob("run-*.lock"):
        with suppress(OSError), path.open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(lock)


def _remove(lock: IO[str]) -> None:
    path = Path(lock.name)
    shutil.rmtree(path.with_suffix(""), ignore_errors=True)
    path.unlink(missing_ok=True)
