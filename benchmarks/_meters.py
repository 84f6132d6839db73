"""Meters of a process's work: calls in Python, and machine instructions by callgrind.

A meter counts only inside `with`. This module does not import the stack, so its test needs only Python.
"""

import ctypes
import functools
import mmap
import os
import platform
import re
import sys
from pathlib import Path

# The variable with the path where callgrind writes its counts.
OUT = "SUITE_CALLGRIND_OUT"

# The machine code of a "client request" (valgrind.h): a function from a request's address to valgrind's answer. Without
# valgrind, these instructions do nothing.
_REQUEST = {"x86_64": "4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3"}
_RUNNING = 0x1001
_CALLGRIND = (ord("C") << 24) + (ord("T") << 16)
_DUMP, _START = _CALLGRIND, _CALLGRIND + 4


@functools.cache
def _asker():
    """Return the function that sends requests to valgrind; None on an unknown machine."""
    code = _REQUEST.get(platform.machine())
    if code is None:
        return None
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex(code))
    asker = ctypes.CFUNCTYPE(ctypes.c_ulong, ctypes.c_void_p)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    asker.page = page
    return asker


def _ask(request):
    asker, asked = _asker(), (ctypes.c_ulong * 6)(request)
    return asker(ctypes.addressof(asked)) if asker else 0


def under_callgrind():
    """Return True if callgrind runs this process."""
    return bool(_ask(_RUNNING))


def start():
    """Start callgrind's counting, if it waits for a start (`--instr-atstart=no`)."""
    _ask(_START)


class Calls:
    """A meter of calls."""

    def __init__(self):
        self.total = 0

    def __enter__(self):
        sys.setprofile(self._on_event)

    def __exit__(self, *_):
        sys.setprofile(None)
        # The call of this method, and its call of `setprofile`.
        self.total -= 2

    def _on_event(self, frame, event, what):
        if event in ("call", "c_call"):
            self.total += 1


class Instructions:
    """A meter of instructions: before and after, callgrind writes its count and starts again from zero."""

    dumps = 0

    def __init__(self):
        self.total = 0

    def __enter__(self):
        _ask(_DUMP)

    def __exit__(self, *_):
        _ask(_DUMP)
        self._written()
        self.total += self._written()

    def _written(self):
        Instructions.dumps += 1
        dump = Path(f"{os.environ[OUT]}.{os.getpid()}.{Instructions.dumps}")
        # With --separate-threads=yes the name ends with the number of the thread; Python's is the first.
        path = dump if dump.exists() else dump.with_name(f"{dump.name}-01")
        total = re.search(r"^totals: (\d+)", path.read_text(encoding="utf-8"), re.M)
        path.unlink()
        return int(total.group(1))


def own_instructions():
    """Return the meter's own instructions, counted on an empty block. The first count differs, so take the second."""
    for _ in range(2):
        meter = Instructions()
        with meter:
            pass
    return meter.total
