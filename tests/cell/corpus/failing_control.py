"""The control fails: nothing that the reproducer says is to be believed."""

import os
import signal

from tests.cell.corpus import Seen, case, fails, issue, right


def by_raising() -> Seen:
    """Is it right, as far as it knows?"""
    return right()


def killed() -> None:
    """Does not come back."""
    os.kill(os.getpid(), signal.SIGSEGV)


ISSUE = issue(case(by_raising, control=fails), case(by_raising, "by_crashing", control=killed))
