"""Fails because of the machine, and says so in the system's words."""

from __future__ import annotations

import errno
import os

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue


def disk_full() -> Seen:
    """Is a full disk upstream's fault?"""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere")


def memory_gone() -> Seen:
    """Is a machine without memory?"""
    raise MemoryError


ISSUE = issue(case(disk_full), case(memory_gone))
