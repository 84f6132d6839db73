"""Upstream refuses."""

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, well


def refused() -> Seen:
    """Is it refused?"""
    return Seen("refused", "TypeError: not with me")


ISSUE = issue(__name__, "It is refused", case("plain", refused, expected="refused", workaround=well))
