"""Nothing is wrong."""

from suite.cell.issue import Seen
from tests.cell.corpus import case, fails, issue, right, well


def plain() -> Seen:
    """Is 2 + 2 still 4?"""
    return right()


ISSUE = issue(
    case(plain),
    case(plain, "workaround_fails", workaround=fails),
    case(plain, "in_interpreter", isolation="interpreter", workaround=well),
)
