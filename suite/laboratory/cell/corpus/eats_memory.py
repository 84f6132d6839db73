"""It takes more memory than it may."""

import os
import time

from laboratory.cell.corpus import Seen, case, issue, note, right, sleep_long

_LIMIT_MIB = 100


def _eat() -> None:
    # Not for ever: twice the limit is enough to be caught, and does a machine no harm.
    taken = [b"\x01" * 2**20 for _ in range(2 * _LIMIT_MIB)]
    sleep_long()
    del taken


def itself() -> Seen:
    """Does it take more than it may?"""
    _eat()
    return right()


def child() -> Seen:
    """Does a child of it take more than it may?"""
    if (pid := os.fork()) == 0:
        _eat()
        os._exit(0)
    os.waitpid(pid, 0)
    return right()


def daemon() -> Seen:
    """Do processes that it has detached take more than they may?"""
    if (pid := os.fork()) == 0:
        if os.fork() == 0:
            note(os.getpid())
            _eat()
        os._exit(0)
    os.waitpid(pid, 0)
    time.sleep(2)
    return right()


ISSUE = issue(*(case(each, memory_mib=_LIMIT_MIB) for each in (itself, child, daemon)))
