"""Cases with real faults of machines, users and issues: none may count as upstream's fault."""

import contextlib
import errno
import os
import signal
import sys
import sysconfig
import time
from pathlib import Path

from jax_stack_compat.cell.issue import Seen
from laboratory.cell.corpus import case, issue, leave, right

MANY, MIB = 24, 64


def leaves_a_module() -> Seen:
    """Does a module that a case wrote replace the real one?"""
    for name in ("sitecustomize", "json"):
        Path(f"{name}.py").write_text("raise SystemExit('not the real one')\n", encoding="utf-8")
    return right()


def looks_around() -> Seen:
    """Is the folder that a part works in empty, and nowhere on the path?"""
    left, path = list(Path.cwd().iterdir()), [each for each in sys.path if not each or Path(each) == Path.cwd()]
    return ("right" if not left and not path else "wrong"), f"{left} {path}"


def in_shared_memory() -> Seen:
    """Is memory that forks share with their parent counted once? Counted once for each, it would exceed the limit."""
    held = bytearray(os.urandom(1024) * 1024 * MIB)
    for _ in range(MANY):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
    time.sleep(0.5)
    return "right", f"{len(held)} bytes"


def no_number() -> Seen:
    """Is the duration a number if a case replaces the clock?"""
    time.monotonic = time.perf_counter = time.time = lambda: float("nan")
    return right()


def lone_surrogate() -> Seen:
    """Is an answer with half a surrogate pair kept?"""
    return "right", "half \ud800, \x00"


def raises_it() -> Seen:
    """Is an exception kept if its message has half a surrogate pair?"""
    raise ValueError("half \udcff")


def kills_parent() -> Seen:
    """What becomes of the cases after one that kills its parent?"""
    os.kill(os.getppid(), signal.SIGKILL)
    return right()


def writes_on() -> Seen:
    """Is a folder cleared if another process still writes into it?"""

    def write() -> None:
        os.setsid()
        for number in range(1_000_000):
            with contextlib.suppress(OSError):
                Path(f"file-{number}").write_bytes(b"x" * 4096)

    leave(write)
    with contextlib.suppress(OSError):
        os.kill(os.getppid(), signal.SIGKILL)
    return right()


def adds_a_file() -> Seen:
    """Does what a case writes beside the packages stay there?"""
    Path(sysconfig.get_paths()["purelib"], "left_behind.py").write_text("", encoding="utf-8")
    return right()


def shares_memory() -> Seen:
    """Is there anything that a case before this one has left in shared memory?"""
    left = Path("/dev/shm/left-behind-by-a-case")
    seen = left.exists()
    left.write_bytes(b"x")
    return ("wrong" if seen else "right"), str(left)


def disk_full() -> Seen:
    """Is a full disk upstream's fault?"""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere")


def memory_gone() -> Seen:
    """Is a machine without memory?"""
    raise MemoryError


ISSUE = issue(
    *(case(leaves_a_module), case(looks_around), case(looks_around, "looks-afresh", isolation="interpreter")),
    *(case(in_shared_memory, memory_mib=768), case(no_number), case(lone_surrogate), case(raises_it)),
    *(case(kills_parent), case(writes_on), case(right, "sorted-after")),
    *(case(adds_a_file), case(shares_memory), case(shares_memory, "shares-again")),
    *(case(disk_full), case(memory_gone)),
)
