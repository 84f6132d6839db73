"""It prints without end."""

import os
import time

from suite.issue import Seen
from tests.corpus import case, issue, leave

_BLOCK = b"x" * 65536


def _flood() -> None:
    while True:
        os.write(1, _BLOCK)


def flood() -> Seen:
    """Does it stop printing?"""
    _flood()
    return Seen("right")


def strays_flood() -> Seen:
    """Do processes that it leaves behind begin to print once it is gone?"""
    mine = os.getpid()

    def wait_and_flood() -> None:
        while os.getppid() == mine:
            time.sleep(0)
        _flood()

    for _ in range(4):
        leave(wait_and_flood)
    return Seen("right", "2 + 2 is 4")


ISSUE = issue(__name__, "It floods its output", case("itself", flood), case("strays", strays_flood))
