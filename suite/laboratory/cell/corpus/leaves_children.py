"""It starts processes that would outlive it."""

import ctypes
import os

from laboratory.cell.corpus import Seen, case, issue, leave, note, right, sleep_long, sleep_stubbornly


def sleeper() -> Seen:
    """Is there a sleeper left that holds its output open?"""
    leave(sleep_long)
    return right()


def stubborn() -> Seen:
    """Is a process left that has its own session and ignores SIGTERM?"""
    leave(sleep_stubbornly)
    return right()


def daemon() -> Seen:
    """Is a process left whose parent ended first, as for a daemon?"""
    if (pid := os.fork()) == 0:
        leave(sleep_stubbornly)
        os._exit(0)
    os.waitpid(pid, 0)
    return right()


def crashed() -> Seen:
    """Are there any left by one that crashed?"""
    leave(sleep_stubbornly)
    ctypes.string_at(0)
    return right()


def hung() -> Seen:
    """Are there any left by one that hangs?"""
    leave(sleep_stubbornly)
    note(os.getpid())
    sleep_long()
    return right()


ISSUE = issue(
    case(sleeper),
    case(stubborn),
    case(daemon),
    case(stubborn, "of_interpreter", isolation="interpreter"),
    case(crashed),
    case(hung, expected="hung", seconds=0.4),
    case(hung, "lingers", seconds=50),
)
