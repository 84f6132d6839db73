"""Reproducers that damage their process, so that later parts fail without fault; or controls that really fail."""

import os
import signal

from laboratory.cell.corpus import Seen, case, fails, issue, right, wrong

_UPSET: list[str] = []


def control() -> Seen:
    """Is its process damaged?"""
    _UPSET.append("upset")
    return wrong()


def only_when_calm() -> None:
    """Works only in a fresh process."""
    if _UPSET:
        raise RuntimeError("upset")


def crash_unless_calm() -> None:
    """Works only in a fresh process, and ends any other."""
    if _UPSET:
        os.kill(os.getpid(), signal.SIGSEGV)


def next_case() -> Seen:
    """Does it run in its own process?"""
    return wrong() if _UPSET else right()


def killed() -> None:
    """Does not come back."""
    os.kill(os.getpid(), signal.SIGSEGV)


ISSUE = issue(
    case(control, expected="wrong", control=only_when_calm),
    case(control, "workaround", expected="wrong", workaround=only_when_calm),
    case(control, "workaround_that_crashes", expected="wrong", workaround=crash_unless_calm),
    case(next_case),
    case(next_case, "by_raising", control=fails),
    case(next_case, "by_crashing", control=killed),
)
