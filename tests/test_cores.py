"""Tests of work that is split over cores."""

from __future__ import annotations

from tests.processes import printed

# Not here: pytest's workers have threads.
SCRIPT = """
import os, sys, threading
from suite.cores import over_cores

here = os.getpid()

def where(share):
    if share == "not there" and os.getpid() != here:
        raise ValueError(share)
    if share == "killed" and os.getpid() != here:
        os._exit(1)
    return share, os.getpid() == here

if sys.argv[1] == "threads":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print(over_cores(where, sys.argv[2:]))
"""


def split(*words: str) -> str:
    """What comes of shares in a process without threads, or with some."""
    return printed("-W", "error", "-c", SCRIPT, *words).strip()


def test_the_first_share_is_done_here() -> None:
    """Each other share is done in a process of its own, and the results keep their order."""
    assert str([("a", True), ("b", False), ("c", False)]) == split("alone", "a", "b", "c")


def test_a_share_without_a_result_is_done_here() -> None:
    """A process that raises or ends costs time alone."""
    assert str([("a", True), ("not there", True), ("killed", True)]) == split("alone", "a", "not there", "killed")


def test_nothing_is_forked_beside_threads() -> None:
    """A fork would have the locks of other threads."""
    assert str([("a", True), ("b", True)]) == split("threads", "a", "b")
