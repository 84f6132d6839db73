"""Puts another clock in the place of the real one."""

from __future__ import annotations

import time

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, right


def no_number() -> Seen:
    """Is a duration a number where a case has replaced the clock?"""
    time.monotonic = time.perf_counter = time.time = lambda: float("nan")
    return right()


ISSUE = issue(case(no_number))
