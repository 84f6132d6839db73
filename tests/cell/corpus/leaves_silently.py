"""It ends without an answer, as if all were well or not."""

import os

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, well


def leave_well() -> Seen:
    """Is exit status 0 taken for an answer?"""
    os._exit(0)


def leave_badly() -> Seen:
    """Is exit status 3 told?"""
    os._exit(3)


ISSUE = issue(
    __name__,
    "It leaves without a word",
    case("status-0", leave_well, workaround=well),
    case("status-0-in-interpreter", leave_well, isolation="interpreter"),
    case("status-3", leave_badly, workaround=well),
)
