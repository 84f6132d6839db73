"""The answer is good, and then the interpreter does not get out alive."""

import atexit
import os
import signal

from laboratory.cell.corpus import Seen, case, issue, right, sleep_long, well


def crashes() -> Seen:
    """Is there a crash after the answer?"""
    atexit.register(os.kill, os.getpid(), signal.SIGSEGV)
    return right()


def hangs() -> Seen:
    """Does it answer and not end?"""
    atexit.register(sleep_long)
    return right()


def bad_status() -> Seen:
    """Does it answer and end with a bad status?"""
    atexit.register(os._exit, 7)
    return right()


ISSUE = issue(
    case(crashes, isolation="fork-and-exit", expected="crashed", workaround=well),
    case(crashes, "in_interpreter", isolation="interpreter", workaround=well),
    case(crashes, "in_fork"),
    case(hangs, isolation="fork-and-exit", expected="hung", seconds=0.4),
    case(bad_status, isolation="fork-and-exit"),
)
