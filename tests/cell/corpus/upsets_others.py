"""The reproducer spoils its process, and the parts that run after it are not blamed; or the control fails anyhow."""

import os
import signal

from tests.cell.corpus import Seen, case, fails, issue, right, wrong

_UPSET: list[str] = []


def control() -> Seen:
    """Is its process of no more use?"""
    _UPSET.append("upset")
    return wrong()


def only_when_calm() -> None:
    """Works where nothing went before."""
    if _UPSET:
        raise RuntimeError("upset")


def crash_unless_calm() -> None:
    """Works where nothing went before, and ends the process elsewhere."""
    if _UPSET:
        os.kill(os.getpid(), signal.SIGSEGV)


def next_case() -> Seen:
    """Is a case of its own process?"""
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
