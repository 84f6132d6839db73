"""It takes more memory than it may."""

import os
import time

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, note, sleep_long

_LIMIT_MIB = 150


def _eat() -> None:
    # Not for ever: twice the limit is enough to be caught, and does a machine no harm.
    taken = [b"\x01" * 2**20 for _ in range(2 * _LIMIT_MIB)]
    sleep_long()
    del taken


def eat() -> Seen:
    """Does it take more than it may?"""
    _eat()
    return Seen("right")


def child_eats() -> Seen:
    """Does a child of it take more than it may?"""
    if (pid := os.fork()) == 0:
        _eat()
        os._exit(0)
    os.waitpid(pid, 0)
    return Seen("right")


def daemon_eats() -> Seen:
    """Does what it has cast off take more than it may?"""
    if (pid := os.fork()) == 0:
        if os.fork() == 0:
            note(os.getpid())
            _eat()
        os._exit(0)
    os.waitpid(pid, 0)
    time.sleep(2)
    return Seen("right")


ISSUE = issue(
    __name__,
    "It eats memory",
    case("itself", eat, memory_mib=_LIMIT_MIB),
    case("child", child_eats, memory_mib=_LIMIT_MIB),
    case("daemon", daemon_eats, memory_mib=_LIMIT_MIB),
)
