"""Ends the process that runs it, or tries to."""

from __future__ import annotations

import os
import signal

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, right


def kills_parent() -> Seen:
    """What becomes of the cases after one that kills its parent?"""
    os.kill(os.getppid(), signal.SIGKILL)
    return right()


ISSUE = issue(case(kills_parent), case(right, "sorted-after"))
