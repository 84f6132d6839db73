"""It does something else each time."""

from suite.cell.issue import Seen
from tests.cell.corpus import case, folder, issue


def _turn(case_id: str) -> int:
    """Count the calls of a case, across processes."""
    with (folder() / f"turns-of-{case_id}").open("a+") as stream:
        stream.write("x")
        return stream.tell()


def alternates() -> Seen:
    """Is it the same twice?"""
    return "wrong" if _turn("alternates") % 2 else "refused", "heads or tails"


ISSUE = issue(case(alternates))
