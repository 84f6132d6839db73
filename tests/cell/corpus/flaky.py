"""It does something else each time."""

from suite.cell.issue import Seen
from tests.cell.corpus import case, folder, issue


def _turn(case_id: str) -> int:
    """Count the calls of a case, across processes."""
    with (folder() / f"turns-of-{case_id}").open("a+") as stream:
        stream.write("x")
        return stream.tell()


def alternate() -> Seen:
    """Is it the same twice?"""
    return Seen("wrong" if _turn("alternates") % 2 else "refused", "heads or tails")


def recover() -> Seen:
    """Is it right from the second time on?"""
    return Seen("wrong" if _turn("recovers") == 1 else "right", "a cold start")


ISSUE = issue(__name__, "It is flaky", case("alternates", alternate), case("recovers", recover))
