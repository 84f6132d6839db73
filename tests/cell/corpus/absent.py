"""The feature is not there."""

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, well


def missing() -> Seen:
    """Is there such a thing at all?"""
    return Seen("missing", "there is no such thing")


ISSUE = issue(__name__, "It does not exist", case("plain", missing, expected="missing", workaround=well))
