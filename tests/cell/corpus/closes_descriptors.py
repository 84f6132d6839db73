"""It closes what is not its own."""

import os
import sys

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, right, sleep_long


def close_all() -> Seen:
    """Is one that cannot answer any more taken for well?"""
    os.closerange(0, 4096)
    return right()


def close_all_and_hang() -> Seen:
    """Is one that nobody hears from still limited?"""
    os.closerange(0, 4096)
    sleep_long()
    return right()


def close_streams() -> Seen:
    """Is one without an output still heard?"""
    sys.stdout.close()
    sys.stderr.close()
    return right()


ISSUE = issue(
    __name__,
    "It closes every descriptor",
    case("all", close_all),
    case("all-and-hangs", close_all_and_hang, seconds=0.4),
    case("streams", close_streams),
)
