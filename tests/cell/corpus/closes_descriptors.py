"""It closes what is not its own."""

import os
import sys

from tests.cell.corpus import Seen, case, issue, right, sleep_long


def everything() -> Seen:
    """Is one that cannot answer any more taken for well?"""
    os.closerange(0, 4096)
    return right()


def everything_and_hangs() -> Seen:
    """Is one that nobody hears from still limited?"""
    os.closerange(0, 4096)
    sleep_long()
    return right()


def streams() -> Seen:
    """Is one without an output still heard?"""
    sys.stdout.close()
    sys.stderr.close()
    return right()


ISSUE = issue(case(everything), case(everything_and_hangs, expected="hung", seconds=0.4), case(streams))
