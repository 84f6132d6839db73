"""Every part of it leaves word that it has been run."""

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, right, tally


def reproducer() -> Seen:
    """Is it run just once?"""
    tally("reproducer")
    return right()


def workaround() -> None:
    """Works."""
    tally("workaround")


def control() -> None:
    """Works."""
    tally("control")


ISSUE = issue(
    __name__,
    "It keeps a tally",
    case("forked", reproducer, workaround=workaround, control=control),
    case("apart", reproducer, workaround=workaround, control=control, isolation="fork-and-exit"),
    case("in-interpreter", reproducer, workaround=workaround, control=control, isolation="interpreter"),
    case("without-workaround", reproducer, control=control),
)
