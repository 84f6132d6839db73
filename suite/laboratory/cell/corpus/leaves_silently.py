"""Cases that end without an answer, with any exit status."""

import os

from laboratory.cell.corpus import Seen, case, issue, well


def status_0() -> Seen:
    """Is exit status 0 taken for an answer?"""
    os._exit(0)


def status_3() -> Seen:
    """Is exit status 3 told?"""
    os._exit(3)


ISSUE = issue(
    case(status_0, workaround=well), case(status_0, "in_interpreter", isolation="interpreter"), case(status_3)
)
