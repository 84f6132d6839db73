"""Cases that close file descriptors of the probe."""

import os
import sys

from laboratory.cell.corpus import Seen, case, issue, right, sleep_long


def everything() -> Seen:
    """Does a case that cannot answer any more count as clear?"""
    os.closerange(0, 4096)
    return right()


def everything_and_hangs() -> Seen:
    """Does the time limit still apply to a case without a pipe?"""
    os.closerange(0, 4096)
    sleep_long()
    return right()


def streams() -> Seen:
    """Does a case without standard output still report?"""
    sys.stdout.close()
    sys.stderr.close()
    return right()


ISSUE = issue(case(everything), case(everything_and_hangs, expected="hung", seconds=0.4), case(streams))
