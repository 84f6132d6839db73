"""It prints without end."""

import os
import select

from laboratory.cell.corpus import Seen, case, issue, leave, right

_BLOCK = b"x" * 65536


def _flood() -> None:
    while True:
        os.write(1, _BLOCK)


def itself() -> Seen:
    """Does it stop printing?"""
    _flood()
    return right()


def strays() -> Seen:
    """Do processes that it leaves behind print slightly too much?"""
    listen, hold = os.pipe()

    def wait_and_flood() -> None:
        os.close(hold)
        while not select.select([listen], [], [], 0)[0]:
            pass
        _flood()

    for _ in range(3):
        leave(wait_and_flood)
    for _ in range(511):
        os.write(1, _BLOCK)
    return right()


# It depends on chance whether these processes print too much in time.
ISSUE = issue(case(itself), case(strays, expected=""))
