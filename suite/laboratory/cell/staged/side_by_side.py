"""Cases that notice each other if they run at the same time."""

import os
import signal
import time

from jax_stack_compat.cell.issue import Seen
from laboratory.cell.corpus import case, folder, issue, note, right, sleep_long, wrong
from laboratory.cell.corpus.waits import for_word
from laboratory.cell.staged.faults import adds_a_file

# Longer than another probe needs to start, and shorter than any time limit.
PATIENCE = 8.0


def meets(mine: str, other: str) -> Seen:
    """Does another case run at the same time?"""
    (folder() / mine).touch()
    until = time.monotonic() + PATIENCE
    while not (folder() / other).exists():
        if time.monotonic() > until:
            return wrong()
        time.sleep(0.01)
    return right()


def one() -> Seen:
    """Does the other run at the same time?"""
    return meets("one", "other")


def other() -> Seen:
    """Does the one run at the same time?"""
    return meets("other", "one")


def only_at_first() -> Seen:
    """Is it wrong the first time?"""
    first = not (folder() / "again").exists()
    (folder() / "again").touch()
    return wrong() if first else right()


def crashes() -> Seen:
    """Does it crash, as it is known to?"""
    os.kill(os.getpid(), signal.SIGSEGV)
    return right()


def takes_a_moment() -> Seen:
    """When does it begin, and when does it end?"""
    note(f"begins {time.monotonic()}", "moments")
    time.sleep(0.3)
    note(f"ends {time.monotonic()}", "moments")
    return right()


def adds_a_file_then() -> Seen:
    """Is a file that a case writes beside the packages removed while another case waits?"""
    while not (folder() / "pids").exists():
        time.sleep(0.01)
    return adds_a_file()


def lingers() -> Seen:
    """Does nobody end it?"""
    note(os.getpid())
    sleep_long()
    return right()


ISSUE = issue(
    case(one),
    case(other),
    case(only_at_first),
    case(crashes, expected="crashed"),
    case(takes_a_moment),
    case(takes_a_moment, "takes_another"),
    case(for_word, "waits_or_goes_on"),
    case(adds_a_file_then),
    case(lingers),
    case(lingers, "lingers_too"),
)
