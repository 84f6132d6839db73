"""A signal ends it."""

import ctypes
import os
import signal

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, well


def segfault() -> Seen:
    """Does it read at address 0?"""
    ctypes.string_at(0)
    return Seen("right")


def abort() -> Seen:
    """Does it give up on itself?"""
    os.abort()


def real_time() -> Seen:
    """Does a signal end it that has no name?"""
    os.kill(os.getpid(), signal.SIGRTMIN + 3)
    return Seen("right")


def killed() -> Seen:
    """Does what no program does to itself, and a kernel short of memory does, end it?"""
    os.kill(os.getpid(), signal.SIGKILL)
    return Seen("right")


ISSUE = issue(
    __name__,
    "It dies on a signal",
    case("segfault", segfault, workaround=well),
    case("segfault-documented", segfault, expected="crashed", documented={"crashed": "affected"}, workaround=well),
    case("segfault-in-interpreter", segfault, isolation="interpreter", workaround=well),
    case("nothing-known", segfault, expected=""),
    case("abort", abort),
    case("killed", killed),
    case("killed-where-crashes-are-documented", killed, expected="crashed", documented={"crashed": "affected"}),
    case("nameless-signal", real_time),
)
