"""The documented symptom is there."""

import ctypes

from laboratory.cell.corpus import Seen, case, fails, issue, well, wrong


def plain() -> Seen:
    """Is 2 + 2 still 5?"""
    return wrong()


def crash() -> None:
    """Does not help at all."""
    ctypes.string_at(0)


ISSUE = issue(
    case(plain, expected="wrong"),
    case(plain, "regressed"),
    case(plain, "nothing_known", expected=""),
    case(plain, "workaround_holds", expected="wrong", workaround=well),
    case(plain, "workaround_fails", expected="wrong", workaround=fails),
    case(plain, "workaround_crashes", expected="wrong", workaround=crash),
)
