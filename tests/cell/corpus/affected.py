"""The documented symptom is there."""

import ctypes

from suite.cell.issue import Seen
from tests.cell.corpus import case, fails, issue, well


def wrong() -> Seen:
    """Is 2 + 2 still 5?"""
    return Seen("wrong", "2 + 2 is 5")


def crash() -> None:
    """Does not help at all."""
    ctypes.string_at(0)


ISSUE = issue(
    __name__,
    "It is wrong",
    case("plain", wrong, expected="wrong"),
    case("regressed", wrong),
    case("nothing-known", wrong, expected=""),
    case("workaround-holds", wrong, expected="wrong", workaround=well),
    case("workaround-fails", wrong, expected="wrong", workaround=fails),
    case("workaround-crashes", wrong, expected="wrong", workaround=crash),
)
