"""The control fails: nothing that the reproducer says is to be believed."""

import os
import signal

from suite.cell.issue import Seen
from tests.cell.corpus import case, fails, issue, right


def wrong() -> Seen:
    """Is it wrong?"""
    return Seen("wrong", "2 + 2 is 5")


def killed() -> None:
    """Does not come back."""
    os.kill(os.getpid(), signal.SIGSEGV)


ISSUE = issue(
    __name__,
    "The control fails",
    case("where-right", right, control=fails),
    case("where-affected", wrong, expected="wrong", control=fails),
    case("by-crashing", right, control=killed),
)
