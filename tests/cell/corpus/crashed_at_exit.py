"""The answer is good, and then the interpreter does not get out alive."""

import atexit
import os
import signal

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, sleep_long, well


def crash_at_exit() -> Seen:
    """Is there a crash after the answer?"""
    atexit.register(os.kill, os.getpid(), signal.SIGSEGV)
    return Seen("right", "2 + 2 is 4")


def hang_at_exit() -> Seen:
    """Does it answer and not end?"""
    atexit.register(sleep_long)
    return Seen("right", "2 + 2 is 4")


def fail_at_exit() -> Seen:
    """Does it answer and end with a bad status?"""
    atexit.register(os._exit, 7)
    return Seen("right", "2 + 2 is 4")


ISSUE = issue(
    __name__,
    "It dies on its way out",
    case("fork-and-exit", crash_at_exit, isolation="fork-and-exit", workaround=well),
    case("interpreter", crash_at_exit, isolation="interpreter", workaround=well),
    case("fork", crash_at_exit),
    case(
        "documented",
        crash_at_exit,
        isolation="fork-and-exit",
        expected="crashed",
        documented={"crashed": "affected"},
    ),
    case("hangs", hang_at_exit, isolation="fork-and-exit", seconds=0.4),
    case("bad-status", fail_at_exit, isolation="fork-and-exit"),
)
