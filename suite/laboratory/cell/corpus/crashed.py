"""A signal ends it."""

import ctypes
import os
import signal

from laboratory.cell.corpus import Seen, case, issue, right, well


def segfault() -> Seen:
    """Does it read at address 0?"""
    ctypes.string_at(0)
    return right()


def abort() -> Seen:
    """Does it give up on itself?"""
    os.abort()


def nameless_signal() -> Seen:
    """Does a signal without a name end it?"""
    os.kill(os.getpid(), signal.SIGRTMIN + 3)
    return right()


def killed() -> Seen:
    """Does SIGKILL end it, as from a kernel without memory?"""
    os.kill(os.getpid(), signal.SIGKILL)
    return right()


ISSUE = issue(
    case(segfault, workaround=well),
    case(segfault, "documented", expected="crashed", workaround=well),
    case(segfault, "in_interpreter", isolation="interpreter", workaround=well),
    case(abort),
    case(nameless_signal),
    case(killed, expected="crashed"),
)
