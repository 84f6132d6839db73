"""What the reproducer does to its process is not held against what runs after it."""

import os
import signal

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, right

_UPSET: list[str] = []


def upset() -> Seen:
    """Is its process of no more use?"""
    _UPSET.append("upset")
    return Seen("wrong", "2 + 2 is 5")


def only_when_calm() -> None:
    """Works where nothing went before."""
    if _UPSET:
        raise RuntimeError("upset")


def crash_unless_calm() -> None:
    """Works where nothing went before, and ends the process elsewhere."""
    if _UPSET:
        os.kill(os.getpid(), signal.SIGSEGV)


def still_calm() -> Seen:
    """Is a case of its own process?"""
    return Seen("wrong", "upset") if _UPSET else right()


ISSUE = issue(
    __name__,
    "It upsets others",
    case("workaround", upset, expected="wrong", workaround=only_when_calm),
    case("workaround-that-crashes", upset, expected="wrong", workaround=crash_unless_calm),
    case("control", upset, expected="wrong", control=only_when_calm),
    case("next-case", still_calm),
)
