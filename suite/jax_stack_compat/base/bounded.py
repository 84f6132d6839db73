"""Reads of a whole file or pipe, with a limit on bytes and on seconds."""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from contextlib import suppress
from pathlib import Path

STDIN = Path("-")
_MIB = 2**20
_PIECE = 65536
# Seconds to wait for the writer of a pipe, who usually starts at once.
_NOBODY_S = 5.0


def regular(path: Path, most: int) -> bytes:
    """Return the bytes of the file at `path`. Raises OSError, for a pipe without waiting."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if not _is_file(os.fstat(descriptor).st_mode):
            raise OSError("it is a pipe or a device: save its output in a file, and name the file")
        return _read(descriptor, most)
    finally:
        os.close(descriptor)


def given(path: Path, most: int, patience: float | None) -> bytes:
    """Return the bytes of a user's input: a file, a pipe, or `-` for standard input. Raises OSError.

    A pipe is read until its writer closes it, for `patience` seconds at most.
    """
    # Standard input may be a socket, which cannot be opened again.
    descriptor = os.dup(0) if path == STDIN else os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
            return _drained(descriptor, most, patience)
        if not _is_file(kind):
            raise OSError("it is a terminal or a device: name a file, or pipe something into it")
        return _read(descriptor, most)
    finally:
        os.close(descriptor)


def _is_file(kind: int) -> bool:
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return stat.S_ISREG(kind)


def _read(descriptor: int, most: int) -> bytes:
    _hold(os.fstat(descriptor).st_size, most)
    with os.fdopen(os.dup(descriptor), "rb", buffering=0) as stream:
        return stream.read()


def _drained(descriptor: int, most: int, patience: float | None) -> bytes:
    end = None if patience is None else time.monotonic() + patience
    found = bytearray()
    # Standard input is blocking, and ends when its last writer closes it.
    if not _is_ready(descriptor, _NOBODY_S) and not os.get_blocking(descriptor):
        with suppress(BlockingIOError):  # a writer has the pipe open, but has not written yet
            found += os.read(descriptor, 1)
            if not found:
                raise OSError(f"it is a pipe, and nobody wrote into it for {_NOBODY_S:.0f} s")
    while True:
        if not _is_ready(descriptor, None if end is None else max(0.0, end - time.monotonic())):
            raise OSError(f"it is a pipe, and did not end within {patience:.0f} s: write to a file, and name the file")
        piece = os.read(descriptor, _PIECE)
        if not piece:
            return bytes(found)
        found += piece
        _hold(len(found), most)


def _is_ready(descriptor: int, patience: float | None) -> bool:
    return bool(select.select([descriptor], [], [], patience)[0])


def _hold(size: int, most: int) -> None:
    if size > most:
        raise OSError(f"it is larger than {most // _MIB} MiB: name a smaller file")
