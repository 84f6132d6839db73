"""It never ends."""

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, sleep_long, well


def hang() -> Seen:
    """Does it come back?"""
    sleep_long()
    return Seen("right")


ISSUE = issue(
    __name__,
    "It hangs",
    case("plain", hang, seconds=0.4, workaround=well),
    case("documented", hang, expected="hung", documented={"hung": "affected"}, seconds=0.4, workaround=well),
    case("long", hang, isolation="interpreter", seconds=50),
)
